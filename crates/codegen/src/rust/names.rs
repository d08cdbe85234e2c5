//! Converts names of a model to Rust identifiers: case, keywords, and uniqueness within a scope.

use std::collections::BTreeSet;

/// Keywords that can be written as raw identifiers.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Keywords that cannot.
const UNUSABLE: [&str; 3] = ["crate", "self", "super"];

/// Names of the standard library that the generated code uses without a path.
pub(super) const PRELUDE: [&str; 11] =
    ["Box", "Err", "None", "Ok", "Option", "Result", "Self", "Some", "String", "Vec", "Sized"];

/// Identifiers of one scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope(BTreeSet<String>);

impl Scope {
    /// Creates a scope with reserved names.
    pub(super) fn with(names: &[&str]) -> Self {
        Self(names.iter().map(|&name| name.to_owned()).collect())
    }

    /// Reserves a name; if it is taken, appends the suffix, and then a number.
    pub(super) fn take(&mut self, wanted: &str, suffix: &str) -> String {
        let plain = wanted.strip_prefix("r#").unwrap_or(wanted);
        let numbered = (2..).map(|number| format!("{plain}{suffix}{number}"));
        let candidates = [wanted.to_owned(), format!("{plain}{suffix}")].into_iter().chain(numbered);
        // The iterator is infinite, so `find` always succeeds.
        let free = candidates.into_iter().find(|name| !self.0.contains(name)).unwrap_or_default();
        self.0.insert(free.clone());
        free
    }
}

/// Converts a name to the case of variables, fields and functions: `userId` becomes `user_id`.
pub(super) fn snake(name: &str) -> String {
    let words: Vec<String> = words(name).iter().map(|word| word.to_lowercase()).collect();
    let joined = words.join("_");
    match joined.chars().next() {
        None => "unnamed".to_owned(),
        Some(first) if !unicode_ident::is_xid_start(first) => format!("_{joined}"),
        Some(_) if UNUSABLE.contains(&joined.as_str()) => format!("{joined}_"),
        Some(_) if KEYWORDS.contains(&joined.as_str()) => format!("r#{joined}"),
        Some(_) => joined,
    }
}

/// Converts a name to the case of types and variants: `userId` becomes `UserId`. The result may be `Self`, which every
/// scope of types reserves.
pub(super) fn pascal(name: &str) -> String {
    let words = words(name);
    let shouted = words.len() > 1;
    let joined: String = words.iter().map(|word| capital(word, shouted)).collect();
    match joined.chars().next() {
        None => "Unnamed".to_owned(),
        Some(first) if !unicode_ident::is_xid_start(first) => format!("N{joined}"),
        Some(_) => joined,
    }
}

/// Capitalises a word. Among several words, one in all capitals is lower-cased.
fn capital(word: &str, shouted: bool) -> String {
    let mut letters = word.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let rest = letters.as_str();
    let shouts = shouted && rest.chars().all(|letter| !letter.is_lowercase());
    if shouts { format!("{first}{}", rest.to_lowercase()) } else { format!("{first}{rest}") }
}

/// Splits a name into words: at characters that cannot be part of an identifier, before an upper-case letter after
/// another character, and before the last of several upper-case letters.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        if letter == '_' || !unicode_ident::is_xid_continue(letter) {
            words.push(std::mem::take(&mut word));
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(at + 1);
        let rises = before.is_some_and(|before| !before.is_uppercase());
        let last_of_several =
            before.is_some_and(|before| before.is_uppercase()) && after.is_some_and(|after| after.is_lowercase());
        if letter.is_uppercase() && (rises || last_of_several) {
            words.push(std::mem::take(&mut word));
        }
        word.push(letter);
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the English plural.
pub(super) fn plural(name: &str) -> String {
    let plain = name.strip_prefix("r#").unwrap_or(name);
    let vowel = |letter: char| "aeiou".contains(letter);
    match plain.strip_suffix('y') {
        Some(stem) if !stem.ends_with(vowel) => format!("{stem}ies"),
        _ if ["s", "x", "z", "ch", "sh"].iter().any(|end| plain.ends_with(end)) => format!("{plain}es"),
        _ => format!("{plain}s"),
    }
}

/// Returns the result of serde's `rename_all = "camelCase"` for a field.
pub(super) fn serde_camel(field: &str) -> String {
    let plain = field.strip_prefix("r#").unwrap_or(field);
    let mut camel = String::new();
    let mut raise = false;
    for letter in plain.chars() {
        match letter {
            '_' => raise = true,
            letter if raise && !camel.is_empty() => {
                camel.extend(letter.to_uppercase());
                raise = false;
            }
            letter => {
                camel.push(letter);
                raise = false;
            }
        }
    }
    camel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_take_the_case_of_rust() {
        let check = |name: &str, small: &str, large: &str| {
            assert_eq!((snake(name).as_str(), pascal(name).as_str()), (small, large), "{name}");
        };
        check("userId", "user_id", "UserId");
        check("user_id", "user_id", "UserId");
        check("HTTPServer", "http_server", "HttpServer");
        check("bodyS3Key", "body_s3_key", "BodyS3Key");
        check("GSI1", "gsi1", "GSI1");
        check("type", "r#type", "Type");
        check("self", "self_", "Self");
        check("by-status", "by_status", "ByStatus");
        check("2fa", "_2fa", "N2fa");
        check("", "unnamed", "Unnamed");
        check("größe", "größe", "Größe");
        check("+", "unnamed", "Unnamed");
    }

    #[test]
    fn no_two_names_of_a_place_are_alike() {
        let mut scope = Scope::with(&["Option"]);
        assert_eq!(scope.take("User", "Entity"), "User");
        assert_eq!(scope.take("User", "Entity"), "UserEntity");
        assert_eq!(scope.take("User", "Entity"), "UserEntity2");
        assert_eq!(scope.take("Option", "Entity"), "OptionEntity");
    }
}
