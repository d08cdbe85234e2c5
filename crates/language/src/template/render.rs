//! Renders values in a template's format, and recovers the value from a string in a key.
//!
//! Values are represented as text: an S as itself, an N as its digits, a BOOL as `true` or `false`, and a time as its
//! type stores it.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::document::ast::Bounds;
use crate::schema::{FieldId, Format, Part, Template, Type};

use super::clock;
use super::email;
use super::language::Language;

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
        Format::Month => clock::timestamp(millis(kind, value)?).get(..7)?.to_owned(),
        Format::Day => clock::timestamp(millis(kind, value)?).get(..10)?.to_owned(),
        Format::Hour => clock::timestamp(millis(kind, value)?).get(..13)?.to_owned(),
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
    match kind {
        Type::Timestamp => clock::millis(value),
        Type::Date => clock::millis(&format!("{value}T00:00:00.000Z")),
        Type::Epoch => value.parse::<i64>().ok()?.checked_mul(1000),
        Type::EpochMs => value.parse().ok(),
        _ => None,
    }
}

/// Converts milliseconds since 1970 to the form the type stores.
pub fn stored(kind: &Type, millis: i64) -> Option<String> {
    match kind {
        Type::Timestamp => Some(clock::timestamp(millis)),
        Type::Date => clock::timestamp(millis).get(..10).map(str::to_owned),
        Type::Epoch => Some(millis.div_euclid(1000).to_string()),
        Type::EpochMs => Some(millis.to_string()),
        _ => None,
    }
}

/// Returns a value that renders as `text`; `None` if there is no such value or it cannot be recovered.
#[must_use]
pub fn value_of(kind: &Type, format: Format, text: &str) -> Option<String> {
    let kind = kind.resolved();
    let value = match format {
        Format::Plain | Format::Upper | Format::Lower => text.to_owned(),
        Format::Milliseconds => stored(kind, text.parse().ok()?)?,
        Format::Seconds => stored(kind, text.parse::<i64>().ok()?.checked_mul(1000)?)?,
        Format::Month => stored(kind, clock::millis(&format!("{text}-01T00:00:00.000Z"))?)?,
        Format::Day => stored(kind, clock::millis(&format!("{text}T00:00:00.000Z"))?)?,
        Format::Hour => stored(kind, clock::millis(&format!("{text}:00:00.000Z"))?)?,
        Format::Pad(_) => text.parse::<i128>().ok()?.to_string(),
        Format::Hash => return None,
    };
    let fits = accepts(kind, &value) && written(kind, format, &value).as_deref() == Some(text);
    fits.then_some(value)
}

/// Returns true if the value is valid for the type.
#[must_use]
pub fn accepts(kind: &Type, value: &str) -> bool {
    let kind = kind.resolved();
    match kind {
        Type::String(bounds) => within(*bounds, value.chars().count()),
        Type::Binary(bounds) => within(*bounds, value.len()),
        // Stricter than the language of the type, which is an upper bound for proofs about keys.
        Type::Email => email::has_one_spelling(value) && holds(kind, value),
        Type::Slug(bounds) => !value.is_empty() && value.bytes().all(is_slug) && within(*bounds, value.len()),
        Type::Ulid => is_ulid(value),
        Type::Uuid => is_uuid(value),
        Type::OneOf(texts) => texts.iter().any(|text| text == value),
        Type::Number => is_number(value),
        Type::Timestamp => clock::millis(value).is_some(),
        Type::Date => clock::millis(&format!("{value}T00:00:00.000Z")).is_some(),
        Type::Datetime => {
            holds(kind, value) && {
                value.get(..16).is_some_and(|minute| clock::millis(&format!("{minute}:00.000Z")).is_some())
            }
        }
        other => holds(other, value),
    }
}

fn holds(kind: &Type, value: &str) -> bool {
    Language::of(kind, Format::Plain).is_some_and(|language| language.holds(value))
}

fn within(bounds: Bounds, count: usize) -> bool {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    bounds.min.is_none_or(|min| min <= count) && bounds.max.is_none_or(|max| count <= max)
}

fn is_slug(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// Returns true for a ULID: Crockford's base 32 in upper case, whose first character holds three bits.
fn is_ulid(value: &str) -> bool {
    value.len() == 26
        && matches!(value.as_bytes()[0], b'0'..=b'7')
        && value.bytes().all(|byte| IS_ULID_DIGIT[usize::from(byte)])
}

/// Lookup table of Crockford's base 32 digits.
const IS_ULID_DIGIT: [bool; 256] = {
    let (digits, mut is_digit) = (b"0123456789ABCDEFGHJKMNPQRSTVWXYZ", [false; 256]);
    let mut place = 0;
    while place < digits.len() {
        is_digit[digits[place] as usize] = true;
        place += 1;
    }
    is_digit
};

/// Returns true for a UUID: groups of 8, 4, 4, 4 and 12 lower-case hexadecimal digits.
fn is_uuid(value: &str) -> bool {
    let fits = |(place, byte): (usize, u8)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    };
    value.len() == 36 && value.bytes().enumerate().all(fits)
}

/// Returns true for a number in its shortest form without exponent.
fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, fraction)| (whole, Some(fraction)));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let shortest = whole == "0" || !whole.starts_with('0');
    let significant = fraction.is_none_or(|fraction| all_digits(fraction) && !fraction.ends_with('0'));
    all_digits(whole) && shortest && significant && value != "-0"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_write_values() {
        let check = |kind: Type, format, value: &str, expected: &str| {
            assert_eq!(written(&kind, format, value).as_deref(), Some(expected));
        };
        check(Type::Timestamp, Format::Milliseconds, "2026-10-31T07:08:09.123Z", "1793430489123");
        check(Type::Timestamp, Format::Seconds, "2026-10-31T07:08:09.123Z", "1793430489");
        check(Type::Timestamp, Format::Hour, "2026-10-31T07:08:09.123Z", "2026-10-31T07");
        check(Type::Epoch, Format::Day, "1793430489", "2026-10-31");
        check(Type::EpochMs, Format::Month, "1793430489123", "2026-10");
        check(Type::Int(Bounds::default()), Format::Pad(5), "42", "00042");
        check(Type::String(Bounds::default()), Format::Upper, "straße", "STRASSE");
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        check(Type::String(Bounds::default()), Format::Hash, "", empty);
    }

    #[test]
    fn what_is_looked_at_quickly_is_what_its_language_holds() {
        let bounds = Bounds { min: Some(2), max: Some(3) };
        let kinds = [Type::Ulid, Type::Uuid, Type::Slug(Bounds::default()), Type::Slug(bounds)];
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
        check(Type::Timestamp, Format::Milliseconds, "1793430489123", Some("2026-10-31T07:08:09.123Z"));
        check(Type::Epoch, Format::Day, "2026-10-31", Some("1793404800"));
        check(Type::Timestamp, Format::Plain, "2026-02-31T00:00:00.000Z", None);
        check(Type::String(Bounds::default()), Format::Lower, "Ab", None);
        check(Type::Int(Bounds { min: Some(0), max: Some(9) }), Format::Pad(3), "007", Some("7"));
        check(Type::Number, Format::Plain, "1.50", None);
        check(Type::Number, Format::Plain, "-1.5", Some("-1.5"));
    }
}
