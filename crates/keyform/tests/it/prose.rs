//! Keeps the worst words out of comments, messages, models and pages.
//!
//! The words read as translated or archaic, and each has a plain replacement: report, no user, any process, this number,
//! and so on. Code is not prose: identifiers, inline code, code blocks and the strings of tests may use any word.

use std::fs;
use std::path::{Path, PathBuf};

/// Phrases that must not occur, in lower case.
const WORST: [&str; 9] =
    ["told", "borne", "nobody", "somebody", "whoever", "is none", "so many", "the like", "of which there"];

/// File and phrase that are allowed, with the reason in a comment.
const ALLOWED: [(&str, &str); 2] = [
    // Prints the operator of the model language.
    ("crates/language/src/document/print/expression.rs", "is none"),
    // Tests conditions with that operator.
    ("crates/language/src/bind/certain.rs", "is none"),
];

/// Folders and pages to scan. `fuzz` has only generated input, and `clients` has code of other languages.
const ROOTS: [&str; 9] =
    ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench", "crates", "docs", "examples", "systems", "tools"];

fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if !path.is_dir() {
        found.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).expect("a folder can be listed") {
        let path = entry.expect("a folder can be listed").path();
        if !path.ends_with("target") && !path.ends_with("node_modules") {
            files(&path, found);
        }
    }
}

/// Returns the prose of a file with its line numbers; empty for files of other kinds.
fn prose(path: &Path, text: &str) -> Vec<(usize, String)> {
    let is_test = path.components().any(|part| part.as_os_str() == "tests");
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => rust_prose(text, !is_test),
        Some("md") => page_prose(text),
        Some("kf") => {
            numbered(text).filter_map(|(line, text)| Some((line, text.split_once("//")?.1.to_owned()))).collect()
        }
        Some("script") => {
            numbered(text).filter_map(|(line, text)| Some((line, text.strip_prefix('#')?.to_owned()))).collect()
        }
        _ => Vec::new(),
    }
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// Returns the lines of a page outside code blocks.
fn page_prose(text: &str) -> Vec<(usize, String)> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for (number, line) in numbered(text) {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            lines.push((number, line.to_owned()));
        }
    }
    lines
}

/// Returns the comments and, if wanted, the strings of Rust code. Strings lose their `{…}` placeholders, which hold
/// code.
fn rust_prose(text: &str, with_strings: bool) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_string = false;
    for (number, line) in numbered(text) {
        let mut rest = line;
        let mut prose = String::new();
        while let Some(at) = rest.find(['"', '/', '\'', '\\']) {
            let (before, after) = (&rest[..at], &rest[at..]);
            if in_string && with_strings {
                prose.push_str(before);
            }
            let taken = match after.as_bytes() {
                [b'\\', ..] if in_string => 1 + after[1..].chars().next().map_or(0, char::len_utf8),
                [b'"', ..] => {
                    in_string = !in_string;
                    prose.push(' ');
                    1
                }
                [b'/', b'/', ..] if !in_string => {
                    prose.push_str(after);
                    after.len()
                }
                [b'\'', b'"', b'\'', ..] if !in_string => 3,
                [b'\'', b'\\', _, b'\'', ..] if !in_string => 4,
                _ => {
                    if in_string && with_strings {
                        prose.push_str(&after[..1]);
                    }
                    1
                }
            };
            rest = &after[taken..];
        }
        if in_string && with_strings {
            prose.push_str(rest);
        }
        found.push((number, without(&prose, '{', '}')));
    }
    found
}

/// Removes the parts between two characters.
fn without(text: &str, open: char, close: char) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        let Some((_, after)) = after.split_once(close) else { break };
        out.push_str(before);
        rest = after;
    }
    out + rest
}

/// Returns whether the text contains a phrase as whole words, also with a capital at its beginning.
fn contains(text: &str, phrase: &str) -> bool {
    let capital = phrase[..1].to_uppercase() + &phrase[1..];
    [phrase, &capital].iter().any(|phrase| {
        text.match_indices(*phrase).any(|(at, _)| {
            let is_word = |character: Option<char>| character.is_some_and(|it| it.is_alphanumeric() || it == '_');
            !is_word(text[..at].chars().next_back()) && !is_word(text[at + phrase.len()..].chars().next())
        })
    })
}

#[test]
fn no_text_has_the_worst_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    ROOTS.iter().for_each(|name| files(&root.join(name), &mut all));
    let mut wrong = Vec::new();
    for path in all {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let name = path.strip_prefix(&root).expect("files are below the root").to_string_lossy().into_owned();
        for (line, prose) in prose(&path, &text) {
            let prose = without(&prose, '`', '`');
            let found = WORST.iter().filter(|phrase| contains(&prose, phrase));
            let found = found.filter(|phrase| !ALLOWED.contains(&(name.as_str(), **phrase)));
            wrong.extend(found.map(|phrase| format!("{name}:{line}: \"{phrase}\" in: {}", prose.trim())));
        }
    }
    assert!(wrong.is_empty(), "write these in plain English:\n{}", wrong.join("\n"));
}

#[test]
fn prose_is_comments_and_messages_but_not_code() {
    let check = |code: &str, expected: bool| {
        let found =
            prose(Path::new("src/a.rs"), code).iter().any(|(_, text)| contains(&without(text, '`', '`'), "told"));
        assert_eq!(found, expected, "{code}");
    };
    check("let told = 1;", false);
    check("// It is told.", true);
    check("/// Returns `told`.", false);
    check("f(\"the owner was told: {error}\")", true);
    check("f(\"{told}\")", false);
    check("f('\"', told, \"x\")", false);
    check("f(\"a \\\" b\", told)", false);
    check("f(\"untold\")", false);
}
