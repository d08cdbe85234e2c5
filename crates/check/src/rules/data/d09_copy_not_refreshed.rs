//! D09: a `copy … refresh` does not follow a change of its source.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::{Event, Verb};
use keyform_language::schema::{Action, Entity, EntityId, Field, FieldId, Model, Target, Type, Write};

use super::site::sites;

pub(super) static RULE: Rule = Rule {
    code: Code("D09"),
    severity: Severity::Error,
    title: "a copy does not follow its source",
    page: include_str!("../../../../../docs/rules/D09.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    for id in model.entity_ids() {
        let entity = model.entity(id);
        for (number, field) in entity.fields.iter().enumerate().filter(|(_, field)| field.flags.refresh.is_some()) {
            let Type::Copy { entity: Some(source), field: Some(original), .. } = &field.kind else { continue };
            if !is_handled(model, *source) {
                let writes = changing(context, (*source, *original), (id, FieldId(number)));
                if writes.is_empty() && !is_carried(model, (id, FieldId(number))) {
                    findings.push(idle(model, (entity, field), (*source, *original)));
                }
                findings.extend(
                    writes.into_iter().map(|write| finding(model, (entity, field), (*source, *original), write)),
                );
            }
        }
    }
}

/// Returns true if a handler sees the changes of the source.
fn is_handled(model: &Model, source: EntityId) -> bool {
    model.consumers.iter().any(|consumer| {
        consumer.entity == Some(source)
            && matches!(consumer.target, Target::Handler(_))
            && consumer.events.contains(&Event::Modify)
    })
}

/// Returns true if a write changes the copy of an item that exists.
fn is_carried(model: &Model, copy: (EntityId, FieldId)) -> bool {
    let carries = |action: &Action| {
        let is_set = action.changes.iter().any(|change| change.field == Some(copy.1));
        action.entity == Some(copy.0) && is_set && matches!(action.verb, Verb::Update | Verb::Upsert | Verb::Put)
    };
    model.writes.iter().any(|write| write.actions().into_iter().any(carries))
}

/// Reports a copy that nothing updates, whatever changes its source.
fn idle(model: &Model, (entity, field): (&Entity, &Field), source: (EntityId, FieldId)) -> Diagnostic {
    let of = model.entity(source.0);
    let copied = format!("{}.{}", of.name, of.field(source.1).name);
    let message = format!("`{}` of {} is to follow `{copied}`, and nothing updates it", field.name, entity.name);
    Diagnostic::error(RULE.code, field.type_span, message).label("`refresh`: follows its source").help(format!(
        "set it in the writes that change `{copied}`, add `on {} modify -> handler …`, or write `snapshot` instead of \
        `refresh`",
        of.name
    ))
}

/// Returns the writes that change the source and not the copy.
fn changing<'a>(context: &Context<'a>, source: (EntityId, FieldId), copy: (EntityId, FieldId)) -> Vec<&'a Write> {
    let mut writes: Vec<&Write> = Vec::new();
    for site in sites(context).into_iter().filter(|site| !site.makes() && site.id == source.0) {
        let changes = site.changes().any(|(_, field, _)| field == source.1);
        let sets = |action: &&Action| {
            action.entity == Some(copy.0) && action.changes.iter().any(|change| change.field == Some(copy.1))
        };
        let carries = site.write.actions().iter().any(sets);
        if changes && !carries && !writes.iter().any(|write| write.name == site.write.name) {
            writes.push(site.write);
        }
    }
    writes
}

fn finding(
    model: &Model,
    (entity, field): (&Entity, &Field),
    source: (EntityId, FieldId),
    write: &Write,
) -> Diagnostic {
    let of = model.entity(source.0);
    let copied = format!("{}.{}", of.name, of.field(source.1).name);
    let message =
        format!("`{}` changes `{copied}`, and `{}` of {} keeps the old value", write.name, field.name, entity.name);
    Diagnostic::error(RULE.code, write.name_span, message)
        .also(field.type_span, "`refresh`: follows its source")
        .help(format!(
            "set the copies in the same write, add `on {} modify -> handler …`, or write `snapshot` instead of `refresh`",
            of.name
        ))
}
