//! M05: the new key of an existing item is unknown or not unique.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, Evolution, FieldId, Template};
use keyform_language::span::Span;

pub(super) static RULE: Rule = Rule {
    code: Code("M05"),
    severity: Severity::Warning,
    title: "an existing item may not map to one new key",
    page: include_str!("../../../../../docs/rules/M05.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for evolution in &context.model.evolutions {
        let Some(entity) = evolution.entity.map(|id| context.model.entity(id)) else { continue };
        findings.extend(lost(context, evolution, entity));
        findings.extend(fresh(evolution, entity));
        findings.extend(same(context, evolution, entity));
    }
}

/// Reports fields of the new key that existing items lack or, without the previous model, may lack.
fn lost(context: &Context<'_>, evolution: &Evolution, entity: &Entity) -> Vec<Diagnostic> {
    let Some(old) = &evolution.key else { return Vec::new() };
    let given: Vec<FieldId> = old.fields().collect();
    let is_missing = |field: &FieldId| {
        !given.contains(field) && !is_given(evolution, *field) && had(context, entity, *field) != Some(true)
    };
    let missing = entity.key_fields().into_iter().filter(is_missing);
    missing.map(|field| lost_field(old.span, entity, field, had(context, entity, field))).collect()
}

fn lost_field(place: Span, entity: &Entity, field: FieldId, had: Option<bool>) -> Diagnostic {
    let name = &entity.field(field).name;
    let (severity, has) = match had {
        Some(_) => (Severity::Error, "do not have"),
        None => (Severity::Warning, "may not have"),
    };
    let message = format!("the new key of {} needs `{name}`, which old items {has}", entity.name);
    Diagnostic::new(RULE.code, severity, place, message)
        .also(entity.field(field).name_span, "part of the new key")
        .help(format!("provide a value: `set {name} = …`, or `rename … -> {name}`"))
}

/// Returns whether existing items have the field, or `None` without the previous model.
fn had(context: &Context<'_>, entity: &Entity, field: FieldId) -> Option<bool> {
    let before = context.before?;
    let old = before.entity(before.entity_named(&entity.name)?);
    Some(old.field_named(&entity.field(field).name).is_some())
}

fn is_given(evolution: &Evolution, field: FieldId) -> bool {
    evolution.sets.iter().any(|(set, _, _)| *set == field)
        || evolution.renames.iter().any(|(_, renamed, _)| *renamed == field)
}

/// Reports a part of the new key that is generated on each run. A migration must be repeatable, and this one would copy
/// every item again.
fn fresh(evolution: &Evolution, entity: &Entity) -> Option<Diagnostic> {
    let keys = entity.key_fields();
    let (field, value, _) = evolution.sets.iter().find(|(field, value, _)| keys.contains(field) && value.is_fresh())?;
    let name = &entity.field(*field).name;
    Some(
        Diagnostic::error(
            RULE.code,
            value.span,
            format!("each run generates a new value for `{name}`, so a repeated run copies every item again"),
        )
        .help(format!("derive the value from the old item: `set {name} = uuid(oldId)` is the same each time")),
    )
}

/// Reports old and new keys that can be equal, so that a resumed migration cannot tell which items have moved. If the
/// templates are the same, items do not move.
fn same(context: &Context<'_>, evolution: &Evolution, entity: &Entity) -> Option<Diagnostic> {
    let (old, new) = (evolution.key.as_ref()?, entity.key.as_ref()?);
    let elsewhere = evolution.table.is_some() && evolution.table != entity.table;
    let pairs: Vec<(&Template, &Template)> =
        old.parts().zip(new.parts()).map(|(old, new)| (&old.template, &new.template)).collect();
    let stays = pairs.iter().all(|(old, new)| old.parts_alike(new));
    let mixes = !elsewhere && !stays && pairs.iter().all(|(old, new)| may_be_same(old, new));
    mixes.then(|| {
        let table = entity.table.map_or("", |table| &context.model.table(table).name);
        Diagnostic::warning(
            RULE.code,
            old.span,
            format!("an old key of {} can equal a new one, so items that have moved cannot be recognised", entity.name),
        )
        .also(new.span, "the new key")
        .note(format!("Both keys are in table {table} and begin with the same characters."))
        .help("give the new key a different prefix")
    })
}

/// Returns whether two templates can produce the same text, judged by their literal prefixes.
fn may_be_same(old: &Template, new: &Template) -> bool {
    old.prefix().starts_with(new.prefix()) || new.prefix().starts_with(old.prefix())
}
