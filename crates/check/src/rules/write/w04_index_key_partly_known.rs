//! W04: an update changes part of an index key without knowing the rest.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Change, ChangeKind, Entity, FieldId, KeyPart, Part};

use crate::rules::show::listed;

use super::{actions, version_of};

pub(super) static RULE: Rule = Rule {
    code: Code("W04"),
    severity: Severity::Error,
    title: "an update knows only a part of an index key",
    page: include_str!("../../../../../docs/rules/W04.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (_, action, entity) in actions(context) {
        if !matches!(action.verb, Verb::Update | Verb::Upsert) {
            continue;
        }
        for key in &entity.indexes {
            for part in key.partition.iter().chain(&key.sort) {
                findings.extend(stale(context, action, entity, part));
            }
        }
    }
}

fn stale(context: &Context<'_>, action: &Action, entity: &Entity, part: &KeyPart) -> Option<Diagnostic> {
    let fields: Vec<FieldId> = part.template.fields().collect();
    if part.template.is_broken() || is_attribute(entity, part) {
        return None;
    }
    let change = action
        .changes
        .iter()
        .find(|change| change.field.is_some_and(|field| fields.contains(&field)) && !is_removal(change))?;
    let changed = change.field?;
    let unknown: Vec<&str> = fields
        .iter()
        .filter(|&&field| {
            if field == changed { !matches!(change.kind, ChangeKind::Set(_)) } else { !is_known(action, entity, field) }
        })
        .map(|&field| entity.field(field).name.as_str())
        .collect();
    (!unknown.is_empty()).then(|| finding(context, action, entity, change, part, &unknown))
}

/// Returns whether the key attribute is the field itself, so that no template has to be rendered.
fn is_attribute(entity: &Entity, part: &KeyPart) -> bool {
    matches!(part.template.parts.as_slice(), [Part::Field { field, .. }] if entity.field(*field).name == part.attribute)
}

fn is_removal(change: &Change) -> bool {
    matches!(change.kind, ChangeKind::Remove)
}

/// Returns whether the request determines the field's value: it is part of the item's key, the action sets it, or a
/// condition on it or on the version fixes it.
fn is_known(action: &Action, entity: &Entity, field: FieldId) -> bool {
    action.keys.iter().any(|(key, _)| *key == field)
        || action.value_of(field).is_some()
        || action.tests(field)
        || version_of(entity).is_some_and(|version| action.tests(version))
}

fn finding(
    context: &Context<'_>,
    action: &Action,
    entity: &Entity,
    change: &Change,
    part: &KeyPart,
    unknown: &[&str],
) -> Diagnostic {
    let changed = change.field.map_or("", |field| &entity.field(field).name);
    let place = if change.written { change.span } else { action.entity_span };
    let table = entity.table.map_or("", |table| &context.model.table(table).name);
    Diagnostic::error(
        RULE.code,
        place,
        format!(
            "changing `{changed}` changes the key `{}`, but its part {} is not known here",
            part.attribute,
            listed(unknown.iter().copied())
        ),
    )
    .label(format!("the item of `{}` would keep its old position in the index", entity.name))
    .also(part.template.span, format!("`{}` of {table} is built from this template", part.attribute))
    .help(format!(
        "set {} in the same action, or fix it with a condition: `if {} = …`",
        listed(unknown.iter().copied()),
        unknown[0]
    ))
}
