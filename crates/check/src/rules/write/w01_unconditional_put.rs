//! W01: an unconditional `put` overwrites any item with the same key.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Entity, Write};

use super::actions;

pub(super) static RULE: Rule = Rule {
    code: Code("W01"),
    severity: Severity::Warning,
    title: "a put replaces an item without a condition",
    page: include_str!("../../../../../docs/rules/W01.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (write, action, entity) in actions(context) {
        if action.verb == Verb::Put && !action.replace && action.conditions.is_empty() && !has_fresh_key(action, entity)
        {
            findings.push(finding(write, action, entity));
        }
    }
}

/// Returns whether part of the key is generated in the same step, so that no item can have it yet.
fn has_fresh_key(action: &Action, entity: &Entity) -> bool {
    entity
        .key_fields()
        .into_iter()
        .any(|field| action.value_of(field).is_some_and(keyform_language::schema::Expr::is_fresh))
}

fn finding(write: &Write, action: &Action, entity: &Entity) -> Diagnostic {
    let name = &entity.name;
    let help = if write.batch.is_some() {
        format!(
            "a batch has no conditions: remove `batch` and write `create {name}`, or write `replace {name}` if the last \
            put shall win"
        )
    } else {
        format!(
            "write `create {name}` if it must be new, `update {name}(…)` if it must exist, `replace {name}` if the last \
            put shall win, or add a condition (`if absent or …`)"
        )
    };
    Diagnostic::warning(
        RULE.code,
        action.entity_span,
        format!("`put {name}` replaces the item with this key, whatever it contains"),
    )
    .label("no condition")
    .note("Two concurrent puts both succeed, and the first one is lost.")
    .help(help)
}
