//! Variables in the names of tables: `orders-{stage}` is text, the variable `stage`, and so on.

use std::collections::BTreeMap;

use keyform_language::bind;
use keyform_language::schema::{Model, Table};

/// A piece of a table's name.
pub(super) enum Piece {
    /// Text as it is.
    Text(String),
    /// A variable that has no value yet.
    Variable(String),
}

/// The name of a table in the store; variables with values are replaced.
pub(super) fn pieces(table: &Table, variables: &BTreeMap<String, String>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let name = bind::table_name(table, variables);
    let mut rest = name.as_str();
    while let Some((before, (variable, after))) =
        rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
    {
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        pieces.push(Piece::Variable(variable.to_owned()));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    pieces
}

/// The variables without a value, each once, in the order of the file.
pub(super) fn open(model: &Model, variables: &BTreeMap<String, String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for piece in model.tables.iter().flat_map(|table| pieces(table, variables)) {
        match piece {
            Piece::Variable(name) if !found.contains(&name) => found.push(name),
            _ => {}
        }
    }
    found
}

/// A name with each piece written in a language of its own.
pub(super) fn written(pieces: &[Piece], variable: impl Fn(&str) -> String) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Variable(name) => variable(name),
    };
    pieces.iter().map(piece).collect()
}

/// A name of letters and digits only, each word with a capital: `by-status` is `ByStatus`.
pub(super) fn camel(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + rest
    };
    words.map(capital).collect()
}

/// A name of small letters, digits and `_`: `ByStatus` is `by_status`.
pub(super) fn snake(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        match letter {
            letter if letter.is_ascii_uppercase() => {
                if !out.is_empty() && !out.ends_with('_') {
                    out.push('_');
                }
                out.push(letter.to_ascii_lowercase());
            }
            letter if letter.is_ascii_alphanumeric() => out.push(letter),
            _ => out.push('_'),
        }
    }
    if out.starts_with(|first: char| first.is_ascii_digit()) { format!("t_{out}") } else { out }
}
