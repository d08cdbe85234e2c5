//! Names of Rust made of names of a model: cases, keywords, and no two alike in one place.

use std::collections::BTreeSet;

/// Words that Rust keeps for itself and that can be written raw.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Those that cannot.
const UNUSABLE: [&str; 3] = ["crate", "self", "super"];

/// Names of the standard library that the printed code uses without a path.
pub(super) const PRELUDE: [&str; 11] =
    ["Box", "Err", "None", "Ok", "Option", "Result", "Self", "Some", "String", "Vec", "Sized"];

/// The names that are taken in one place.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope(BTreeSet<String>);

impl Scope {
    /// A place where these are taken already.
    pub(super) fn with(names: &[&str]) -> Self {
        Self(names.iter().map(|&name| name.to_owned()).collect())
    }

    /// The wanted name; if it is taken with the suffix, and if that is taken too with a number.
    pub(super) fn take(&mut self, wanted: &str, suffix: &str) -> String {
        let plain = wanted.strip_prefix("r#").unwrap_or(wanted);
        let numbered = (2..).map(|number| format!("{plain}{suffix}{number}"));
        let candidates = [wanted.to_owned(), format!("{plain}{suffix}")].into_iter().chain(numbered);
        // The list of candidates has no end.
        let free = candidates.into_iter().find(|name| !self.0.contains(name)).unwrap_or_default();
        self.0.insert(free.clone());
        free
    }
}

/// A name as a variable, field or function has it: `user_id` of `userId`.
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

/// A name as a type or variant has it: `UserId` of `userId`. `Self` may come of it, which every place of types has taken.
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

/// A word with a capital; one that shouts among others is put in lower case.
fn capital(word: &str, shouted: bool) -> String {
    let mut letters = word.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let rest = letters.as_str();
    let shouts = shouted && rest.chars().all(|letter| !letter.is_lowercase());
    if shouts { format!("{first}{}", rest.to_lowercase()) } else { format!("{first}{rest}") }
}

/// The words of a name: cut at whatever is no letter or digit, before a capital after a small letter or a digit, and before the last
/// capital of several.
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

/// More than one of them.
pub(super) fn plural(name: &str) -> String {
    let plain = name.strip_prefix("r#").unwrap_or(name);
    let vowel = |letter: char| "aeiou".contains(letter);
    match plain.strip_suffix('y') {
        Some(stem) if !stem.ends_with(vowel) => format!("{stem}ies"),
        _ if ["s", "x", "z", "ch", "sh"].iter().any(|end| plain.ends_with(end)) => format!("{plain}es"),
        _ => format!("{plain}s"),
    }
}

/// What serde's `rename_all = "camelCase"` makes of a field.
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
