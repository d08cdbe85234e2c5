//! Formats a model as text; every model has exactly one format.
//!
//! Columns are aligned within a group of lines, and lines longer than `WIDTH` columns are broken at natural points of
//! the grammar. Every comment stays with its line. Formatting is idempotent, and parsing the result gives the same
//! tree.
//!
//! 1. `row`: lines with aligned columns and their comments.
//! 2. `word`: names, strings, numbers with units.
//! 3. `types` and `expression`.
//! 4. `table`, `entity`, `read`, [`write`], `change`: the declarations.

mod change;
mod entity;
mod expression;
mod read;
mod row;
mod table;
mod types;
mod word;
mod write;

use std::mem::discriminant;

use super::ast::{Declaration, DeclarationKind, Document, Notes};
use row::Row;

/// Maximum line width in columns, where a line can be broken.
const WIDTH: usize = 100;

/// Formats a model.
///
/// ```
/// use keyform_language::document::{parse, print};
///
/// let (document, _) = parse("model chat shape Stamped { createdAt: timestamp created by:ulid }");
/// let text = "model chat\n\nshape Stamped {\n  createdAt: timestamp created\n  by:        ulid\n}\n";
/// assert_eq!(print(&document), text);
/// ```
#[must_use]
pub fn print(document: &Document) -> String {
    let notes: Vec<Notes> = spaced(&document.declarations);
    let rows = document.declarations.iter().zip(&notes).map(|(line, notes)| declaration(line, notes)).collect();
    let mut text = String::new();
    for line in row::lines(rows, &document.tail) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Returns the notes of each declaration, with an empty line where the kind of declaration changes or one has braces.
fn spaced(declarations: &[Declaration]) -> Vec<Notes> {
    let mut previous: Option<&DeclarationKind> = None;
    let mut all = Vec::new();
    for line in declarations {
        let apart = previous.is_some_and(|previous| {
            discriminant(previous) != discriminant(&line.value) || has_braces(previous) || has_braces(&line.value)
        });
        all.push(Notes { gap: line.notes.gap || apart, ..line.notes.clone() });
        previous = Some(&line.value);
    }
    all
}

fn has_braces(kind: &DeclarationKind) -> bool {
    match kind {
        DeclarationKind::Table(_)
        | DeclarationKind::Shape(_)
        | DeclarationKind::Entity(_)
        | DeclarationKind::Write(_)
        | DeclarationKind::Evolve(_) => true,
        DeclarationKind::Model(_)
        | DeclarationKind::Caller(_)
        | DeclarationKind::Guard(_)
        | DeclarationKind::Read(_)
        | DeclarationKind::On(_)
        | DeclarationKind::Allow(_) => false,
    }
}

fn declaration<'a>(line: &'a Declaration, notes: &'a Notes) -> Row<'a> {
    match &line.value {
        DeclarationKind::Model(name) => Row::plain(notes, vec![format!("model {}", word::name(name))]),
        DeclarationKind::Caller(fields) => Row::plain(notes, types::caller(fields)),
        DeclarationKind::Table(value) => Row::block(notes, table::table(value)),
        DeclarationKind::Shape(value) => Row::block(notes, entity::shape(value)),
        DeclarationKind::Entity(value) => Row::block(notes, entity::entity(value)),
        DeclarationKind::Guard(value) => Row::plain(notes, read::guard(value)),
        DeclarationKind::Read(value) => read::read(value, notes),
        DeclarationKind::Write(value) => Row::block(notes, write::write(value)),
        DeclarationKind::On(value) => change::on(value, notes),
        DeclarationKind::Evolve(value) => Row::block(notes, change::evolve(value)),
        DeclarationKind::Allow(value) => Row::plain(notes, vec![word::allow(value)]),
    }
}
