//! Reads a stored value as its type.

use std::borrow::Cow;

use keyform_core::{AttributeValue, Attributes};

use crate::bind::when_absent;
use crate::schema::{Field, Type};

use super::Misfit;

/// Converts a stored value to the form that its type stores; returns it unchanged if it has that form already.
///
/// # Errors
///
/// Returns the part of the value that has no meaning as its type.
pub fn read(value: AttributeValue, kind: &Type) -> Result<AttributeValue, Misfit> {
    let misfit = || Misfit::of(kind);
    match (kind.resolved(), value) {
        (Type::Json | Type::Unknown, value) => Ok(value),
        (Type::Scalar(scalar, bounds), value) => match scalar.reading(*bounds, &value).ok_or_else(misfit)? {
            Cow::Owned(other) => Ok(other),
            Cow::Borrowed(_) => Ok(value),
        },
        (Type::OneOf(texts), AttributeValue::S(text)) if texts.contains(&text) => Ok(AttributeValue::S(text)),
        (Type::OneOf(texts), AttributeValue::N(number)) if texts.contains(&number.to_string()) => {
            Ok(number.to_string().into())
        }
        (Type::List(of, _), value) => list(elements(value).ok_or_else(misfit)?, of).map(AttributeValue::L),
        (Type::Set(of, _), value) => {
            let parts = list(elements(value).ok_or_else(misfit)?, of)?;
            set(parts).ok_or_else(misfit)
        }
        (Type::Map(of, _), value) => {
            let part = |(name, part): (String, AttributeValue)| match read(part, of) {
                Ok(part) => Ok((name, part)),
                Err(misfit) => Err(misfit.within(&name)),
            };
            let parts = members(value).ok_or_else(misfit)?.into_iter().map(part);
            Ok(AttributeValue::M(parts.collect::<Result<_, _>>()?))
        }
        (Type::Record(fields), value) => record(members(value).ok_or_else(misfit)?, fields).map(AttributeValue::M),
        (Type::OneOf(_) | Type::Ref { .. } | Type::Copy { .. }, _) => Err(misfit()),
    }
}

/// Returns the elements of a list, of a set, or of a list as JSON text.
fn elements(value: AttributeValue) -> Option<Vec<AttributeValue>> {
    Some(match value {
        AttributeValue::L(parts) => parts,
        AttributeValue::Ss(parts) => parts.into_iter().map(AttributeValue::S).collect(),
        AttributeValue::Ns(parts) => parts.into_iter().map(AttributeValue::N).collect(),
        AttributeValue::Bs(parts) => parts.into_iter().map(AttributeValue::B).collect(),
        AttributeValue::S(text) => match from_json(serde_json::from_str(&text).ok()?)? {
            AttributeValue::L(parts) => parts,
            _ => return None,
        },
        _ => return None,
    })
}

/// Returns the members of a map, or of an object as JSON text. A program that has no maps stores an empty list for an
/// empty one.
fn members(value: AttributeValue) -> Option<Attributes> {
    match value {
        AttributeValue::L(parts) if parts.is_empty() => Some(Attributes::new()),
        AttributeValue::M(parts) => Some(parts),
        AttributeValue::S(text) => match from_json(serde_json::from_str(&text).ok()?)? {
            AttributeValue::M(parts) => Some(parts),
            _ => None,
        },
        _ => None,
    }
}

fn from_json(value: serde_json::Value) -> Option<AttributeValue> {
    Some(match value {
        serde_json::Value::Null => AttributeValue::Null,
        serde_json::Value::Bool(value) => value.into(),
        serde_json::Value::Number(number) => AttributeValue::N(number.to_string().parse().ok()?),
        serde_json::Value::String(text) => text.into(),
        serde_json::Value::Array(parts) => AttributeValue::L(parts.into_iter().map(from_json).collect::<Option<_>>()?),
        serde_json::Value::Object(parts) => {
            let part = |(name, part)| Some((name, from_json(part)?));
            AttributeValue::M(parts.into_iter().map(part).collect::<Option<_>>()?)
        }
    })
}

fn list(parts: Vec<AttributeValue>, of: &Type) -> Result<Vec<AttributeValue>, Misfit> {
    let part = |(place, part)| read(part, of).map_err(|misfit| misfit.within(&format!("[{place}]")));
    parts.into_iter().enumerate().map(part).collect()
}

/// Builds a set of elements of one type; `None` if the elements cannot be in a set. An empty one has no element type.
fn set(parts: Vec<AttributeValue>) -> Option<AttributeValue> {
    match parts.first() {
        None => Some(AttributeValue::Ss(Default::default())),
        Some(AttributeValue::S(_)) => parts.into_iter().map(text).collect::<Option<_>>().map(AttributeValue::Ss),
        Some(AttributeValue::N(_)) => {
            let number = |part| if let AttributeValue::N(number) = part { Some(number) } else { None };
            parts.into_iter().map(number).collect::<Option<_>>().map(AttributeValue::Ns)
        }
        Some(AttributeValue::B(_)) => {
            let bytes = |part| if let AttributeValue::B(bytes) = part { Some(bytes) } else { None };
            parts.into_iter().map(bytes).collect::<Option<_>>().map(AttributeValue::Bs)
        }
        Some(_) => None,
    }
}

fn text(part: AttributeValue) -> Option<String> {
    if let AttributeValue::S(text) = part { Some(text) } else { None }
}

/// Reads the fields of a record. Drops members that the record does not have, as attributes of an item that are no
/// fields.
fn record(mut parts: Attributes, fields: &[Field]) -> Result<Attributes, Misfit> {
    let mut record = Attributes::new();
    for field in fields {
        if let Some(value) = whole_field(parts.remove(&field.name), field)? {
            record.insert(field.name.clone(), value);
        }
    }
    Ok(record)
}

/// Reads a field of a record: NULL in an optional one is absent, and absence stands for the constant default.
fn whole_field(value: Option<AttributeValue>, field: &Field) -> Result<Option<AttributeValue>, Misfit> {
    match value {
        Some(AttributeValue::Null) if field.null => Ok(Some(AttributeValue::Null)),
        Some(AttributeValue::Null) if field.optional => Ok(None),
        Some(value) => read(value, &field.kind).map(Some).map_err(|misfit| misfit.within(&field.name)),
        None => match when_absent(field) {
            Some(default) => Ok(Some(default)),
            None if field.null => Ok(Some(AttributeValue::Null)),
            None if field.must_have_value() => Err(Misfit::missing(&field.name)),
            None => Ok(None),
        },
    }
}
