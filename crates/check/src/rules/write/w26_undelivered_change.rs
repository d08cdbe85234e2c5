//! W26: an `on` line names a change that is never delivered.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Event;
use keyform_language::schema::{Consumer, Entity, EntityId, FieldId, Read, Result as ReadResult, Target, Test};

pub(super) static RULE: Rule = Rule {
    code: Code("W26"),
    severity: Severity::Error,
    title: "an `on` line names a change that is never delivered",
    page: include_str!("../../../../../docs/rules/W26.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for consumer in &context.model.consumers {
        findings.extend(never_expires(context, consumer));
        let (Some(entity), Target::Live(Some(read), fields)) = (consumer.entity, &consumer.target) else { continue };
        let read = context.model.read(*read);
        if read.result.is_broken() {
            continue;
        }
        if read.result.entities().contains(&entity) {
            findings.extend(exchanged(context.model.entity(entity), consumer, read, fields));
        } else {
            findings.push(elsewhere(context, entity, consumer, read));
        }
    }
}

/// Reports `expire` of an entity without the table's TTL attribute.
fn never_expires(context: &Context<'_>, consumer: &Consumer) -> Option<Diagnostic> {
    let entity = consumer.entity.map(|id| context.model.entity(id))?;
    let table = context.model.table(entity.table?);
    let has_ttl = table.ttl.as_ref().is_some_and(|ttl| entity.field_named(&ttl.value).is_some());
    if has_ttl || !consumer.events.contains(&Event::Expire) {
        return None;
    }
    let message = format!("items of {} never expire", entity.name);
    let finding = Diagnostic::error(RULE.code, consumer.span, message).also(entity.name_span, "has no TTL attribute");
    Some(finding.help(match &table.ttl {
        Some(ttl) => format!("add the field `{}: epoch` to {}, or remove `expire`", ttl.value, entity.name),
        None => format!("add `ttl` to table {} and its field to {}, or remove `expire`", table.name, entity.name),
    }))
}

fn elsewhere(context: &Context<'_>, id: EntityId, consumer: &Consumer, read: &Read) -> Diagnostic {
    let entity = context.model.entity(id);
    let message = format!("`{}` never returns a {}, so its subscribers receive no such change", read.name, entity.name);
    let others = context.model.reads.iter().filter(|read| read.result.entities().contains(&id));
    let lists = others.filter(|read| matches!(read.result, ReadResult::Parts(_)));
    let finding = Diagnostic::error(RULE.code, consumer.span, message).also(read.name_span, "the read");
    finding.help(match lists.map(|read| read.name.as_str()).next() {
        Some(name) => format!("name a read that returns {}, such as `{name}`, or remove the line", entity.name),
        None => format!("add a read that returns {}, or remove the line", entity.name),
    })
}

/// Reports an argument that is another field of the item than the one that the read compares with the parameter.
fn exchanged(entity: &Entity, consumer: &Consumer, read: &Read, fields: &[FieldId]) -> Option<Diagnostic> {
    let parameters: Vec<&str> =
        read.parameters.iter().filter(|it| it.test == Test::Equal).map(|it| it.field_name.as_str()).collect();
    let pairs = parameters.iter().zip(fields).filter(|_| parameters.len() == fields.len());
    let (name, field) = pairs
        .into_iter()
        .find(|(name, field)| entity.field_named(name).is_some_and(|own| own != **field))
        .map(|(name, field)| (*name, entity.field(*field)))?;
    let message =
        format!("`{}` takes `{name}`, and the change of a {} gives it `{}`", read.name, entity.name, field.name);
    let finding = Diagnostic::error(RULE.code, consumer.span, message)
        .label(format!("subscribers of `{}` compare `{name}` of the item", read.name));
    Some(finding.help(format!("write `live {}({})`", read.name, parameters.join(", "))))
}
