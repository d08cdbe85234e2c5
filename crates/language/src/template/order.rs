//! Sort order and length of the strings a template renders.

use crate::scalar::Resolution;
use crate::schema::{Format, Type};

use super::language::Language;
use super::overlap::{share, shared_text};
use super::shape::Shape;

/// Sort order of a field's strings in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Same order as the values.
    Value,
    /// Numbers of different lengths: `10` sorts before `9`.
    UnevenNumbers,
    /// Numbers wider than their padding, or negative numbers.
    TooNarrow,
    /// Times of different precision or offset.
    MixedTimes,
}

/// Returns the sort order of a type's strings in a key.
#[must_use]
pub fn order(kind: &Type, format: Format) -> Order {
    let Some((scalar, bounds)) = kind.scalar() else { return Order::Value };
    let is_even = || Language::of(kind, format).is_some_and(|language| language.width().is_some());
    let is_positive = scalar.whole(bounds).is_some_and(|range| *range.start() >= 0);
    let is_wide = |width: u32| scalar.usual_digits().is_some_and(|digits| digits <= width as usize);
    match format {
        Format::Plain if scalar.time().is_some_and(|time| time.resolution == Resolution::Mixed) => Order::MixedTimes,
        Format::Plain if kind.is_numeric() && !(is_positive && is_even()) => Order::UnevenNumbers,
        Format::Pad(width) if scalar.whole(bounds).is_some() && !(is_positive && (is_wide(width) || is_even())) => {
            Order::TooNarrow
        }
        _ => Order::Value,
    }
}

/// Returns the maximum bytes of a shape; `None` if there is no limit.
#[must_use]
pub fn bytes_max(shape: &Shape<'_>) -> Option<usize> {
    shape.pieces.iter().map(|piece| piece.language.bytes_max()).sum()
}

/// Returns true if a shape can be the empty string.
#[must_use]
pub fn can_be_empty(shape: &Shape<'_>) -> bool {
    shape.pieces.iter().all(|piece| piece.language.chars_min() == 0)
}

/// Returns true if a string of `shape` can begin with a string of `prefix`.
#[must_use]
pub fn can_begin_with(shape: &Shape<'_>, prefix: &Shape<'_>) -> bool {
    share(shape, &prefix.clone().open())
}

/// Returns a string of `shape` that begins with a string of `prefix`.
#[must_use]
pub fn example_beginning(shape: &Shape<'_>, prefix: &Shape<'_>) -> Option<String> {
    shared_text(shape, &prefix.clone().open()).map(|text| text.left.concat())
}
