//! JSON Schema of the model's types. Must match the encoding of `keyform_runtime::run::json`.

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
        Type::Scalar(scalar, bounds) => scalar.json_schema(*bounds),
        Type::OneOf(texts) => json!({ "type": "string", "enum": texts }),
        Type::List(of, bounds) => {
            bounds.in_schema(json!({ "type": "array", "items": self::of(of) }), "minItems", "maxItems")
        }
        Type::Set(of, bounds) => {
            let set = json!({ "type": "array", "uniqueItems": true, "minItems": 1, "items": self::of(of) });
            bounds.in_schema(set, "minItems", "maxItems")
        }
        Type::Map(of, bounds) => {
            let map = json!({ "type": "object", "additionalProperties": self::of(of) });
            bounds.in_schema(map, "minProperties", "maxProperties")
        }
        Type::Record(fields) => object(&fields.iter().collect::<Vec<_>>()),
        Type::Json | Type::Unknown | Type::Ref { .. } | Type::Copy { .. } => json!({}),
    }
}

/// Returns whether the type is written as JSON in a query: anything but scalars and lists or sets of scalars.
pub(super) fn is_json_in_query(kind: &Type) -> bool {
    match kind.resolved() {
        Type::List(of, _) => matches!(of.resolved(), Type::List(..) | Type::Set(..)) || is_json_in_query(of),
        Type::Map(..) | Type::Record(_) | Type::Json => true,
        _ => false,
    }
}

/// Returns an example value for the document.
pub(super) fn example(kind: &Type) -> Value {
    match kind.resolved() {
        Type::Scalar(scalar, bounds) => scalar.json_example(*bounds),
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
