//! Parses key strings back into the fields that they were built from.

use keyform_core::{AttributeValue, Number};

use crate::scalar::Resolution;
use crate::schema::{Field, FieldId, Format, Part, Type};

use super::language::Language;
use super::render::{self, Values};

/// Parses a string by a template; `None` if the template cannot produce it. `known` holds values that other attributes
/// determine. If several readings are possible, returns the first; [`is_injective`](super::injective::is_injective)
/// tells whether there is only one. Leaves out the fields whose format loses their value.
#[must_use]
pub fn parse(parts: &[Part], text: &str, fields: &[Field], known: &Values) -> Option<Vec<(FieldId, String)>> {
    match parts {
        [] => text.is_empty().then(Vec::new),
        [Part::Text(literal), rest @ ..] => parse(rest, text.strip_prefix(literal.as_str())?, fields, known),
        [Part::Field { field, format, .. }, rest @ ..] => {
            let of = fields.get(field.0)?;
            if let Some(value) = known.get(field) {
                let written = render::written(&of.kind, *format, value)?;
                return parse(rest, text.strip_prefix(written.as_str())?, fields, known);
            }
            ends(rest, text).find_map(|end| {
                let (piece, after) = text.split_at_checked(end)?;
                let value = value_of(of, *format, piece)?;
                let mut found = parse(rest, after, fields, known)?;
                found.extend(value.map(|value| (*field, value)));
                Some(found)
            })
        }
        [Part::Unknown { .. }, ..] => None,
    }
}

/// Returns the positions where a field may end: before the next literal, or at the end.
fn ends<'a>(rest: &'a [Part], text: &'a str) -> Box<dyn Iterator<Item = usize> + 'a> {
    match rest {
        [] => Box::new(std::iter::once(text.len())),
        [Part::Text(literal), ..] => Box::new(text.match_indices(literal.as_str()).map(|(at, _)| at)),
        _ => Box::new(text.char_indices().map(|(at, _)| at).chain([text.len()])),
    }
}

/// Parses a piece of a key: `Some(None)` if its value cannot be recovered, `None` if the piece is invalid.
fn value_of(field: &Field, format: Format, piece: &str) -> Option<Option<String>> {
    let kind = &field.kind;
    if matches!(kind.resolved(), Type::Unknown | Type::Json) && format == Format::Plain {
        return Some(Some(piece.to_owned()));
    }
    if format == Format::Hash {
        let digits = piece.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        return (piece.len() == 64 && digits).then_some(None);
    }
    // A generated code has fewer characters than its type allows, and templates rely on that.
    if field.is_generated() && !Language::of_field(field, format)?.holds(piece) {
        return None;
    }
    let value = render::value_of(kind, format, piece)?;
    Some(is_lossless(kind, format).then_some(value))
}

/// Returns true if the format keeps the whole value.
#[must_use]
pub fn is_lossless(kind: &Type, format: Format) -> bool {
    match format {
        Format::Plain | Format::Milliseconds | Format::Pad(_) => true,
        Format::Upper | Format::Lower => kind.scalar().is_some_and(|(scalar, _)| scalar.has_one_case()),
        Format::Seconds => kind.time().is_some_and(|time| time.resolution == Resolution::Seconds),
        Format::Month | Format::Day | Format::Hour | Format::Hash => false,
    }
}

/// Returns the string of a key attribute; `None` if its type cannot be part of a key.
#[must_use]
pub fn key_text(value: &AttributeValue) -> Option<String> {
    match value {
        AttributeValue::S(text) => Some(text.clone()),
        AttributeValue::N(number) => Some(number.to_string()),
        AttributeValue::Bool(value) => Some(value.to_string()),
        AttributeValue::B(bytes) => String::from_utf8(bytes.clone()).ok(),
        _ => None,
    }
}

/// Converts the text of a value to the attribute that stores it.
#[must_use]
pub fn attribute(kind: &Type, text: &str) -> AttributeValue {
    match kind.resolved() {
        kind if kind.is_bool() => (text == "true").into(),
        kind if kind.is_bytes() => AttributeValue::B(text.as_bytes().to_vec()),
        kind if kind.is_numeric() => match text.parse::<Number>() {
            Ok(number) => AttributeValue::N(number),
            Err(_) => text.into(),
        },
        _ => text.into(),
    }
}
