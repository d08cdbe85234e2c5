//! Variables in table names: `orders-{stage}` is a literal followed by the variable `stage`.

use std::collections::BTreeMap;

use keyform_language::bind;
use keyform_language::schema::{Model, Table};

/// Part of a table name.
pub(super) enum Piece {
    Text(String),
    /// Variable without a value.
    Variable(String),
}

/// Splits the name of a table in the store. Variables with values are replaced.
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

/// Returns the distinct variables without a value, in declaration order.
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

/// Joins the parts of a name; `variable` formats a variable in the target language.
pub(super) fn written(pieces: &[Piece], variable: impl Fn(&str) -> String) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Variable(name) => variable(name),
    };
    pieces.iter().map(piece).collect()
}

/// Converts a name to letters and digits in upper camel case: `by-status` becomes `ByStatus`.
pub(super) fn camel(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + rest
    };
    words.map(capital).collect()
}

/// Converts a name to lower-case letters, digits and `_`: `ByStatus` becomes `by_status`.
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
