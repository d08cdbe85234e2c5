//! Values of one field that a condition admits, so that two conditions can be compared: whether one demands at least as
//! much as the other.

use std::collections::BTreeSet;

use crate::document::ast::BinaryOp;
use crate::schema::limit::Range;
use crate::schema::relation::{Relation, ranges};
use crate::schema::{Expr, ExprKind, FieldId, Model, Origin, Type, ValuePath};

/// Values of a field that satisfy a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Admitted {
    /// Values of an enumeration or a boolean.
    Listed(BTreeSet<String>),
    /// Numbers from the first to the last.
    Between(Range),
}

/// Returns true if every item that satisfies `has` satisfies `wanted`, as far as single fields decide.
#[must_use]
pub fn implies(model: &Model, has: &Expr, wanted: &Expr) -> bool {
    wanted.conjuncts().into_iter().all(|wanted| {
        has.conjuncts().into_iter().any(|has| has.same(wanted) || is_within(of(model, has), of(model, wanted)))
    })
}

fn is_within(one: Option<(FieldId, Admitted)>, other: Option<(FieldId, Admitted)>) -> bool {
    match (one, other) {
        (Some((field, one)), Some((of, other))) if field == of => match (one, other) {
            (Admitted::Listed(one), Admitted::Listed(other)) => one.is_subset(&other),
            (Admitted::Between(one), Admitted::Between(other)) => ranges(one, other) == Relation::Within,
            _ => false,
        },
        _ => false,
    }
}

/// Returns true if a value of the type may satisfy each part of a condition that tests only this field.
#[must_use]
pub fn may_satisfy(model: &Model, kind: &Type, condition: &Expr, field: FieldId) -> bool {
    condition.conjuncts().into_iter().all(|part| match of(model, part) {
        Some((of, Admitted::Listed(values))) if of == field => match listed(kind) {
            Some(given) => given.iter().any(|value| values.contains(value)),
            None => !values.is_empty(),
        },
        Some((of, Admitted::Between(range))) if of == field => ranges(Range::of(kind), range) != Relation::Disjoint,
        _ => true,
    })
}

/// Returns true if a literal satisfies each part of a condition that tests only this field.
#[must_use]
pub fn satisfies(model: &Model, value: &Expr, condition: &Expr, field: FieldId) -> bool {
    condition.conjuncts().into_iter().all(|part| match (of(model, part), literal(value)) {
        (Some((of, Admitted::Listed(values))), Some(value)) if of == field => values.contains(&value),
        (Some((of, Admitted::Between(range))), Some(value)) if of == field => value.parse().is_ok_and(|value: i128| {
            range.min.is_none_or(|min| value >= min) && range.max.is_none_or(|max| value <= max)
        }),
        _ => false,
    })
}

/// Returns the only field that a condition tests, with the values that satisfy it; `None` if it depends on more.
fn of(model: &Model, condition: &Expr) -> Option<(FieldId, Admitted)> {
    let [field] = condition.own_fields()[..] else { return None };
    let [entity] = condition.own_entities()[..] else { return None };
    let kind = &model.entity(entity).field(field).kind;
    match listed(kind) {
        Some(all) => {
            let verdicts: Option<Vec<(String, bool)>> =
                all.into_iter().map(|value| evaluate(condition, &value).map(|holds| (value, holds))).collect();
            let admitted = verdicts?.into_iter().filter(|(_, holds)| *holds).map(|(value, _)| value);
            Some((field, Admitted::Listed(admitted.collect())))
        }
        None => Some((field, Admitted::Between(range(condition)?))),
    }
}

/// Returns all values of an enumeration or a boolean.
fn listed(kind: &Type) -> Option<Vec<String>> {
    match kind.resolved() {
        Type::OneOf(texts) => Some(texts.clone()),
        kind if kind.is_bool() => Some(vec!["true".to_owned(), "false".to_owned()]),
        _ => None,
    }
}

/// Evaluates a condition for one value of its only field; `None` if it depends on more.
fn evaluate(condition: &Expr, value: &str) -> Option<bool> {
    let text = |expr: &Expr| if is_field(expr) { Some(value.to_owned()) } else { literal(expr) };
    match &condition.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => Some(evaluate(left, value)? && evaluate(right, value)?),
        ExprKind::Binary(BinaryOp::Or, left, right) => Some(evaluate(left, value)? || evaluate(right, value)?),
        ExprKind::Binary(BinaryOp::Equal, left, right) => Some(text(left)? == text(right)?),
        ExprKind::Binary(BinaryOp::NotEqual, left, right) => Some(text(left)? != text(right)?),
        ExprKind::Not(of) => Some(!evaluate(of, value)?),
        ExprKind::In(of, list) => {
            let list: Option<Vec<String>> = list.iter().map(text).collect();
            Some(list?.contains(&text(of)?))
        }
        ExprKind::ValuePath(_) if is_field(condition) => Some(value == "true"),
        _ => None,
    }
}

/// Returns the numbers that satisfy a comparison of a field with a literal.
fn range(condition: &Expr) -> Option<Range> {
    let number = |expr: &Expr| literal(expr)?.parse::<i128>().ok();
    let (min, max) = match &condition.kind {
        ExprKind::Between(of, low, high) if is_field(of) => (Some(number(low)?), Some(number(high)?)),
        ExprKind::Binary(op, left, right) if is_field(left) => {
            let limit = number(right)?;
            match op {
                BinaryOp::GreaterEqual => (Some(limit), None),
                BinaryOp::Greater => (Some(limit.checked_add(1)?), None),
                BinaryOp::LessEqual => (None, Some(limit)),
                BinaryOp::Less => (None, Some(limit.checked_sub(1)?)),
                BinaryOp::Equal => (Some(limit), Some(limit)),
                _ => return None,
            }
        }
        _ => return None,
    };
    Some(Range { min, max })
}

fn is_field(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Field(..), path }) if path.is_empty())
}

fn literal(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Text(text) | ExprKind::Number(text) => Some(text.clone()),
        ExprKind::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}
