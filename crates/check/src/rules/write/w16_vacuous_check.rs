//! W16: a `check` also holds for an item that does not exist.
//!
//! The rule evaluates the condition as the service does for an item without attributes: `deletedAt is none` holds, and
//! every comparison except `!=` fails.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::{BinaryOp, Verb};
use keyform_language::schema::{Action, Entity, Expr, ExprKind};

use super::actions;

pub(super) static RULE: Rule = Rule {
    code: Code("W16"),
    severity: Severity::Warning,
    title: "a condition holds for an item that does not exist",
    page: include_str!("../../../../../docs/rules/W16.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (_, action, entity) in actions(context) {
        if action.verb == Verb::Check && action.presence.is_none() && holds_without_item(action) {
            findings.push(finding(action, entity));
        }
    }
}

/// Returns whether all conditions hold without an item, and none states with `absent` that this is intended.
fn holds_without_item(action: &Action) -> bool {
    let conditions = || action.conditions.iter().map(|condition| &condition.condition);
    !action.conditions.is_empty()
        && conditions().all(|condition| without_item(condition) == Some(true))
        && !conditions().any(names_absence)
}

fn names_absence(condition: &Expr) -> bool {
    let mut names = false;
    condition.walk(&mut |part| names |= matches!(part.kind, ExprKind::Absent));
    names
}

/// Evaluates a condition for a missing item. Returns `None` if the result depends on arguments.
fn without_item(condition: &Expr) -> Option<bool> {
    match &condition.kind {
        ExprKind::Absent => Some(true),
        ExprKind::Exists => Some(false),
        ExprKind::IsNone(of) => is_of_item(of).then_some(true),
        ExprKind::IsSome(of) => is_of_item(of).then_some(false),
        ExprKind::Not(of) => without_item(of).map(|holds| !holds),
        ExprKind::Binary(BinaryOp::And, left, right) => both(without_item(left), without_item(right), false),
        ExprKind::Binary(BinaryOp::Or, left, right) => both(without_item(left), without_item(right), true),
        ExprKind::Binary(operator, ..) => is_of_item(condition).then_some(*operator == BinaryOp::NotEqual),
        ExprKind::Between(..) | ExprKind::In(..) => is_of_item(condition).then_some(false),
        _ => None,
    }
}

/// Combines two results. `deciding` is the value that determines the result alone: false for `and`, true for `or`.
fn both(left: Option<bool>, right: Option<bool>, deciding: bool) -> Option<bool> {
    if left == Some(deciding) || right == Some(deciding) {
        return Some(deciding);
    }
    left.and(right)
}

fn is_of_item(expr: &Expr) -> bool {
    !expr.own_fields().is_empty()
}

fn finding(action: &Action, entity: &Entity) -> Diagnostic {
    let name = &entity.name;
    let span = action.conditions.first().map_or(action.span, |first| first.condition.span);
    Diagnostic::warning(RULE.code, span, format!("this condition also holds if the {name} does not exist"))
        .label("an item that does not exist has no attributes")
        .help("write `if exists and …`, or `if absent or …` if it may be missing")
}
