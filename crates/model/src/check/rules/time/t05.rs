//! T05: one attribute name for two things.

use std::collections::BTreeMap;

use crate::check::{Context, Rule};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::schema::{Entity, EntityKey, Field, Part, Table, TableId, Type};

pub(super) static RULE: Rule = Rule {
    code: Code("T05"),
    severity: Severity::Warning,
    title: "one attribute name for two things",
    page: include_str!("../../../../../../docs/rules/T05.md"),
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
}

/// A field with the name of an attribute that a template or the tag fills.
fn shadows(table: &Table, entity: &Entity, field: &Field) -> Option<Diagnostic> {
    if let Some((tag, span)) = table.tag.as_ref().filter(|(tag, _)| *tag == field.name) {
        let message = format!("`{}` is the attribute that says which entity an item is", field.name);
        return Some(finding(field, message).also(*span, format!("`tag {tag}`")));
    }
    let keys = entity.key.iter().chain(&entity.indexes);
    let filled = keys
        .flat_map(EntityKey::parts)
        .find(|part| part.attribute == field.name && !is_just(entity, &part.template.parts, field))?;
    let message = format!("`{}` is a key attribute, and {} fills it by a template", field.name, entity.name);
    Some(finding(field, message).also(filled.template.span, "this is written there"))
}

fn is_just(entity: &Entity, parts: &[Part], field: &Field) -> bool {
    matches!(parts, [Part::Field { field: only, .. }] if entity.field(*only).name == field.name)
}

fn finding(field: &Field, message: String) -> Diagnostic {
    Diagnostic::warning(RULE.code, field.name_span, message)
        .label("one of the two overwrites the other")
        .help("give the field another name")
}

/// One name, stored as two types.
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
                    .help("give one of them another name: filters, indexes and exports meet both"),
                );
            }
        }
    }
}

fn stored(kind: &Type) -> Option<&'static str> {
    Some(match kind.resolved() {
        kind if kind.is_text() => "a text",
        kind if kind.is_numeric() => "a number",
        Type::Bool => "a truth value",
        Type::Binary(_) => "bytes",
        Type::List(..) => "a list",
        Type::Map(..) | Type::Record(_) => "a map",
        Type::Set(..) => "a set",
        _ => return None,
    })
}
