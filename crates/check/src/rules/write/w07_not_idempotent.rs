//! W07: a retry of a write that counts or appends applies it twice.
//!
//! ADR 0017: such a write is not retried if its outcome is unknown, unless it is `idempotent`; the caller decides.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::BinaryOp;
use keyform_language::plan::WriteKind;
use keyform_language::schema::{Action, Change, ChangeKind, Entity, Expr, ExprKind, FieldId, Origin, ValuePath, Write};

pub(super) static RULE: Rule = Rule {
    code: Code("W07"),
    severity: Severity::Warning,
    title: "a repeated request counts twice",
    page: include_str!("../../../../../docs/rules/W07.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (write, plan) in context.model.writes.iter().zip(&context.plans.writes) {
        if write.idempotent.is_some() || plan.as_ref().is_none_or(|plan| plan.request != WriteKind::Update) {
            continue;
        }
        for action in write.actions() {
            let Some(entity) = action.entity.map(|id| context.model.entity(id)) else { continue };
            let counts = action.changes.iter().find(|change| is_cumulative(change));
            if let Some(change) = counts.filter(|_| !refuses_repetition(action)) {
                findings.push(finding(write, entity, change));
            }
        }
    }
}

/// Returns whether the author's change accumulates. The implicit increment of a version does not count, because
/// applying it twice is harmless.
fn is_cumulative(change: &Change) -> bool {
    change.written && matches!(change.kind, ChangeKind::Increase(_) | ChangeKind::Decrease(_) | ChangeKind::Append(_))
}

/// Returns whether the action's conditions fail on a repetition: one tests a field that the action sets, or requires a
/// single value of a field that it increments or decrements.
fn refuses_repetition(action: &Action) -> bool {
    action.changes.iter().filter(|change| change.written).any(|change| match (&change.kind, change.field) {
        (ChangeKind::Set(_) | ChangeKind::Add(_), Some(field)) => action.tests(field),
        (ChangeKind::Increase(_) | ChangeKind::Decrease(_), Some(field)) => {
            change.path().is_empty() && action.conditions.iter().any(|one| is_pinned(&one.condition, field))
        }
        _ => false,
    })
}

/// Returns whether the condition holds for a single value of the field only.
fn is_pinned(condition: &Expr, field: FieldId) -> bool {
    let is_field = |side: &Expr| matches!(&side.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Field(_, own), path }) if *own == field && path.is_empty());
    match &condition.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => is_pinned(left, field) || is_pinned(right, field),
        ExprKind::Binary(BinaryOp::Equal, left, right) => is_field(left) != is_field(right),
        _ => false,
    }
}

fn finding(write: &Write, entity: &Entity, change: &Change) -> Diagnostic {
    let field = change.field.map_or("", |field| &entity.field(field).name);
    Diagnostic::warning(RULE.code, change.span, format!("`{}` sent twice changes `{field}` twice", write.name))
        .label("SDKs retry a request whose answer was lost")
        .help(format!(
            "write `write {}(…) idempotent {{ … }}`: all retries carry one token, and the store applies it once",
            write.name
        ))
}
