//! W10: an update contains changes that DynamoDB rejects.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Change, ChangeKind, Entity, Field, PathStep};

use super::actions;

pub(super) static RULE: Rule = Rule {
    code: Code("W10"),
    severity: Severity::Error,
    title: "changes of one update conflict",
    page: include_str!("../../../../../docs/rules/W10.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (_, action, entity) in actions(context) {
        overlaps(action, entity, findings);
        if matches!(action.verb, Verb::Update | Verb::Upsert) {
            for change in &action.changes {
                findings.extend(absent_parent(entity, change).or_else(|| absent_counter(entity, change)));
            }
        }
    }
}

/// Reports two changes of one field where one path is a prefix of the other.
fn overlaps(action: &Action, entity: &Entity, findings: &mut Vec<Diagnostic>) {
    let written: Vec<&Change> =
        action.changes.iter().filter(|change| change.written && change.field.is_some()).collect();
    for (number, second) in written.iter().enumerate() {
        if let Some(first) =
            written[..number].iter().find(|first| first.field == second.field && is_prefix(first.path(), second.path()))
        {
            let name = second.field.map_or("", |field| &entity.field(field).name);
            findings.push(
                Diagnostic::error(RULE.code, second.span, format!("two changes of one update affect `{name}`"))
                    .label("overlaps with the other change")
                    .also(first.span, "the other")
                    .note("DynamoDB rejects an update whose document paths overlap.")
                    .help("combine them into one change"),
            );
        }
    }
}

fn is_prefix(first: &[PathStep], second: &[PathStep]) -> bool {
    first.iter().zip(second).all(|(step, other)| step.same(other))
}

/// Reports a change inside a map or list that may be absent.
fn absent_parent(entity: &Entity, change: &Change) -> Option<Diagnostic> {
    let field = entity.field(change.field?);
    (!change.path().is_empty() && may_be_absent(field)).then(|| {
        Diagnostic::error(
            RULE.code,
            change.span,
            format!("`{}` may be absent, and then nothing in it can be changed", field.name),
        )
        .also(field.name_span, "optional")
        .note("The service answers: The document path provided in the update expression is invalid for update.")
        .help(format!("give it a default so that every item has it: `{}: … = {{}}`", field.name))
    })
}

/// Reports a counter of a field that may be absent.
fn absent_counter(entity: &Entity, change: &Change) -> Option<Diagnostic> {
    let field = entity.field(change.field?);
    let counts = matches!(change.kind, ChangeKind::Increase(_) | ChangeKind::Decrease(_) | ChangeKind::Append(_));
    (counts && change.path().is_empty() && may_be_absent(field)).then(|| {
        Diagnostic::error(
            RULE.code,
            change.span,
            format!("`{}` may be absent, so there is no value to count from", field.name),
        )
        .also(field.name_span, "no default")
        .help(format!("write `{}: … = 0` (or `= []` for a list)", field.name))
    })
}

fn may_be_absent(field: &Field) -> bool {
    field.optional && field.default.is_none()
}
