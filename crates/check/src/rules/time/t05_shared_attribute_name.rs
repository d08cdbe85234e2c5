//! T05: one attribute name has two meanings.

use std::collections::BTreeMap;

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, EntityKey, Field, Model, Part, Table, TableId, Type};
use keyform_language::span::Spanned;

pub(super) static RULE: Rule = Rule {
    code: Code("T05"),
    severity: Severity::Warning,
    title: "one attribute name has two meanings",
    page: include_str!("../../../../../docs/rules/T05.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (number, table) in context.model.tables.iter().enumerate() {
        let entities: Vec<&Entity> = context.model.entities_of(TableId(number)).map(|(_, entity)| entity).collect();
        for entity in &entities {
            for field in &entity.fields {
                findings.extend(shadows(table, entity, field));
            }
        }
        two_types(&entities, findings);
    }
    fewer_values(context.model, findings);
}

/// Reports a field with the name of an attribute that a template or the tag fills.
fn shadows(table: &Table, entity: &Entity, field: &Field) -> Option<Diagnostic> {
    if let Some(Spanned { value: tag, span }) = table.tag.as_ref().filter(|tag| tag.value == field.name) {
        let message = format!("`{}` is the attribute that holds the entity of an item", field.name);
        return Some(finding(field, message).also(*span, format!("`tag {tag}`")));
    }
    let keys = entity.key.iter().chain(&entity.indexes);
    let filled = keys
        .flat_map(EntityKey::parts)
        .find(|part| part.attribute == field.name && !is_just(entity, &part.template.parts, field))?;
    let message = format!("`{}` is a key attribute, which {} fills with a template", field.name, entity.name);
    Some(finding(field, message).also(filled.template.span, "the template is written there"))
}

fn is_just(entity: &Entity, parts: &[Part], field: &Field) -> bool {
    matches!(parts, [Part::Field { field: only, .. }] if entity.field(*only).name == field.name)
}

fn finding(field: &Field, message: String) -> Diagnostic {
    Diagnostic::warning(RULE.code, field.name_span, message)
        .label("one of the two overwrites the other")
        .help("give the field another name")
}

/// Reports names that two entities of a table store as different types.
fn two_types(entities: &[&Entity], findings: &mut Vec<Diagnostic>) {
    let mut first: BTreeMap<&str, (&Entity, &Field, &str)> = BTreeMap::new();
    for entity in entities {
        for field in &entity.fields {
            let Some(stored) = stored(&field.kind) else { continue };
            let (other, earlier, before) = *first.entry(&field.name).or_insert((entity, field, stored));
            if before != stored {
                findings.push(
                    Diagnostic::warning(
                        RULE.code,
                        field.name_span,
                        format!("`{}` is {stored} in {} and {before} in {}", field.name, entity.name, other.name),
                    )
                    .also(earlier.name_span, "the other type")
                    .help("rename one of them: filters, indexes and exports see both"),
                );
            }
        }
    }
}

/// Reports choices that have fewer values than a choice of the same name in another table.
fn fewer_values(model: &Model, findings: &mut Vec<Diagnostic>) {
    let choices: Vec<Choice<'_>> = model.entities.iter().flat_map(choices).collect();
    for choice in &choices {
        let is_wider = |other: &&Choice<'_>| {
            other.entity.table != choice.entity.table
                && other.field.name == choice.field.name
                && other.values.len() > choice.values.len()
                && choice.values.iter().all(|value| other.values.contains(value))
        };
        if let Some(wider) = choices.iter().find(is_wider) {
            findings.push(lacking(choice, wider));
        }
    }
}

/// A field whose type is a choice of strings.
struct Choice<'a> {
    entity: &'a Entity,
    field: &'a Field,
    values: &'a [String],
}

fn choices(entity: &Entity) -> impl Iterator<Item = Choice<'_>> {
    entity.fields.iter().filter_map(move |field| match &field.kind {
        Type::OneOf(values) => Some(Choice { entity, field, values }),
        _ => None,
    })
}

fn lacking(choice: &Choice<'_>, wider: &Choice<'_>) -> Diagnostic {
    let name = &choice.field.name;
    let lacks: Vec<String> = wider
        .values
        .iter()
        .filter(|value| !choice.values.contains(value))
        .map(|value| format!("\"{value}\""))
        .collect();
    let message =
        format!("`{name}` can be {} in {}, and not in {}", lacks.join(" or "), wider.entity.name, choice.entity.name);
    Diagnostic::warning(RULE.code, choice.field.type_span, message)
        .label("fewer values")
        .also(wider.field.type_span, "more values")
        .help("give both the same values, or rename one of them if it is a different choice")
}

fn stored(kind: &Type) -> Option<&'static str> {
    Some(match kind.resolved() {
        kind if kind.is_text() => "a text",
        kind if kind.is_numeric() => "a number",
        kind if kind.is_bool() => "a boolean",
        kind if kind.is_bytes() => "bytes",
        Type::List(..) => "a list",
        Type::Map(..) | Type::Record(_) => "a map",
        Type::Set(..) => "a set",
        _ => return None,
    })
}
