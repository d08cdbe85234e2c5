//! The texts of keys, read back into the fields they were made of.

use keyform_core::{AttributeValue, Number};

use keyform_language::schema::{Field, FieldId, Format, Part, Type};
use keyform_language::template::render;

/// The fields in a text that a template has made; `None` if it has not made it. Of several ways to read it, the first that fits.
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

/// Where a field may end: before the text that follows it, or at the end.
fn ends<'a>(rest: &'a [Part], text: &'a str) -> Box<dyn Iterator<Item = usize> + 'a> {
    match rest {
        [] => Box::new(std::iter::once(text.len())),
        [Part::Text(literal), ..] => Box::new(text.match_indices(literal.as_str()).map(|(at, _)| at)),
        _ => Box::new(text.char_indices().map(|(at, _)| at).chain([text.len()])),
    }
}

/// The value that a piece of a key stands for: `Some(None)` if it cannot be known, `None` if there is none.
fn value_of(kind: &Type, format: Format, piece: &str) -> Option<Option<String>> {
    match format {
        Format::Hash => {
            let digits = piece.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
            (piece.len() == 64 && digits).then_some(None)
        }
        // What is finer than the format is lost, so the whole value is not known.
        Format::Month | Format::Day | Format::Hour | Format::Upper | Format::Lower => {
            render::value_of(kind, format, piece).map(|_| None)
        }
        Format::Seconds if !matches!(kind.resolved(), Type::Epoch) => {
            render::value_of(kind, format, piece).map(|_| None)
        }
        _ if matches!(kind.resolved(), Type::Unknown | Type::Json) => Some(Some(piece.to_owned())),
        _ => render::value_of(kind, format, piece).map(Some),
    }
}

/// A value as the text of a key has it.
pub(super) fn plain(value: &AttributeValue) -> Option<String> {
    match value {
        AttributeValue::S(text) => Some(text.clone()),
        AttributeValue::N(number) => Some(number.to_string()),
        AttributeValue::Bool(value) => Some(value.to_string()),
        AttributeValue::B(bytes) => String::from_utf8(bytes.clone()).ok(),
        _ => None,
    }
}

/// A text as a value of its type.
pub(super) fn value(kind: &Type, text: &str) -> AttributeValue {
    match kind.resolved() {
        Type::Bool => (text == "true").into(),
        Type::Binary(_) => AttributeValue::B(text.as_bytes().to_vec()),
        kind if kind.is_numeric() => match text.parse::<Number>() {
            Ok(number) => AttributeValue::N(number),
            Err(_) => text.into(),
        },
        _ => text.into(),
    }
}
