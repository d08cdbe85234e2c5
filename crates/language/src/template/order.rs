//! The order and the length of what a template writes.

use crate::document::ast::Bounds;
use crate::schema::{Format, Type};

use super::language::Language;
use super::overlap::{share, shared_text};
use super::shape::Shape;

/// How the texts of a field sort in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As the values do.
    Value,
    /// Numbers of different lengths: `10` before `9`.
    UnevenNumbers,
    /// Numbers wider than their padding, or below zero.
    TooNarrow,
    /// Times of different precision or offset.
    MixedTimes,
}

/// How values of a type sort when they are text in a key.
#[must_use]
pub fn order(kind: &Type, format: Format) -> Order {
    let kind = kind.resolved();
    let even = Language::of(kind, format).is_some_and(|language| language.width().is_some());
    match (kind, format) {
        (Type::Datetime, Format::Plain) => Order::MixedTimes,
        (Type::Int(Bounds { min, .. }), Format::Pad(_)) if !even || min.is_none_or(|min| min < 0) => Order::TooNarrow,
        (Type::Int(Bounds { min, .. }), Format::Plain) if even && min.is_some_and(|min| min >= 0) => Order::Value,
        (Type::Money, Format::Pad(_)) => Order::TooNarrow,
        (Type::Epoch, Format::Pad(width)) if width < 10 => Order::TooNarrow,
        (Type::EpochMs, Format::Pad(width)) if width < 13 => Order::TooNarrow,
        (kind, Format::Plain) if kind.is_numeric() => Order::UnevenNumbers,
        _ => Order::Value,
    }
}

/// The most bytes a shape can have; `None` if there is no limit.
#[must_use]
pub fn bytes_max(shape: &Shape<'_>) -> Option<usize> {
    shape.pieces.iter().map(|piece| piece.language.bytes_max()).sum()
}

/// Whether a shape can be the empty text.
#[must_use]
pub fn can_be_empty(shape: &Shape<'_>) -> bool {
    shape.pieces.iter().all(|piece| piece.language.chars_min() == 0)
}

/// Whether texts of `shape` can begin with texts of `prefix`.
#[must_use]
pub fn can_begin_with(shape: &Shape<'_>, prefix: &Shape<'_>) -> bool {
    share(shape, &prefix.clone().open())
}

/// A text of `shape` that begins with a text of `prefix`.
#[must_use]
pub fn example_beginning(shape: &Shape<'_>, prefix: &Shape<'_>) -> Option<String> {
    shared_text(shape, &prefix.clone().open()).map(|text| text.left.concat())
}
