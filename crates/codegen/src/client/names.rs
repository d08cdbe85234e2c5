//! Builds valid and unique identifiers in the conventions of a language.

use std::collections::BTreeSet;

/// Splits a name into words: at characters other than letters and digits, and between a lower-case and an upper-case
/// letter.
pub(crate) fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| letters.get(before));
        let after = letters.get(at + 1);
        if !is_letter(letter) {
            words.push(String::new());
            continue;
        }
        if begins_word(before.copied(), letter, after.copied()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(letter);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns whether a character is a letter or digit, except circled letters, which no language accepts.
fn is_letter(letter: char) -> bool {
    let is_circled = matches!(letter, '\u{24B6}'..='\u{24E9}' | '\u{1F130}'..='\u{1F189}');
    letter.is_ascii_digit() || letter.is_alphabetic() && !is_circled
}

/// Returns whether an upper-case letter starts a word: after a lower-case letter or digit, or as the last of several,
/// as in `userId` and `HTTPServer`.
fn begins_word(before: Option<char>, letter: char, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    let is_hump = letter.is_uppercase() && (before.is_lowercase() || before.is_numeric());
    let is_last = letter.is_uppercase() && before.is_uppercase() && after.is_some_and(char::is_lowercase);
    is_hump || is_last
}

/// Converts to `UserId`.
pub(crate) fn pascal(name: &str) -> String {
    identifier(words(name).iter().map(|word| capitalized(word)).collect())
}

/// Converts to `userId`.
pub(crate) fn camel(name: &str) -> String {
    let words = words(name);
    let word = |(number, word): (usize, &String)| match number {
        0 if !word.chars().any(char::is_lowercase) => word.to_lowercase(),
        0 => uncapitalized(word),
        _ => capitalized(word),
    };
    identifier(words.iter().enumerate().map(word).collect())
}

/// Converts to `user_id`.
pub(crate) fn snake(name: &str) -> String {
    identifier(words(name).iter().map(|word| word.to_lowercase()).collect::<Vec<_>>().join("_"))
}

/// Makes the name start with a letter or underscore.
fn identifier(text: String) -> String {
    match text.chars().next() {
        None => "unnamed".to_owned(),
        Some(first) if first.is_alphabetic() => text,
        Some(_) => format!("_{text}"),
    }
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

fn uncapitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// Returns the English plural.
pub(crate) fn plural(name: &str) -> String {
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    match name.strip_suffix('y') {
        Some(stem) if !ends(&["ay", "ey", "oy", "uy"]) => format!("{stem}ies"),
        _ if ends(&["s", "x", "z", "ch", "sh"]) => format!("{name}es"),
        _ => format!("{name}s"),
    }
}

/// Identifiers of one scope.
#[derive(Default)]
pub(crate) struct Names(BTreeSet<String>);

impl Names {
    /// Creates a scope with reserved names.
    pub(crate) fn without(reserved: &[&str]) -> Self {
        Self(reserved.iter().map(|&name| name.to_owned()).collect())
    }

    /// Reserves a name, with as many `_` appended as needed to make it unique.
    pub(crate) fn take(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.0.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    /// Returns whether a name is reserved.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// Renames the words of a text that conflict with names of the model: `Page` becomes `KeyformPage`.
pub(crate) fn renamed(text: &str, own: &[&str], taken: &Names) -> String {
    let mut renamed = text.to_owned();
    for name in own.iter().filter(|name| taken.has(name)) {
        renamed = replaced(&renamed, name, &format!("Keyform{name}"));
    }
    renamed
}

fn replaced(text: &str, word: &str, with: &str) -> String {
    let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        out.push_str(before);
        let inside = is_part(out.chars().next_back()) || is_part(after.chars().next());
        out.push_str(if inside { word } else { with });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_each_language_does() {
        let check = |name: &str, expected: [&str; 3]| {
            assert_eq!([pascal(name), camel(name), snake(name)], expected.map(str::to_owned), "{name}");
        };
        check("userId", ["UserId", "userId", "user_id"]);
        check("GSI1", ["GSI1", "gsi1", "gsi1"]);
        check("HTTPServer", ["HTTPServer", "httpServer", "http_server"]);
        check("by-status", ["ByStatus", "byStatus", "by_status"]);
        check("2fa", ["_2fa", "_2fa", "_2fa"]);
        check("größe", ["Größe", "größe", "größe"]);
        check("✓", ["unnamed", "unnamed", "unnamed"]);
        check("__proto__", ["Proto", "proto", "proto"]);
    }

    #[test]
    fn a_name_is_given_once() {
        let mut names = Names::without(&["class"]);
        assert_eq!(names.take("class"), "class_");
        assert_eq!(names.take("page"), "page");
        assert_eq!(names.take("page"), "page_");
    }

    #[test]
    fn words_that_are_taken_are_replaced_whole() {
        let taken = Names::without(&["Page"]);
        assert_eq!(renamed("Page<T>, Pages<T>, aPage", &["Page", "Json"], &taken), "KeyformPage<T>, Pages<T>, aPage");
    }

    #[test]
    fn several_of_a_thing() {
        assert_eq!(["category", "key", "box", "user"].map(plural), ["categories", "keys", "boxes", "users"]);
    }
}
