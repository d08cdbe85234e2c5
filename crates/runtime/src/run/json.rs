//! Converts between attribute values and plain JSON or command-line text, by the types of a model.
//!
//! Numbers keep their digits: one that JSON parsers would round becomes a string. Sets become arrays, binary values
//! base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keyform_core::{AttributeValue, Attributes};
use serde_json::{Map, Value};

use keyform_language::schema::{Model, Type};

use super::{Answer, Found};

/// Largest integer that every JSON parser keeps exactly.
const SAFE_INTEGER_MAX: i64 = (1 << 53) - 1;

/// Converts an item to a JSON object without its secret fields.
#[must_use]
pub fn found(model: &Model, found: &Found) -> Value {
    let entity = model.entity(found.entity);
    let is_secret =
        |name: &str| entity.field_named(name).is_some_and(|field| entity.field(field).flags.secret.is_some());
    let shown = found.fields.iter().filter(|(name, _)| !is_secret(name));
    let kind = |name: &str| entity.field_named(name).map_or(&Type::Unknown, |field| &entity.field(field).kind);
    Value::Object(shown.map(|(name, value)| (name.clone(), shown_json(value, kind(name)))).collect())
}

/// Converts a value to plain JSON without the secret fields of nested records.
fn shown_json(value: &AttributeValue, kind: &Type) -> Value {
    match (kind.resolved(), value) {
        (Type::Record(fields), AttributeValue::M(parts)) => {
            let of = |name: &str| fields.iter().find(|field| field.name == name);
            let shown = parts.iter().filter(|(name, _)| of(name).is_none_or(|field| field.flags.secret.is_none()));
            let part = |(name, part): (&String, &AttributeValue)| {
                (name.clone(), shown_json(part, of(name).map_or(&Type::Unknown, |field| &field.kind)))
            };
            Value::Object(shown.map(part).collect())
        }
        (Type::List(of, _), AttributeValue::L(parts)) => parts.iter().map(|part| shown_json(part, of)).collect(),
        (Type::Map(of, _), AttributeValue::M(parts)) => {
            Value::Object(parts.iter().map(|(name, part)| (name.clone(), shown_json(part, of))).collect())
        }
        _ => to_json(value),
    }
}

/// Converts an answer to JSON: an item or null, `{"items": …, "cursor": …}`, `{"count": …}`, or an object with one
/// array per entity. A list from which broken items were left out also has their number, `broken`.
#[must_use]
pub fn answer(model: &Model, answer: &Answer) -> Value {
    match answer {
        Answer::One(item) => item.as_ref().map_or(Value::Null, |item| found(model, item)),
        Answer::Page { items, cursor, broken } => {
            let mut page = Map::new();
            page.insert("items".to_owned(), items.iter().map(|item| found(model, item)).collect());
            page.insert("cursor".to_owned(), cursor.clone().map_or(Value::Null, Value::String));
            Value::Object(with_broken(page, broken.len()))
        }
        Answer::Count(count) => serde_json::json!({ "count": count }),
        Answer::Collection { parts, broken } => {
            let part = |(entity, items): &(keyform_language::schema::EntityId, Vec<Found>)| {
                let items: Vec<Value> = items.iter().map(|item| found(model, item)).collect();
                (model.entity(*entity).name.clone(), Value::Array(items))
            };
            Value::Object(with_broken(parts.iter().map(part).collect(), broken.len()))
        }
    }
}

/// Adds the number of broken items, if there are any.
fn with_broken(mut answer: Map<String, Value>, broken: usize) -> Map<String, Value> {
    if broken > 0 {
        answer.insert("broken".to_owned(), broken.into());
    }
    answer
}

/// Converts a value to plain JSON.
#[must_use]
pub fn to_json(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => Value::String(text.clone()),
        AttributeValue::N(number) => match number.to_i64() {
            Some(whole) if whole.abs() <= SAFE_INTEGER_MAX => Value::Number(whole.into()),
            _ => fraction(&number.to_string()),
        },
        AttributeValue::B(bytes) => Value::String(STANDARD.encode(bytes)),
        AttributeValue::Bool(value) => Value::Bool(*value),
        AttributeValue::Null => Value::Null,
        AttributeValue::L(parts) => parts.iter().map(to_json).collect(),
        AttributeValue::M(parts) => {
            Value::Object(parts.iter().map(|(name, part)| (name.clone(), to_json(part))).collect())
        }
        AttributeValue::Ss(parts) => parts.iter().map(|part| Value::String(part.clone())).collect(),
        AttributeValue::Ns(parts) => parts.iter().map(|part| to_json(&AttributeValue::N(*part))).collect(),
        AttributeValue::Bs(parts) => parts.iter().map(|part| Value::String(STANDARD.encode(part))).collect(),
    }
}

/// Returns a number if that loses no digits, otherwise a string.
fn fraction(digits: &str) -> Value {
    let number = digits.parse::<f64>().ok().and_then(serde_json::Number::from_f64);
    match number {
        Some(number) if number.to_string() == digits => Value::Number(number),
        _ => Value::String(digits.to_owned()),
    }
}

/// Converts JSON to a value of a type; `None` if it does not have that type.
#[must_use]
pub fn from_json(value: &Value, kind: &Type) -> Option<AttributeValue> {
    Some(match (kind.resolved(), value) {
        (kind, Value::String(text)) if kind.is_numeric() => AttributeValue::N(text.parse().ok()?),
        (kind, Value::Number(number)) if kind.is_numeric() => AttributeValue::N(number.to_string().parse().ok()?),
        (kind, Value::String(text)) if kind.is_bytes() => AttributeValue::B(STANDARD.decode(text).ok()?),
        (kind, Value::Bool(value)) if kind.is_bool() => AttributeValue::Bool(*value),
        (kind, Value::String(text)) if kind.is_text() => AttributeValue::S(text.clone()),
        (Type::List(of, _), Value::Array(parts)) => {
            AttributeValue::L(parts.iter().map(|part| from_json(part, of)).collect::<Option<_>>()?)
        }
        (Type::Set(of, _), Value::Array(parts)) => {
            set(parts.iter().map(|part| from_json(part, of)).collect::<Option<_>>()?)?
        }
        (Type::Map(of, _), Value::Object(parts)) => {
            let entry = |(name, part): (&String, &Value)| Some((name.clone(), from_json(part, of)?));
            AttributeValue::M(parts.iter().map(entry).collect::<Option<_>>()?)
        }
        (Type::Record(fields), Value::Object(parts)) => {
            let mut record = Attributes::new();
            for (name, part) in parts {
                let field = fields.iter().find(|field| field.name == *name)?;
                match part {
                    Value::Null if field.null => drop(record.insert(name.clone(), AttributeValue::Null)),
                    // Same as leaving the field out, as in all inputs.
                    Value::Null => {}
                    part => drop(record.insert(name.clone(), from_json(part, &field.kind)?)),
                }
            }
            AttributeValue::M(record)
        }
        (Type::Json | Type::Unknown, value) => any(value)?,
        _ => return None,
    })
}

/// Builds a set of elements of one type. The store has no empty sets; storing an empty one stores nothing.
fn set(parts: Vec<AttributeValue>) -> Option<AttributeValue> {
    let mut texts = std::collections::BTreeSet::new();
    let mut numbers = std::collections::BTreeSet::new();
    let mut binaries = std::collections::BTreeSet::new();
    for part in parts {
        match part {
            AttributeValue::S(text) => drop(texts.insert(text)),
            AttributeValue::N(number) => drop(numbers.insert(number)),
            AttributeValue::B(bytes) => drop(binaries.insert(bytes)),
            _ => return None,
        }
    }
    match (texts.is_empty(), numbers.is_empty(), binaries.is_empty()) {
        (false, true, true) => Some(AttributeValue::Ss(texts)),
        (true, false, true) => Some(AttributeValue::Ns(numbers)),
        (true, true, false) => Some(AttributeValue::Bs(binaries)),
        (true, true, true) => Some(AttributeValue::Ss(texts)),
        _ => None,
    }
}

/// Converts JSON to a value without a type.
pub(super) fn any(value: &Value) -> Option<AttributeValue> {
    Some(match value {
        Value::Null => AttributeValue::Null,
        Value::Bool(value) => AttributeValue::Bool(*value),
        Value::Number(number) => AttributeValue::N(number.to_string().parse().ok()?),
        Value::String(text) => AttributeValue::S(text.clone()),
        Value::Array(parts) => AttributeValue::L(parts.iter().map(any).collect::<Option<_>>()?),
        Value::Object(parts) => {
            let entries = parts.iter().map(|(name, part)| Some((name.clone(), any(part)?)));
            AttributeValue::M(entries.collect::<Option<Attributes>>()?)
        }
    })
}

/// Parses a command-line argument: strings as they are, numbers, `true`, and JSON for everything else.
#[must_use]
pub fn from_text(text: &str, kind: &Type) -> Option<AttributeValue> {
    match kind.resolved() {
        kind if kind.is_text() || kind.is_numeric() || kind.is_bytes() => {
            from_json(&Value::String(text.to_owned()), kind)
        }
        Type::Unknown => Some(AttributeValue::S(text.to_owned())),
        kind => from_json(&serde_json::from_str(text).ok()?, kind),
    }
}
