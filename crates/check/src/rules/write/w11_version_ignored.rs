//! W11: a write bypasses the optimistic lock.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Entity, FieldId, Write};

use super::version_of;

pub(super) static RULE: Rule = Rule {
    code: Code("W11"),
    severity: Severity::Warning,
    title: "a write ignores the version",
    page: include_str!("../../../../../docs/rules/W11.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in &context.model.writes {
        for action in write.actions() {
            let Some(entity) = action.entity.map(|id| context.model.entity(id)) else { continue };
            if let Some(version) = version_of(entity).filter(|_| goes_past(write, action)) {
                findings.push(finding(write, action, entity, version));
            }
        }
    }
}

/// Returns whether the action ignores the version. An expected version, from a parameter or a `let`, is already one of
/// the action's conditions.
fn goes_past(write: &Write, action: &Action) -> bool {
    match action.verb {
        Verb::Create | Verb::Check => false,
        Verb::Put if action.replace && write.batch.is_none() => false,
        Verb::Put | Verb::Upsert | Verb::Delete | Verb::Update if write.batch.is_some() => true,
        Verb::Put | Verb::Upsert | Verb::Update | Verb::Delete => action.conditions.is_empty() && !action.only_counts(),
    }
}

fn finding(write: &Write, action: &Action, entity: &Entity, version: FieldId) -> Diagnostic {
    let name = &entity.field(version).name;
    let why = if write.batch.is_some() { "a batch has no conditions" } else { "overwrites concurrent changes" };
    Diagnostic::warning(
        RULE.code,
        action.entity_span,
        format!("`{}` does not check `{name}` of {}", write.name, entity.name),
    )
    .label(why)
    .also(entity.field(version).name_span, "the version")
    .help(format!("take `{name}` as a parameter, or read the item with a `let` first: the version is then checked"))
}
