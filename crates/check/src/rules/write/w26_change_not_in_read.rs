//! W26: a change is sent to a live read that cannot contain it.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Consumer, Entity, EntityId, FieldId, Read, Result as ReadResult, Target, Test};

pub(super) static RULE: Rule = Rule {
    code: Code("W26"),
    severity: Severity::Error,
    title: "a change is sent to a live read that cannot contain it",
    page: include_str!("../../../../../docs/rules/W26.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for consumer in &context.model.consumers {
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
