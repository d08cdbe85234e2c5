//! Reads stored values that another program wrote, in a form other than ours but with the same meaning.
//!
//! Each scalar decides in its facet `reading`. The functions here are the forms that several scalars share. Bounds do
//! not matter: a value that exceeds them still has one meaning, and a reader can still use it.

use std::borrow::Cow;

use keyform_core::{AttributeValue, Number};

use super::civil;

/// Form of a stored value other than the scalar's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spelling {
    /// A number stored as text.
    Digits,
    /// ISO 8601 text of another precision, or with an offset.
    Iso,
    /// Unix time in seconds, as a number or as text.
    Seconds,
    /// Unix time in milliseconds, as a number or as text.
    Milliseconds,
    /// Text in another case, or with spaces around it.
    Case,
}

impl Spelling {
    /// Returns the phrase of the table in the language reference.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Digits => "a number as text",
            Self::Iso => "ISO 8601 of another precision or with an offset",
            Self::Seconds => "Unix seconds, as a number or text",
            Self::Milliseconds => "Unix milliseconds, as a number or text",
            Self::Case => "another case, spaces around it",
        }
    }
}

/// A stored value as the scalar stores it: borrowed if it already has that form.
pub type Reading<'v> = Cow<'v, AttributeValue>;

/// Numbers from here on are milliseconds, smaller ones seconds: the border is the year 5138 in seconds and 1973 in
/// milliseconds.
const MILLIS_MIN: i64 = 100_000_000_000;
/// Smaller numbers are not times: they are years or dates such as `20261031`.
const SECONDS_MIN: i64 = 100_000_000;

/// Reads an S for which `is_valid` holds.
pub(super) fn text(value: &AttributeValue, is_valid: impl Fn(&str) -> bool) -> Option<Reading<'_>> {
    match value {
        AttributeValue::S(text) if is_valid(text) => Some(Cow::Borrowed(value)),
        _ => None,
    }
}

/// Reads a number, or text that spells one.
pub(super) fn number(value: &AttributeValue, is_valid: impl Fn(&Number) -> bool) -> Option<Reading<'_>> {
    match value {
        AttributeValue::N(number) => is_valid(number).then_some(Cow::Borrowed(value)),
        AttributeValue::S(text) => {
            let number = spelled(text).filter(is_valid)?;
            Some(Cow::Owned(AttributeValue::N(number)))
        }
        _ => None,
    }
}

/// Parses a number as people write it: digits, a sign, a point and perhaps an exponent.
fn spelled(text: &str) -> Option<Number> {
    let starts = text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+' | '.'));
    if starts { text.parse().ok() } else { None }
}

/// Returns true if a number has no fraction.
pub(super) fn is_whole(number: &Number) -> bool {
    number.is_zero() || number.leading_exponent() + 1 >= i32::try_from(number.significant_digits()).unwrap_or(i32::MAX)
}

/// Returns the point in time of a value in any spelling, in milliseconds since 1970.
pub(super) fn millis(value: &AttributeValue) -> Option<i64> {
    match value {
        AttributeValue::N(number) => unix_millis(number),
        AttributeValue::S(text) => civil::iso_millis(text).or_else(|| unix_millis(&spelled(text)?)),
        _ => None,
    }
}

fn unix_millis(number: &Number) -> Option<i64> {
    let whole = number.to_i64().filter(|whole| *whole >= SECONDS_MIN)?;
    if whole < MILLIS_MIN { whole.checked_mul(1000) } else { Some(whole) }
}

/// Reads an N that is a whole number of this range.
pub(super) fn within(value: &AttributeValue, range: std::ops::RangeInclusive<i128>) -> Option<Reading<'_>> {
    number(value, |number| is_whole(number) && number.to_i64().is_some_and(|whole| range.contains(&whole.into())))
}
