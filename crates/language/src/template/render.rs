//! Renders values in a template's format, and recovers the value from a string in a key.
//!
//! Values are represented as text: an S as itself, an N as its digits, a BOOL as `true` or `false`, and a time as its
//! type stores it.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::scalar::civil;
use crate::schema::{FieldId, Format, Part, Template, Type};

/// Values of an item's fields.
pub type Values = BTreeMap<FieldId, String>;

/// Renders a template with these values; `None` if a value is missing or does not fit its format.
pub fn render<'a>(template: &Template, kind: impl Fn(FieldId) -> &'a Type, values: &Values) -> Option<String> {
    let part = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Field { field, format, .. } => written(kind(*field), *format, values.get(field)?),
        Part::Unknown { .. } => None,
    };
    template.parts.iter().map(part).collect()
}

/// Renders a value in a format; `None` if the format does not apply to the type.
#[must_use]
pub fn written(kind: &Type, format: Format, value: &str) -> Option<String> {
    let kind = kind.resolved();
    Some(match format {
        Format::Plain => value.to_owned(),
        Format::Milliseconds => format!("{:013}", millis(kind, value)?),
        Format::Seconds => format!("{:010}", millis(kind, value)?.div_euclid(1000)),
        Format::Month => civil::timestamp(millis(kind, value)?).get(..7)?.to_owned(),
        Format::Day => civil::timestamp(millis(kind, value)?).get(..10)?.to_owned(),
        Format::Hour => civil::timestamp(millis(kind, value)?).get(..13)?.to_owned(),
        Format::Pad(width) => padded(value, width as usize),
        Format::Upper => value.to_uppercase(),
        Format::Lower => value.to_lowercase(),
        Format::Hash => hex::encode(Sha256::digest(value)),
    })
}

fn padded(value: &str, width: usize) -> String {
    match value.strip_prefix('-') {
        Some(digits) => format!("-{digits:0>width$}"),
        None => format!("{value:0>width$}"),
    }
}

/// Converts a stored time to milliseconds since 1970.
pub fn millis(kind: &Type, value: &str) -> Option<i64> {
    kind.time().and_then(|time| (time.read)(value))
}

/// Converts milliseconds since 1970 to the form the type stores.
pub fn stored(kind: &Type, millis: i64) -> Option<String> {
    kind.time().map(|time| (time.write)(millis))
}

/// Returns a value that renders as `text`; `None` if there is no such value or it cannot be recovered.
#[must_use]
pub fn value_of(kind: &Type, format: Format, text: &str) -> Option<String> {
    let kind = kind.resolved();
    let value = match format {
        Format::Plain | Format::Upper | Format::Lower => text.to_owned(),
        Format::Milliseconds => stored(kind, text.parse().ok()?)?,
        Format::Seconds => stored(kind, text.parse::<i64>().ok()?.checked_mul(1000)?)?,
        Format::Month => stored(kind, civil::millis(&format!("{text}-01T00:00:00.000Z"))?)?,
        Format::Day => stored(kind, civil::millis(&format!("{text}T00:00:00.000Z"))?)?,
        Format::Hour => stored(kind, civil::millis(&format!("{text}:00:00.000Z"))?)?,
        Format::Pad(_) => text.parse::<i128>().ok()?.to_string(),
        Format::Hash => return None,
    };
    let fits = accepts(kind, &value) && written(kind, format, &value).as_deref() == Some(text);
    fits.then_some(value)
}

/// Returns true if the value is valid for the type.
#[must_use]
pub fn accepts(kind: &Type, value: &str) -> bool {
    match kind.resolved() {
        Type::Scalar(scalar, bounds) => scalar.accepts(*bounds, value),
        Type::OneOf(texts) => texts.iter().any(|text| text == value),
        Type::List(..)
        | Type::Map(..)
        | Type::Set(..)
        | Type::Json
        | Type::Record(_)
        | Type::Ref { .. }
        | Type::Copy { .. }
        | Type::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{Bounds, Scalar};
    use crate::template::Language;

    #[test]
    fn formats_write_values() {
        let check = |kind: Type, format, value: &str, expected: &str| {
            assert_eq!(written(&kind, format, value).as_deref(), Some(expected));
        };
        check(Scalar::Timestamp.into(), Format::Milliseconds, "2026-10-31T07:08:09.123Z", "1793430489123");
        check(Scalar::Timestamp.into(), Format::Seconds, "2026-10-31T07:08:09.123Z", "1793430489");
        check(Scalar::Timestamp.into(), Format::Hour, "2026-10-31T07:08:09.123Z", "2026-10-31T07");
        check(Scalar::Epoch.into(), Format::Day, "1793430489", "2026-10-31");
        check(Scalar::EpochMs.into(), Format::Month, "1793430489123", "2026-10");
        check(Scalar::Int.into(), Format::Pad(5), "42", "00042");
        check(Scalar::String.into(), Format::Upper, "straße", "STRASSE");
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        check(Scalar::String.into(), Format::Hash, "", empty);
    }

    #[test]
    fn what_is_looked_at_quickly_is_what_its_language_holds() {
        let bounds = Bounds { min: Some(2), max: Some(3) };
        let kinds = [Scalar::Ulid.into(), Scalar::Uuid.into(), Scalar::Slug.into(), Type::Scalar(Scalar::Slug, bounds)];
        let texts = [
            "",
            "a",
            "a.",
            "a-_b",
            "a/b",
            "é",
            "01KKP2T8SN0000000000000001",
            "81KKP2T8SN0000000000000001",
            "01KKP2T8SN000000000000000I",
            "01kkp2t8sn0000000000000001",
            "01KKP2T8SN000000000000000",
            "6f1b9c1e-0000-4000-8000-000000000000",
            "6F1b9c1e-0000-4000-8000-000000000000",
            "6f1b9c1e00000-4000-8000-000000000000",
            "6f1b9c1e-0000-4000-8000-00000000000é",
            "6f1b9c1e000040008000000000000000",
            "{6f1b9c1e-0000-4000-8000-000000000000}",
            "urn:uuid:6f1b9c1e-0000-4000-8000-000000000000",
            "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "ZZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "01KKP2T8SN000000000000000O",
            "01KKP2T8SN000000000000000-",
        ];
        for kind in kinds.into_iter().chain([Type::OneOf(vec!["a".to_owned(), "a.".to_owned()])]) {
            for text in texts {
                let holds = Language::of(&kind, Format::Plain).is_some_and(|language| language.holds(text));
                assert_eq!(accepts(&kind, text), holds, "{text} as {kind:?}");
            }
        }
    }

    #[test]
    fn a_text_leads_back_to_a_value_that_is_written_so() {
        let check = |kind: Type, format, text: &str, expected: Option<&str>| {
            assert_eq!(value_of(&kind, format, text).as_deref(), expected);
        };
        check(Scalar::Timestamp.into(), Format::Milliseconds, "1793430489123", Some("2026-10-31T07:08:09.123Z"));
        check(Scalar::Epoch.into(), Format::Day, "2026-10-31", Some("1793404800"));
        check(Scalar::Timestamp.into(), Format::Plain, "2026-02-31T00:00:00.000Z", None);
        check(Scalar::String.into(), Format::Lower, "Ab", None);
        check(Type::Scalar(Scalar::Int, Bounds { min: Some(0), max: Some(9) }), Format::Pad(3), "007", Some("7"));
        check(Scalar::Number.into(), Format::Plain, "1.50", None);
        check(Scalar::Number.into(), Format::Plain, "-1.5", Some("-1.5"));
    }
}
