//! Grammar and validation of updates.
//!
//! ```text
//! update     = (SET assignment ("," assignment)* | REMOVE path ("," path)* | ADD change ("," change)* | DELETE change …)+
//! assignment = path "=" sum
//! sum        = operand (("+" | "-") operand)? | "(" sum ")"
//! change     = path :value
//! operand    = path | :value | function "(" operand ("," operand)* ")" | "(" operand ")"
//! ```

use super::super::ast::{Path, SetAction, SetValue, Update, UpdateOperand};
use super::super::lexer::TokenKind;
use super::super::substitution::Substitutions;
use super::condition::unreported;
use super::cursor::Cursor;
use super::overlap;
use super::resolve::{Rank, Resolver, all};
use super::written::{self, WrittenCall, WrittenOperand, WrittenPath};
use crate::error::Error;
use crate::error::expression::{ExpressionKind, Flaw};
use crate::value::{AttributeType, Value};

/// Parses an update.
///
/// # Errors
/// Returns an error if the text is not a valid update, two of its paths overlap, or a placeholder is undefined.
pub fn parse_update(text: &str, substitutions: &mut Substitutions) -> Result<Update, Error> {
    let kind = ExpressionKind::Update;
    let mut cursor = Cursor::new(text, kind)?;
    let mut actions = Vec::new();
    let mut sections = Vec::new();
    while sections.is_empty() || cursor.peek().is_some() {
        let section = Section::read(&mut cursor)?;
        sections.push(section);
        section.actions(&mut cursor, &mut actions)?;
    }
    cursor.end()?;
    let mut resolver = Resolver::new(substitutions);
    check_sections(&sections, &mut resolver);
    let update = resolve(&actions, &mut resolver);
    resolver.flaws.check(kind)?;
    update.ok_or_else(|| unreported(kind))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Set,
    Remove,
    Add,
    Delete,
}

impl Section {
    const ALL: [Self; 4] = [Self::Set, Self::Remove, Self::Add, Self::Delete];

    fn keyword(self) -> &'static str {
        match self {
            Self::Set => "SET",
            Self::Remove => "REMOVE",
            Self::Add => "ADD",
            Self::Delete => "DELETE",
        }
    }

    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|section| cursor.take_keyword(section.keyword()));
        found.ok_or_else(|| cursor.syntax_error())
    }

    fn actions<'t>(self, cursor: &mut Cursor<'t>, actions: &mut Vec<WrittenAction<'t>>) -> Result<(), Error> {
        actions.push(self.action(cursor)?);
        while cursor.take(TokenKind::Comma).is_some() {
            actions.push(self.action(cursor)?);
        }
        Ok(())
    }

    fn action<'t>(self, cursor: &mut Cursor<'t>) -> Result<WrittenAction<'t>, Error> {
        let path = written::path(cursor)?;
        Ok(match self {
            Self::Set => {
                cursor.expect(TokenKind::Comparator(super::super::ast::Comparator::Equal))?;
                WrittenAction::Set(path, sum(cursor)?)
            }
            Self::Remove => WrittenAction::Remove(path),
            Self::Add => WrittenAction::Add(path, cursor.expect(TokenKind::Value)?.text),
            Self::Delete => WrittenAction::Delete(path, cursor.expect(TokenKind::Value)?.text),
        })
    }
}

/// One action before placeholders are substituted.
enum WrittenAction<'t> {
    Set(WrittenPath<'t>, WrittenSum<'t>),
    Remove(WrittenPath<'t>),
    Add(WrittenPath<'t>, &'t str),
    Delete(WrittenPath<'t>, &'t str),
}

/// Right-hand side of an assignment before placeholders are substituted.
enum WrittenSum<'t> {
    Operand(WrittenOperand<'t>),
    Plus([WrittenOperand<'t>; 2]),
    Minus([WrittenOperand<'t>; 2]),
}

fn sum<'t>(cursor: &mut Cursor<'t>) -> Result<WrittenSum<'t>, Error> {
    let left = match first_of_sum(cursor)? {
        WrittenSum::Operand(operand) => operand,
        finished => return Ok(finished),
    };
    let make = match cursor.peek_kind() {
        Some(TokenKind::Plus) => WrittenSum::Plus,
        Some(TokenKind::Minus) => WrittenSum::Minus,
        _ => return Ok(WrittenSum::Operand(left)),
    };
    cursor.advance();
    cursor.count_operator();
    Ok(make([left, written::operand_in_parentheses(cursor)?]))
}

/// Parses an operand, or a whole sum in parentheses.
fn first_of_sum<'t>(cursor: &mut Cursor<'t>) -> Result<WrittenSum<'t>, Error> {
    if cursor.take(TokenKind::Open).is_none() {
        return written::operand(cursor).map(WrittenSum::Operand);
    }
    let inner = cursor.nested(|| Flaw::RedundantParentheses, sum)?;
    cursor.expect(TokenKind::Close)?;
    Ok(inner)
}

fn check_sections(sections: &[Section], resolver: &mut Resolver<'_>) {
    for (index, section) in sections.iter().enumerate() {
        if sections[..index].contains(section) {
            resolver.flaws.note(Rank::Section, Flaw::DuplicateSection(section.keyword()));
        }
    }
}

/// Substitutes placeholders and records all flaws; returns `None` if there is one.
fn resolve(actions: &[WrittenAction<'_>], resolver: &mut Resolver<'_>) -> Option<Update> {
    let mut update = Update::default();
    let mut targets = Vec::with_capacity(actions.len());
    let mut complete = true;
    for action in actions {
        let target = resolver.path(action.path());
        complete &= resolve_action(action, target.clone(), &mut update, resolver).is_some();
        targets.extend(target);
    }
    overlap::check(&targets, &mut resolver.flaws);
    complete.then_some(update)
}

fn resolve_action(
    action: &WrittenAction<'_>,
    target: Option<Path>,
    update: &mut Update,
    resolver: &mut Resolver<'_>,
) -> Option<()> {
    match action {
        WrittenAction::Set(_, written) => {
            let value = resolve_sum(written, resolver);
            update.set.push(SetAction { path: target?, value: value? });
        }
        WrittenAction::Remove(_) => update.remove.push(target?),
        WrittenAction::Add(_, placeholder) => {
            let value = change(resolver, "ADD", placeholder);
            update.add.push((target?, value?));
        }
        WrittenAction::Delete(_, placeholder) => {
            let value = change(resolver, "DELETE", placeholder);
            update.delete.push((target?, value?));
        }
    }
    Some(())
}

impl<'t> WrittenAction<'t> {
    fn path(&self) -> &WrittenPath<'t> {
        match self {
            Self::Set(path, _) | Self::Remove(path) | Self::Add(path, _) | Self::Delete(path, _) => path,
        }
    }
}

/// Returns the constant of an ADD or DELETE action and checks its type.
fn change(resolver: &mut Resolver<'_>, action: &'static str, placeholder: &str) -> Option<Value> {
    let value = resolver.value(placeholder)?;
    let kind = value.kind();
    let allowed = kind.is_set() || (action == "ADD" && kind == AttributeType::N);
    if !allowed {
        resolver.flaws.note(Rank::ActionType, Flaw::ActionType { action, kind });
    }
    Some(value)
}

fn resolve_sum(written: &WrittenSum<'_>, resolver: &mut Resolver<'_>) -> Option<SetValue> {
    match written {
        WrittenSum::Operand(operand) => resolve_operand(operand, resolver).map(SetValue::Operand),
        WrittenSum::Plus(operands) => {
            resolve_terms("+", operands, resolver).map(|(left, right)| SetValue::Plus(left, right))
        }
        WrittenSum::Minus(operands) => {
            resolve_terms("-", operands, resolver).map(|(left, right)| SetValue::Minus(left, right))
        }
    }
}

fn resolve_terms(
    operator: &str,
    operands: &[WrittenOperand<'_>; 2],
    resolver: &mut Resolver<'_>,
) -> Option<(UpdateOperand, UpdateOperand)> {
    let [left, right] = operands.each_ref().map(|operand| resolve_operand(operand, resolver));
    let (left, right) = (left?, right?);
    check_constants(operator, &[&left, &right], AttributeType::N, resolver);
    Some((left, right))
}

fn resolve_operand(written: &WrittenOperand<'_>, resolver: &mut Resolver<'_>) -> Option<UpdateOperand> {
    match written {
        WrittenOperand::Path(path) => resolver.path(path).map(UpdateOperand::Path),
        WrittenOperand::Value(placeholder) => resolver.value(placeholder).map(UpdateOperand::Value),
        WrittenOperand::Call(call) => resolve_call(call, resolver),
    }
}

fn resolve_call(call: &WrittenCall<'_>, resolver: &mut Resolver<'_>) -> Option<UpdateOperand> {
    let known = matches!(call.name, "if_not_exists" | "list_append");
    if !known {
        resolver.flaws.note(Rank::UnknownUpdateFunction, unknown_function(call.name));
    }
    if let Some(inner) = call.operands.iter().find_map(nested_list_append) {
        resolver.flaws.note(Rank::UnknownUpdateFunction, Flaw::MisusedFunction(inner.to_owned()));
    }
    let operands = all(call.operands.iter(), |operand| resolve_operand(operand, resolver))?;
    let count = operands.len();
    let Ok([first, second]) = <[UpdateOperand; 2]>::try_from(operands) else {
        if known {
            let flaw = Flaw::OperandCount { function: call.name.to_owned(), count };
            resolver.flaws.note(Rank::Function, flaw);
        }
        return None;
    };
    match call.name {
        "if_not_exists" => if_not_exists(first, second, resolver),
        "list_append" => {
            check_constants("list_append", &[&first, &second], AttributeType::L, resolver);
            Some(UpdateOperand::ListAppend(Box::new(first), Box::new(second)))
        }
        _ => None,
    }
}

/// DynamoDB accepts `if_not_exists` as an operand of a function, but not `list_append`.
fn nested_list_append<'t>(operand: &WrittenOperand<'t>) -> Option<&'t str> {
    match operand {
        WrittenOperand::Call(call) if call.name == "list_append" => Some(call.name),
        _ => None,
    }
}

fn if_not_exists(first: UpdateOperand, second: UpdateOperand, resolver: &mut Resolver<'_>) -> Option<UpdateOperand> {
    let UpdateOperand::Path(path) = first else {
        resolver.flaws.note(Rank::Function, Flaw::PathRequired("if_not_exists".to_owned()));
        return None;
    };
    Some(UpdateOperand::IfNotExists(path, Box::new(second)))
}

fn check_constants(operator: &str, operands: &[&UpdateOperand], expected: AttributeType, resolver: &mut Resolver<'_>) {
    for operand in operands {
        if let UpdateOperand::Value(value) = operand
            && value.kind() != expected
        {
            let flaw = Flaw::OperandType { operator: operator.to_owned(), kind: Some(value.kind()) };
            resolver.flaws.note(Rank::Function, flaw);
        }
    }
}

fn unknown_function(name: &str) -> Flaw {
    match name {
        "attribute_exists" | "attribute_not_exists" | "attribute_type" | "begins_with" | "contains" | "size" => {
            Flaw::NotForUpdates(name.to_owned())
        }
        _ => Flaw::UnknownFunction(name.to_owned()),
    }
}
