//! Parses document paths and converts them to [`Path`]s.

use keyform_core::Error;
use keyform_core::error::partiql::{self, malformed};
use keyform_core::expression::{Path, PathElement};

use super::cursor::Cursor;
use super::expression::expression;
use super::syntax::{ExprKind, PathStep, WrittenPath};
use super::token::{Token, TokenKind, TokenPosition};

/// Parses a path that starts with a name.
pub(super) fn simple(cursor: &mut Cursor) -> Result<WrittenPath, Error> {
    match cursor.peek() {
        Some(Token { kind: TokenKind::Name(name) | TokenKind::Quoted(name), place }) => {
            let (name, place) = (name.clone(), *place);
            cursor.next();
            rest(cursor, name, place)
        }
        _ => Err(malformed("Expected identifier for simple path")),
    }
}

/// Parses the steps after the first name.
pub(super) fn rest(cursor: &mut Cursor, root: String, place: TokenPosition) -> Result<WrittenPath, Error> {
    let mut steps = Vec::new();
    loop {
        if cursor.eat_symbol(".") {
            steps.push(dot_step(cursor)?);
        } else if cursor.eat_symbol("[") {
            steps.push(bracket_step(cursor)?);
        } else {
            return Ok(WrittenPath { root, steps, place });
        }
    }
}

fn dot_step(cursor: &mut Cursor) -> Result<PathStep, Error> {
    match cursor.next() {
        Some(Token { kind: TokenKind::Name(name) | TokenKind::Quoted(name), .. }) => Ok(PathStep::Name(name)),
        Some(Token { kind: TokenKind::Symbol("*"), place }) => Ok(PathStep::Every(place)),
        _ => Err(malformed("Invalid path dot component")),
    }
}

fn bracket_step(cursor: &mut Cursor) -> Result<PathStep, Error> {
    let step = match cursor.peek() {
        Some(Token { kind: TokenKind::Symbol("*"), place }) => {
            let place = *place;
            cursor.next();
            PathStep::Every(place)
        }
        _ => PathStep::Bracket(cursor.nested(expression)?),
    };
    cursor.expect_symbol("]", "Expected RIGHT_BRACKET")?;
    Ok(step)
}

/// Converts a parsed path.
///
/// # Errors
/// Returns an error if a name is empty, or a step is neither a name nor a list index.
pub(super) fn resolve(path: &WrittenPath) -> Result<Path, Error> {
    let mut elements = vec![PathElement::Attribute(name(&path.root)?)];
    for step in &path.steps {
        elements.push(element(step)?);
    }
    Ok(Path { elements })
}

fn element(step: &PathStep) -> Result<PathElement, Error> {
    match step {
        PathStep::Name(text) => name(text).map(PathElement::Attribute),
        PathStep::Every(place) => Err(partiql::unexpected_path_component(place)),
        PathStep::Bracket(inner) => match &inner.kind {
            ExprKind::Text(text) => name(text).map(PathElement::Attribute),
            ExprKind::Number(number) => {
                number.parse().map(PathElement::Index).map_err(|_| partiql::unexpected_path_component(inner.place))
            }
            _ => Err(partiql::unexpected_path_component(inner.place)),
        },
    }
}

fn name(text: &str) -> Result<String, Error> {
    if text.is_empty() { Err(partiql::empty_path_component()) } else { Ok(text.to_owned()) }
}
