//! K02: a field of the table's key may be absent, or a step creates an item without a value for it.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Entity, FieldId, Model};
use keyform_language::span::Span;

use super::{Keyed, keys};

pub(super) static RULE: Rule = Rule {
    code: Code("K02"),
    severity: Severity::Error,
    title: "a key field may be missing",
    page: include_str!("../../../../../docs/rules/K02.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for keyed in keys(context.model).filter(|keyed| keyed.key.index.is_none()) {
        for (field, place) in missing_sometimes(keyed) {
            findings.push(sometimes(keyed, field, place));
        }
    }
    for write in &context.model.writes {
        for action in write.actions() {
            findings.extend(without_source(context.model, action));
        }
    }
}

/// Returns the key fields that may be absent or NULL, each with its first span.
pub(super) fn missing_sometimes(keyed: Keyed<'_>) -> Vec<(FieldId, Span)> {
    let mut found: Vec<(FieldId, Span)> = Vec::new();
    for (field, place) in keyed.places() {
        let may_be_missing = keyed.entity.field(field).optional || keyed.entity.field(field).null;
        if may_be_missing && found.iter().all(|(known, _)| *known != field) {
            found.push((field, place));
        }
    }
    found
}

fn sometimes(keyed: Keyed<'_>, field: FieldId, place: Span) -> Diagnostic {
    let field = keyed.entity.field(field);
    let how = if field.optional { "optional" } else { "sometimes NULL" };
    let message = format!("`{}` is {how}; without it an item of {} has no key", field.name, keyed.entity.name);
    let repair = match &field.default {
        Some(_) => "the default always fills it: remove the `?`".to_owned(),
        None => format!("make `{}` required, or write a constant such as `\"META\"` instead", field.name),
    };
    Diagnostic::error(RULE.code, keyed.place_of(place), message).also(field.type_span, "may be missing").help(repair)
}

/// Reports a step that creates an item without a value for a key field.
fn without_source(model: &Model, action: &Action) -> Option<Diagnostic> {
    let entity = model.entity(action.entity?);
    if !matches!(action.verb, Verb::Create | Verb::Put) {
        return None;
    }
    let known = |field: &FieldId| action.keys.iter().any(|(key, _)| key == field) || entity.field(*field).optional;
    let missing = entity.key_fields().into_iter().find(|field| !known(field))?;
    Some(unsourced(entity, action, missing))
}

fn unsourced(entity: &Entity, action: &Action, missing: FieldId) -> Diagnostic {
    let field = entity.field(missing);
    let message = format!("nothing sets `{}`, which is part of the key of {}", field.name, entity.name);
    Diagnostic::error(RULE.code, action.entity_span, message)
        .also(field.name_span, "has no default")
        .help(format!("add a parameter `{0}`, set it: `{0} = …`, or give the field a default", field.name))
}
