//! JSON Schema of the model's types. Must match the encoding of `keyform_runtime::run::json`.

use keyform_language::document::ast::Bounds;
use keyform_language::schema::{Entity, Field, Type};
use serde_json::{Map, Value, json};

/// Returns the schema of an entity without its secret fields.
pub(super) fn entity(entity: &Entity) -> Value {
    let mut schema = part_of(entity, &|_| true);
    describe(&mut schema, &entity.docs);
    schema
}

/// Returns the schema of the selected non-secret fields.
pub(super) fn part_of(entity: &Entity, wanted: &dyn Fn(&str) -> bool) -> Value {
    let fields = entity.fields.iter().filter(|field| field.flags.secret.is_none() && wanted(&field.name));
    object(&fields.collect::<Vec<_>>())
}

fn object(fields: &[&Field]) -> Value {
    let properties: Map<String, Value> = fields.iter().map(|field| (field.name.clone(), self::field(field))).collect();
    let required = fields.iter().filter(|field| field.must_have_value()).map(|field| field.name.as_str());
    let required: Vec<&str> = required.collect();
    let mut object = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

fn field(field: &Field) -> Value {
    let mut schema = match field.flags.version {
        Some(_) => json!({ "type": "integer", "format": "int64" }),
        None => of(&field.kind),
    };
    if field.null {
        schema = json!({ "anyOf": [schema, { "type": "null" }] });
    }
    describe(&mut schema, &field.docs);
    schema
}

fn describe(schema: &mut Value, docs: &[String]) {
    let text = super::text(docs);
    if !text.is_empty() {
        schema["description"] = text.into();
    }
}

/// Returns the schema of a type.
pub(super) fn of(kind: &Type) -> Value {
    match kind.resolved() {
        Type::String(bounds) => bounded(json!({ "type": "string" }), *bounds, "minLength", "maxLength"),
        Type::Slug(bounds) => {
            let slug = json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]*$" });
            bounded(slug, *bounds, "minLength", "maxLength")
        }
        Type::Int(bounds) if is_small(*bounds) => {
            bounded(json!({ "type": "integer", "format": "int64" }), *bounds, "minimum", "maximum")
        }
        // Integers beyond 2^53 are strings, because JSON numbers would lose digits.
        Type::Int(bounds) => bounded(whole(), *bounds, "minimum", "maximum"),
        Type::Number => json!({ "type": ["number", "string"], "pattern": "^-?[0-9]+(\\.[0-9]+)?$" }),
        Type::Money => whole(),
        Type::Bool => json!({ "type": "boolean" }),
        Type::Binary(_) => json!({ "type": "string", "contentEncoding": "base64" }),
        Type::Ulid => json!({ "type": "string", "pattern": "^[0-9A-HJKMNP-TV-Z]{26}$" }),
        Type::Uuid => json!({ "type": "string", "format": "uuid" }),
        Type::Email => json!({ "type": "string", "format": "email" }),
        Type::Url => json!({ "type": "string", "format": "uri" }),
        Type::Timestamp | Type::Datetime => json!({ "type": "string", "format": "date-time" }),
        Type::Epoch | Type::EpochMs => json!({ "type": "integer", "format": "int64" }),
        Type::Date => json!({ "type": "string", "format": "date" }),
        Type::OneOf(texts) => json!({ "type": "string", "enum": texts }),
        Type::List(of, bounds) => {
            bounded(json!({ "type": "array", "items": self::of(of) }), *bounds, "minItems", "maxItems")
        }
        Type::Set(of, bounds) => {
            let set = json!({ "type": "array", "uniqueItems": true, "minItems": 1, "items": self::of(of) });
            bounded(set, *bounds, "minItems", "maxItems")
        }
        Type::Map(of, bounds) => {
            let map = json!({ "type": "object", "additionalProperties": self::of(of) });
            bounded(map, *bounds, "minProperties", "maxProperties")
        }
        Type::Record(fields) => object(&fields.iter().collect::<Vec<_>>()),
        Type::Json | Type::Unknown | Type::Ref { .. } | Type::Copy { .. } => json!({}),
    }
}

fn whole() -> Value {
    json!({ "type": ["integer", "string"], "pattern": "^-?[0-9]+$" })
}

/// Returns whether all values in the bounds are exact in an IEEE 754 double (below 2^53).
fn is_small(bounds: Bounds) -> bool {
    let is_safe = |bound: Option<i64>| bound.is_some_and(|bound| bound.abs() < 1 << 53);
    is_safe(bounds.min) && is_safe(bounds.max)
}

/// Returns whether the type is written as JSON in a query: anything but scalars and lists or sets of scalars.
pub(super) fn is_json_in_query(kind: &Type) -> bool {
    match kind.resolved() {
        Type::List(of, _) => matches!(of.resolved(), Type::List(..) | Type::Set(..)) || is_json_in_query(of),
        Type::Map(..) | Type::Record(_) | Type::Json => true,
        _ => false,
    }
}

fn bounded(mut schema: Value, bounds: Bounds, least: &str, most: &str) -> Value {
    // A minimum length of 0 is implied; a minimum value of 0 is not.
    if let Some(min) = bounds.min.filter(|min| *min != 0 || least == "minimum") {
        schema[least] = min.into();
    }
    if let Some(max) = bounds.max {
        schema[most] = max.into();
    }
    schema
}

/// Returns an example value for the document.
pub(super) fn example(kind: &Type) -> Value {
    match kind.resolved() {
        Type::String(bounds) | Type::Slug(bounds) => sized("example", *bounds).into(),
        Type::Int(bounds) => bounds.min.or(bounds.max.filter(|max| *max < 1)).unwrap_or(1).into(),
        Type::Number | Type::Money => 1.into(),
        Type::Bool => true.into(),
        Type::Binary(_) => "ZXhhbXBsZQ==".into(),
        Type::Ulid => "01KKP2T8SN0000000000000000".into(),
        Type::Uuid => "6f9619ff-8b86-4011-b42d-00c04fc964ff".into(),
        Type::Email => "ada@example.com".into(),
        Type::Url => "https://example.com/".into(),
        Type::Timestamp | Type::Datetime => "2026-10-31T12:00:00.000Z".into(),
        Type::Epoch => 1_793_448_000.into(),
        Type::EpochMs => 1_793_448_000_000_i64.into(),
        Type::Date => "2026-10-31".into(),
        Type::OneOf(texts) => texts.first().cloned().unwrap_or_default().into(),
        Type::List(of, _) | Type::Set(of, _) => json!([example(of)]),
        Type::Map(of, _) => json!({ "example": example(of) }),
        Type::Record(fields) => {
            let needed = fields.iter().filter(|field| !field.optional);
            Value::Object(needed.map(|field| (field.name.clone(), example(&field.kind))).collect())
        }
        Type::Json | Type::Unknown | Type::Ref { .. } | Type::Copy { .. } => "example".into(),
    }
}

/// Repeats or truncates the word to satisfy the bounds.
fn sized(word: &str, bounds: Bounds) -> String {
    let count = |bound: Option<i64>, none: usize| bound.and_then(|bound| usize::try_from(bound).ok()).unwrap_or(none);
    let (least, most) = (count(bounds.min, 0), count(bounds.max, usize::MAX));
    word.chars().cycle().take(word.len().clamp(least, most.max(least))).collect()
}
