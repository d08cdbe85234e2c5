//! Converts values to their types and renders keys.

use std::borrow::Cow;

use keyform_core::{AttributeValue, Number};

use crate::document::ast::KeyType;
use crate::scalar::civil;
use crate::schema::{Format, Type};
use crate::template::render;

use super::BindError;
use super::constant::when_absent;

/// A value before conversion to a type. A moment, for example, becomes text or a number depending on the type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Computed {
    /// A plain value.
    Value(AttributeValue),
    /// A moment in milliseconds since 1970.
    Moment(i64),
    /// A duration in seconds.
    Duration(i64),
    /// Absent.
    None,
}

/// Converts a computed value for storage in a field of this type; `None` if it is absent.
pub(super) fn stored(value: Computed, kind: &Type) -> Result<Option<AttributeValue>, BindError> {
    Ok(match value {
        Computed::None => None,
        Computed::Duration(seconds) => Some(seconds.into()),
        Computed::Moment(millis) => Some(moment(millis, kind)),
        Computed::Value(value) => fitted(value, kind),
    })
}

/// Formats a moment as its type stores it; as a timestamp if the type is not a time.
pub(super) fn moment(millis: i64, kind: &Type) -> AttributeValue {
    match kind.time() {
        Some(time) if kind.is_numeric() => number(&(time.write)(millis)),
        Some(time) => (time.write)(millis).into(),
        None => civil::timestamp(millis).into(),
    }
}

fn number(text: &str) -> AttributeValue {
    AttributeValue::N(text.parse::<Number>().unwrap_or_else(|_| Number::from(0)))
}

/// Converts a value to its type, cloning it only if the conversion may change it.
pub(super) fn fitting<'a>(value: &'a AttributeValue, kind: &Type) -> Option<Cow<'a, AttributeValue>> {
    if is_adapted(kind) { fitted(value.clone(), kind).map(Cow::Owned) } else { Some(Cow::Borrowed(value)) }
}

/// Converts a value to its type: trims and lower-cases e-mail addresses and turns lists into sets, also inside lists,
/// maps and records. Returns `None` for an empty set, and fills the fields of a record with their defaults or NULL.
pub(super) fn fitted(value: AttributeValue, kind: &Type) -> Option<AttributeValue> {
    if is_adapted(kind) { changed(value, kind.resolved()) } else { Some(value) }
}

/// Returns true if [`fitted`] may change values of the type.
fn is_adapted(kind: &Type) -> bool {
    match kind.resolved() {
        Type::Scalar(scalar, _) => scalar.normalize().is_some(),
        Type::Set(..) | Type::Record(_) => true,
        Type::List(of, _) | Type::Map(of, _) => is_adapted(of),
        Type::OneOf(_) | Type::Json | Type::Ref { .. } | Type::Copy { .. } | Type::Unknown => false,
    }
}

fn changed(value: AttributeValue, kind: &Type) -> Option<AttributeValue> {
    match (kind, value) {
        (Type::Scalar(scalar, _), AttributeValue::S(text)) => {
            Some(scalar.normalize().map_or_else(|| text.clone(), |normalize| normalize(&text)).into())
        }
        (Type::Set(of, _), AttributeValue::L(parts)) => {
            set(parts.into_iter().filter_map(|part| fitted(part, of)).collect())
        }
        (Type::Set(of, _), AttributeValue::Ss(parts)) => {
            set(parts.into_iter().filter_map(|part| fitted(part.into(), of)).collect())
        }
        (Type::Set(of, _), value @ (AttributeValue::S(_) | AttributeValue::N(_) | AttributeValue::B(_))) => {
            set(vec![fitted(value, of)?])
        }
        (Type::List(of, _), AttributeValue::L(parts)) => {
            Some(AttributeValue::L(parts.into_iter().filter_map(|part| fitted(part, of)).collect()))
        }
        (Type::Map(of, _), AttributeValue::M(parts)) => {
            let part = |(name, part): (String, AttributeValue)| Some((name, fitted(part, of)?));
            Some(AttributeValue::M(parts.into_iter().filter_map(part).collect()))
        }
        (Type::Record(fields), AttributeValue::M(mut parts)) => {
            for field in fields {
                let part = parts.remove(&field.name).and_then(|part| fitted(part, &field.kind));
                let part = part.or_else(|| when_absent(field));
                if let Some(part) = part.or(field.null.then_some(AttributeValue::Null)) {
                    parts.insert(field.name.clone(), part);
                }
            }
            Some(AttributeValue::M(parts))
        }
        (_, value) => Some(value),
    }
}

/// Builds a set; `None` if it would be empty.
pub(super) fn set(parts: Vec<AttributeValue>) -> Option<AttributeValue> {
    let first = parts.first()?.clone();
    Some(match first {
        AttributeValue::N(_) => AttributeValue::Ns(
            parts
                .into_iter()
                .filter_map(|part| if let AttributeValue::N(number) = part { Some(number) } else { None })
                .collect(),
        ),
        AttributeValue::B(_) => AttributeValue::Bs(
            parts
                .into_iter()
                .filter_map(|part| if let AttributeValue::B(bytes) = part { Some(bytes) } else { None })
                .collect(),
        ),
        _ => AttributeValue::Ss(
            parts
                .into_iter()
                .filter_map(|part| if let AttributeValue::S(text) = part { Some(text) } else { None })
                .collect(),
        ),
    })
}

/// Initial capacity that fits most keys without reallocation.
const KEY_BYTES_USUAL: usize = 64;

/// Builder for the text of a key attribute.
pub(super) struct KeyText(String);

impl KeyText {
    /// Creates an empty key text.
    pub(super) fn new() -> Self {
        Self(String::with_capacity(KEY_BYTES_USUAL))
    }

    pub(super) fn push_text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// Appends a value in a format.
    pub(super) fn push_value(&mut self, value: &AttributeValue, kind: &Type, format: Format) -> Result<(), BindError> {
        if let (AttributeValue::S(plain), Format::Plain) = (value, format) {
            self.0.push_str(plain);
            return Ok(());
        }
        let plain = plain(value).ok_or_else(|| BindError::WrongValue(format!("{value:?}")))?;
        let written = render::written(kind, format, &plain);
        self.0.push_str(&written.ok_or_else(|| BindError::WrongValue(format!("`{plain}`")))?);
        Ok(())
    }

    /// Converts the text to a key attribute of this type.
    pub(super) fn value(self, kind: KeyType) -> Result<AttributeValue, BindError> {
        let Self(text) = self;
        match kind {
            KeyType::String => Ok(AttributeValue::S(text)),
            KeyType::Binary => Ok(AttributeValue::B(text.into_bytes())),
            KeyType::Number => {
                text.parse::<Number>().map(AttributeValue::N).map_err(|_| BindError::WrongValue(format!("`{text}`")))
            }
        }
    }
}

/// Returns true if a key attribute of this type stores a lone value directly instead of as text.
pub(super) fn is_key_itself(kind: KeyType, format: Format) -> bool {
    matches!((kind, format), (KeyType::Number | KeyType::Binary, Format::Plain))
}

/// Converts a scalar value to text; `None` for other types.
pub(super) fn plain(value: &AttributeValue) -> Option<String> {
    match value {
        AttributeValue::S(text) => Some(text.clone()),
        AttributeValue::N(number) => Some(number.to_string()),
        AttributeValue::Bool(value) => Some(value.to_string()),
        AttributeValue::B(bytes) => String::from_utf8(bytes.clone()).ok(),
        _ => None,
    }
}
