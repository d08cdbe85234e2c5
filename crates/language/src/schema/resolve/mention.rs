//! Collects the names that a pattern mentions before resolving them, to distinguish a misspelt parameter from a used
//! one.

use crate::document::ast::{Action, Argument, Block, Change, Expr, ExprKind, KeyTest, ReadClause, Step, Text};
use crate::document::ast::{Guard, Read, Write};
use crate::document::template::{TemplatePiece, parse_template};

/// Returns the names in the clauses of a read.
pub(super) fn in_read(read: &Read) -> Vec<String> {
    let mut names = Vec::new();
    for clause in &read.clauses {
        match &clause.value {
            ReadClause::Where(condition) => expr(condition, &mut names),
            ReadClause::Permit(permission) => {
                permission.condition().into_iter().for_each(|condition| expr(condition, &mut names));
            }
            ReadClause::Key(key) => {
                std::iter::once(&key.partition).chain(&key.sort).for_each(|test| key_test(test, &mut names));
            }
            _ => {}
        }
    }
    names
}

/// Returns the names in a guard.
pub(super) fn in_guard(guard: &Guard) -> Vec<String> {
    let mut names = Vec::new();
    arguments(&guard.item.keys, &mut names);
    guard.condition.iter().for_each(|condition| expr(condition, &mut names));
    names
}

/// Returns the names in the steps of a write.
pub(super) fn in_write(write: &Write) -> Vec<String> {
    let mut names = Vec::new();
    steps(&write.body, &mut names);
    names
}

fn steps(block: &Block<Step>, names: &mut Vec<String>) {
    for line in &block.lines {
        match &line.value {
            Step::Let(it) => expr(&it.value, names),
            Step::Permit(permission) => permission.condition().into_iter().for_each(|condition| expr(condition, names)),
            Step::Require(it) => expr(&it.condition, names),
            Step::Action(it) => action(it, names),
            Step::For(it) => {
                expr(&it.list, names);
                steps(&it.body, names);
            }
            Step::Unscoped(_) | Step::Allow(_) => {}
        }
    }
}

fn action(it: &Action, names: &mut Vec<String>) {
    arguments(&it.item.keys, names);
    it.conditions.iter().for_each(|condition| expr(&condition.condition, names));
    for change in &it.changes {
        let (path, value) = match &change.value {
            Change::Set(path, value)
            | Change::Increase(path, value)
            | Change::Decrease(path, value)
            | Change::Append(path, value)
            | Change::Add(path, value)
            | Change::Take(path, value) => (path, Some(value)),
            Change::Remove(path) => (path, None),
        };
        keys_of_path(path, names);
        value.into_iter().for_each(|value| expr(value, names));
    }
}

/// Collects the names in brackets. The field that a path begins with does not refer to a parameter.
fn keys_of_path(path: &Expr, names: &mut Vec<String>) {
    match path.kind.as_ref() {
        ExprKind::Member(of, _) => keys_of_path(of, names),
        ExprKind::Element(of, key) => {
            keys_of_path(of, names);
            expr(key, names);
        }
        _ => {}
    }
}

fn key_test(test: &KeyTest, names: &mut Vec<String>) {
    let mut template = |text: &Text| {
        for piece in parse_template(text).0 {
            if let TemplatePiece::Field(piece) = piece {
                names.push(piece.field.text);
            }
        }
    };
    match test {
        KeyTest::Equal(text)
        | KeyTest::Begins(text)
        | KeyTest::After(text)
        | KeyTest::From(text)
        | KeyTest::Before(text)
        | KeyTest::Until(text) => template(text),
        KeyTest::Between(low, high) => [low, high].into_iter().for_each(template),
    }
}

fn arguments(list: &[Argument], names: &mut Vec<String>) {
    list.iter().for_each(|argument| expr(&argument.value, names));
}

fn expr(it: &Expr, names: &mut Vec<String>) {
    match it.kind.as_ref() {
        ExprKind::Name(name) => names.push(name.text.clone()),
        ExprKind::Member(of, _) | ExprKind::Not(of) | ExprKind::IsNone(of) | ExprKind::IsSome(of) => expr(of, names),
        ExprKind::List(parts) => parts.iter().for_each(|part| expr(part, names)),
        ExprKind::Record(parts) => parts.iter().for_each(|(_, part)| expr(part, names)),
        ExprKind::Call(_, list) => arguments(list, names),
        ExprKind::Element(left, right) | ExprKind::Binary(_, left, right) => {
            expr(left, names);
            expr(right, names);
        }
        ExprKind::Between(of, low, high) => [of, low, high].into_iter().for_each(|part| expr(part, names)),
        ExprKind::In(of, list) => {
            expr(of, names);
            list.iter().for_each(|part| expr(part, names));
        }
        ExprKind::Text(_)
        | ExprKind::Number(_)
        | ExprKind::Duration(_)
        | ExprKind::Bool(_)
        | ExprKind::None
        | ExprKind::Absent
        | ExprKind::Exists => {}
    }
}
