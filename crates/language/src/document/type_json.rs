//! JSON form of a type: `"ulid"`, `{"string": {"max": 32}}`, `{"list": ["ulid", {}]}`.
//!
//! Written by hand instead of derived, because the names come from the list of scalars.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{EnumAccess, Error as _, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ast::{Field, Name, Text, Type, TypeKind, TypeRef};
use crate::scalar::{Bounds, Counted, Scalar};

/// Names of all types: the scalars and the others.
static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let scalars = Scalar::ALL.iter().map(|scalar| scalar.json_name());
    scalars.chain(["oneOf", "list", "map", "set", "json", "record", "ref", "copy", "unknown"]).collect()
});

impl Serialize for TypeKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = match self {
            Self::Type(kind) => kind,
            Self::Unknown(word) => return named(serializer, "unknown", word),
        };
        match kind {
            Type::Scalar(scalar, bounds) if scalar.counted().is_some() => named(serializer, scalar.json_name(), bounds),
            Type::Scalar(scalar, _) => serializer.serialize_unit_variant("Type", 0, scalar.json_name()),
            Type::OneOf(texts) => named(serializer, "oneOf", texts),
            Type::List(of, bounds) => named(serializer, "list", &(of, bounds)),
            Type::Map(of, bounds) => named(serializer, "map", &(of, bounds)),
            Type::Set(of, bounds) => named(serializer, "set", &(of, bounds)),
            Type::Json => serializer.serialize_unit_variant("Type", 0, "json"),
            Type::Record(fields) => named(serializer, "record", fields),
            Type::Ref { entity, field, plain: () } => named(serializer, "ref", &(entity, field)),
            Type::Copy { entity, field, plain: () } => named(serializer, "copy", &(entity, field)),
            Type::Unknown => named(serializer, "unknown", ""),
        }
    }
}

/// Serializes `{"name": content}`.
fn named<S: Serializer, T: Serialize + ?Sized>(
    serializer: S,
    name: &'static str,
    content: &T,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_newtype_variant("Type", 0, name, content)
}

impl<'de> Deserialize<'de> for TypeKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("Type", &NAMES, TypeVisitor)
    }
}

struct TypeVisitor;

impl<'de> Visitor<'de> for TypeVisitor {
    type Value = TypeKind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("enum Type")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<TypeKind, A::Error> {
        let (name, content) = data.variant::<String>()?;
        if let Some(scalar) = Scalar::ALL.iter().find(|scalar| scalar.json_name() == name) {
            return scalar_with(*scalar, content).map(TypeKind::Type);
        }
        Ok(TypeKind::Type(match name.as_str() {
            "oneOf" => Type::OneOf(content.newtype_variant()?),
            "list" => pair(content, Type::List)?,
            "map" => pair(content, Type::Map)?,
            "set" => pair(content, Type::Set)?,
            "json" => content.unit_variant().map(|()| Type::Json)?,
            "record" => Type::Record(content.newtype_variant()?),
            "ref" => pair(content, |entity, field| Type::Ref { entity, field, plain: () })?,
            "copy" => pair(content, |entity, field| Type::Copy { entity, field, plain: () })?,
            "unknown" => return content.newtype_variant().map(TypeKind::Unknown),
            _ => return Err(A::Error::unknown_variant(&name, &NAMES)),
        }))
    }
}

fn scalar_with<'de, A: VariantAccess<'de>>(scalar: Scalar, content: A) -> Result<Type, A::Error> {
    let bounds = match scalar.counted() {
        Some(_) => content.newtype_variant()?,
        None => content.unit_variant().map(|()| Bounds::NONE)?,
    };
    Ok(Type::Scalar(scalar, bounds))
}

fn pair<'de, A: VariantAccess<'de>, X: Deserialize<'de>, Y: Deserialize<'de>>(
    content: A,
    make: impl FnOnce(X, Y) -> Type,
) -> Result<Type, A::Error> {
    content.newtype_variant().map(|(first, second)| make(first, second))
}

impl JsonSchema for TypeKind {
    fn schema_name() -> Cow<'static, str> {
        "Type".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut forms: Vec<Schema> = Scalar::ALL.iter().map(|scalar| scalar_schema(*scalar, generator)).collect();
        let elements = [generator.subschema_for::<TypeRef>(), generator.subschema_for::<Bounds>()];
        let name = generator.subschema_for::<Name>();
        let fields = [name.clone(), generator.subschema_for::<Option<Name>>()];
        forms.extend([
            object("oneOf", "`\"a\" | \"b\"`", &generator.subschema_for::<Vec<Text>>()),
            object("list", "`list<T>`, `list<T>(..50)`", &tuple(&elements)),
            object("map", "`map<T>`, `map<T>(..50)`", &tuple(&elements)),
            object("set", "`set<T>`, `set<T>(..50)`", &tuple(&elements)),
            json_schema!({ "type": "string", "const": "json", "description": "`json`" }),
            object("record", "`{ nested: fields }`", &generator.subschema_for::<Vec<Field>>()),
            object("ref", "`ref Entity`, `ref Entity.field`", &tuple(&fields)),
            object("copy", "`copy Entity.field`", &tuple(&[name.clone(), name.clone()])),
            object("unknown", "An unknown type, which the parser has reported.", &name),
        ]);
        json_schema!({ "description": "Kind of a type.", "oneOf": forms })
    }
}

fn scalar_schema(scalar: Scalar, generator: &mut SchemaGenerator) -> Schema {
    let (name, keyword) = (scalar.json_name(), scalar.keyword());
    let bounds = match scalar.counted() {
        None => return json_schema!({ "type": "string", "const": name, "description": format!("`{keyword}`") }),
        Some(Counted::Characters) => "(1..32)",
        Some(Counted::Bytes) => "(32)",
        Some(Counted::Value) => "(0..100)",
    };
    object(name, &format!("`{keyword}`, `{keyword}{bounds}`"), &generator.subschema_for::<Bounds>())
}

/// Returns the schema of `{"name": content}`.
fn object(name: &str, description: &str, content: &Schema) -> Schema {
    json_schema!({
        "type": "object",
        "description": description,
        "properties": { name: content },
        "required": [name],
        "additionalProperties": false,
    })
}

/// Returns the schema of an array of two elements.
fn tuple(elements: &[Schema; 2]) -> Schema {
    json_schema!({ "type": "array", "prefixItems": elements, "minItems": 2, "maxItems": 2 })
}
