//! Parses key strings back into the fields that they were built from.

use keyform_core::{AttributeValue, Number};

use keyform_language::scalar::Resolution;
use keyform_language::schema::{Field, FieldId, Format, Part, Type};
use keyform_language::template::render;

/// Parses a string by a template; `None` if the template cannot produce it. If several readings are possible, returns
/// the first.
pub(super) fn read(parts: &[Part], text: &str, fields: &[Field]) -> Option<Vec<(FieldId, String)>> {
    match parts {
        [] => text.is_empty().then(Vec::new),
        [Part::Text(literal), rest @ ..] => read(rest, text.strip_prefix(literal.as_str())?, fields),
        [Part::Field { field, format, .. }, rest @ ..] => {
            let kind = &fields.get(field.0)?.kind;
            ends(rest, text).find_map(|end| {
                let (piece, after) = text.split_at_checked(end)?;
                let value = value_of(kind, *format, piece)?;
                let mut found = read(rest, after, fields)?;
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
fn value_of(kind: &Type, format: Format, piece: &str) -> Option<Option<String>> {
    match format {
        Format::Hash => {
            let digits = piece.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
            (piece.len() == 64 && digits).then_some(None)
        }
        // The format drops precision, so the original value is unknown.
        Format::Month | Format::Day | Format::Hour | Format::Upper | Format::Lower => {
            render::value_of(kind, format, piece).map(|_| None)
        }
        Format::Seconds if kind.time().is_none_or(|time| time.resolution != Resolution::Seconds) => {
            render::value_of(kind, format, piece).map(|_| None)
        }
        _ if matches!(kind.resolved(), Type::Unknown | Type::Json) => Some(Some(piece.to_owned())),
        _ => render::value_of(kind, format, piece).map(Some),
    }
}

/// Formats a value as it appears in a key.
pub(super) fn plain(value: &AttributeValue) -> Option<String> {
    match value {
        AttributeValue::S(text) => Some(text.clone()),
        AttributeValue::N(number) => Some(number.to_string()),
        AttributeValue::Bool(value) => Some(value.to_string()),
        AttributeValue::B(bytes) => String::from_utf8(bytes.clone()).ok(),
        _ => None,
    }
}

/// Parses a string as a value of a type.
pub(super) fn value(kind: &Type, text: &str) -> AttributeValue {
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
