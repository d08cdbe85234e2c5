//! Sample items; deterministic for a given model.

use serde_json::{Map, Value, json};

use keyform_language::scalar::Stored;
use keyform_language::schema::{Entity, Field, FieldId, Model, Type};
use keyform_language::template::render::{Values, render};
use keyform_language::template::sample;

/// Returns a sample item of an entity; its attributes are ordered as keys, tag and fields.
#[must_use]
pub fn item(model: &Model, entity: &Entity, number: usize) -> Vec<(String, Value)> {
    let values = values(entity, number);
    let mut attributes: Vec<(String, Value)> = Vec::new();
    for part in entity.key.iter().chain(&entity.indexes).flat_map(|key| key.parts()) {
        let known =
            attributes.iter().any(|(name, _)| *name == part.attribute) || entity.field_named(&part.attribute).is_some();
        let text = render(&part.template, |field| &entity.field(field).kind, &values);
        if let Some(text) = text.filter(|_| !known) {
            attributes.push((part.attribute.clone(), Value::String(text)));
        }
    }
    if let Some(tag) = entity.table.and_then(|table| model.table(table).tag.as_ref()) {
        attributes.push((tag.value.clone(), Value::String(entity.tag.clone())));
    }
    let fields = entity.fields.iter().map(|field| (field.name.clone(), value(field, number)));
    attributes.extend(fields);
    attributes
}

/// Returns sample values of an entity's fields, as templates take them.
fn values(entity: &Entity, number: usize) -> Values {
    entity.fields.iter().enumerate().map(|(id, field)| (FieldId(id), sample::value(field, number))).collect()
}

fn value(field: &Field, number: usize) -> Value {
    if field.flags.secret.is_some() || field.flags.encrypted.is_some() {
        return Value::String("•••".to_owned());
    }
    of_type(&field.kind, &field.name, number)
}

fn of_type(kind: &Type, name: &str, number: usize) -> Value {
    let text = || sample::of_type(kind, name, number);
    match kind.resolved() {
        Type::Scalar(scalar, _) => match scalar.stored() {
            Stored::Number => text().parse::<serde_json::Number>().map_or(Value::Null, Value::Number),
            Stored::Bool => Value::Bool(text() == "true"),
            Stored::Text | Stored::Bytes => Value::String(text()),
        },
        Type::List(of, _) | Type::Set(of, _) => json!([of_type(of, singular(name), number)]),
        Type::Map(of, _) => json!({ singular(name): of_type(of, singular(name), number) }),
        Type::Record(fields) => {
            Value::Object(fields.iter().map(|field| (field.name.clone(), value(field, number))).collect::<Map<_, _>>())
        }
        Type::Json | Type::Unknown => json!({}),
        Type::OneOf(_) | Type::Ref { .. } | Type::Copy { .. } => Value::String(text()),
    }
}

fn singular(name: &str) -> &str {
    name.strip_suffix('s').filter(|name| !name.is_empty()).unwrap_or(name)
}

/// Formats an item as JSON with one attribute per line.
#[must_use]
pub fn text(item: &[(String, Value)]) -> String {
    let width = item.iter().map(|(name, _)| name.chars().count() + 3).max().unwrap_or(0);
    let line = |(name, value): &(String, Value)| format!("  {:<width$} {value}", format!("\"{name}\":"));
    format!("{{\n{}\n}}", item.iter().map(line).collect::<Vec<_>>().join(",\n"))
}
