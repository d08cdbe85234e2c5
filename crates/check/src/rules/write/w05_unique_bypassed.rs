//! W05: a write of a `unique` field does not maintain its sentinel item.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Entity, Field, Write};

use super::actions;

pub(super) static RULE: Rule = Rule {
    code: Code("W05"),
    severity: Severity::Error,
    title: "a write bypasses the sentinel of a unique field",
    page: include_str!("../../../../../docs/rules/W05.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (write, action, entity) in actions(context) {
        let Some(way) = way_past(write, action) else { continue };
        for (number, field) in entity.fields.iter().enumerate() {
            let touched = action.changes.iter().any(|change| change.field.is_some_and(|changed| changed.0 == number));
            if field.flags.unique.is_some() && (touched || action.verb == Verb::Delete) {
                findings.push(finding(action, entity, field, way));
            }
        }
    }
}

/// Returns why an action cannot maintain the sentinel: it does not know the previous value, or the write is not a
/// transaction.
fn way_past(write: &Write, action: &Action) -> Option<&'static str> {
    match action.verb {
        _ if write.batch.is_some() => Some("a batch is not one transaction"),
        Verb::Put => Some("a put does not know which value it replaces"),
        Verb::Upsert => Some("an upsert does not know which value it replaces"),
        Verb::Create | Verb::Update | Verb::Delete | Verb::Check => None,
    }
}

fn finding(action: &Action, entity: &Entity, field: &Field, way: &str) -> Diagnostic {
    let name = &field.name;
    let claimed = field.flags.unique.as_ref().map_or(field.name_span, |unique| unique.span);
    Diagnostic::error(
        RULE.code,
        action.entity_span,
        format!("`{name}` of {} is unique, but nothing enforces that here", entity.name),
    )
    .label(way)
    .also(claimed, "claimed here")
    .note("An index does not make its key unique: it contains both of two items with the same value.")
    .help("`create`, `update` and `delete` maintain the sentinel item of the value in the same transaction")
}
