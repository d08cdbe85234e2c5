//! Paths, operands and function calls before placeholders are substituted; only their syntax is checked.

use super::super::lexer::TokenKind;
use super::cursor::Cursor;
use crate::error::Error;
use crate::error::expression::{ExpressionKind, Flaw};
use crate::limits::EXPRESSION_OPERATORS_MAX;

#[derive(Debug)]
pub(crate) enum WrittenOperand<'t> {
    Path(WrittenPath<'t>),
    /// `:value`
    Value(&'t str),
    Call(WrittenCall<'t>),
}

/// A document path with at least one element; the first is a word or a `#name`.
#[derive(Debug)]
pub(crate) struct WrittenPath<'t> {
    pub(crate) elements: Vec<WrittenElement<'t>>,
}

/// One step of a path.
#[derive(Debug)]
pub(crate) enum WrittenElement<'t> {
    Word(&'t str),
    /// `#name`
    Name(&'t str),
    /// Digits of a list index, not yet parsed.
    Index(&'t str),
}

#[derive(Debug)]
pub(crate) struct WrittenCall<'t> {
    pub(crate) name: &'t str,
    pub(crate) operands: Vec<WrittenOperand<'t>>,
}

pub(crate) fn path<'t>(cursor: &mut Cursor<'t>) -> Result<WrittenPath<'t>, Error> {
    let first = path_name(cursor)?;
    let mut path = WrittenPath { elements: vec![first] };
    path_steps(cursor, &mut path)?;
    Ok(path)
}

/// Parses the steps after the first element of a path.
fn path_steps<'t>(cursor: &mut Cursor<'t>, path: &mut WrittenPath<'t>) -> Result<(), Error> {
    loop {
        if cursor.take(TokenKind::Dot).is_some() {
            path.elements.push(path_name(cursor)?);
        } else if cursor.take(TokenKind::OpenIndex).is_some() {
            let index = cursor.expect(TokenKind::Number)?;
            cursor.expect(TokenKind::CloseIndex)?;
            path.elements.push(WrittenElement::Index(index.text));
        } else {
            return Ok(());
        }
    }
}

fn path_name<'t>(cursor: &mut Cursor<'t>) -> Result<WrittenElement<'t>, Error> {
    match cursor.peek() {
        Some(token) if token.kind == TokenKind::Name => {
            cursor.advance();
            Ok(WrittenElement::Name(token.text))
        }
        Some(token) if token.kind == TokenKind::Word => {
            cursor.advance();
            Ok(WrittenElement::Word(token.text))
        }
        _ => Err(cursor.syntax_error()),
    }
}

/// Parses a path, a value or a call without enclosing parentheses.
pub(crate) fn operand<'t>(cursor: &mut Cursor<'t>) -> Result<WrittenOperand<'t>, Error> {
    match cursor.peek_kind() {
        Some(TokenKind::Value) => {
            let token = cursor.expect(TokenKind::Value)?;
            Ok(WrittenOperand::Value(token.text))
        }
        Some(TokenKind::Word) if cursor.peek_second_kind() == Some(TokenKind::Open) => {
            call(cursor).map(WrittenOperand::Call)
        }
        _ => path(cursor).map(WrittenOperand::Path),
    }
}

/// Parses a function name and its operands in parentheses.
fn call<'t>(cursor: &mut Cursor<'t>) -> Result<WrittenCall<'t>, Error> {
    cursor.count_function();
    let name = cursor.expect(TokenKind::Word)?.text;
    cursor.expect(TokenKind::Open)?;
    let operands = cursor.nested(|| too_deep(name), operand_list)?;
    cursor.expect(TokenKind::Close)?;
    Ok(WrittenCall { name, operands })
}

/// Returns the flaw of too deeply nested functions: unknown functions are reported as such,
/// known ones as too many operators.
fn too_deep(name: &str) -> Flaw {
    match name {
        "attribute_exists"
        | "attribute_not_exists"
        | "attribute_type"
        | "begins_with"
        | "contains"
        | "size"
        | "if_not_exists"
        | "list_append" => Flaw::TooManyOperators(EXPRESSION_OPERATORS_MAX + 1),
        _ => Flaw::UnknownFunction(name.to_owned()),
    }
}

/// Parses operands separated by commas.
pub(crate) fn operand_list<'t>(cursor: &mut Cursor<'t>) -> Result<Vec<WrittenOperand<'t>>, Error> {
    let mut operands = vec![operand_in_parentheses(cursor)?];
    while cursor.take(TokenKind::Comma).is_some() {
        operands.push(operand_in_parentheses(cursor)?);
    }
    Ok(operands)
}

/// Parses an operand with or without enclosing parentheses.
pub(crate) fn operand_in_parentheses<'t>(cursor: &mut Cursor<'t>) -> Result<WrittenOperand<'t>, Error> {
    if cursor.take(TokenKind::Open).is_none() {
        return operand(cursor);
    }
    cursor.redundant_parentheses |= cursor.peek_kind() == Some(TokenKind::Open);
    let mut inner = cursor.nested(|| Flaw::RedundantParentheses, operand_in_parentheses)?;
    cursor.expect(TokenKind::Close)?;
    if let WrittenOperand::Path(path) = &mut inner {
        path_steps_after_parenthesis(cursor, path)?;
    }
    Ok(inner)
}

/// Parses the steps after a path in parentheses, `(a.b).c`, which are allowed in conditions but not in updates.
pub(crate) fn path_steps_after_parenthesis<'t>(
    cursor: &mut Cursor<'t>,
    path: &mut WrittenPath<'t>,
) -> Result<(), Error> {
    if cursor.kind == ExpressionKind::Update { Ok(()) } else { path_steps(cursor, path) }
}
