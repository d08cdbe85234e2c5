//! Range of sort keys that a test selects, to detect overlaps.

use std::cmp::Ordering;

use keyform_core::expression::{Comparator, KeyTest};
use keyform_core::{Value, ValueRef};

use crate::key_space;

/// Range from `lower` to `upper`; unbounded where `None`.
#[derive(Clone, Debug, Default)]
pub(super) struct Span {
    lower: Option<Bound>,
    upper: Option<Bound>,
}

#[derive(Clone, Debug)]
struct Bound {
    key: Vec<u8>,
    included: bool,
}

impl Span {
    /// Returns the range that the test selects.
    pub(super) fn of(test: &KeyTest) -> Self {
        let at = |value: &Value, included: bool| Some(Bound { key: sorted_bytes(value), included });
        match test {
            KeyTest::Compare(Comparator::Less, value) => Self { lower: None, upper: at(value, false) },
            KeyTest::Compare(Comparator::LessOrEqual, value) => Self { lower: None, upper: at(value, true) },
            KeyTest::Compare(Comparator::Greater, value) => Self { lower: at(value, false), upper: None },
            KeyTest::Compare(Comparator::GreaterOrEqual, value) => Self { lower: at(value, true), upper: None },
            KeyTest::Compare(Comparator::Equal | Comparator::NotEqual, value) => {
                Self { lower: at(value, true), upper: at(value, true) }
            }
            KeyTest::Between(low, high) => Self { lower: at(low, true), upper: at(high, true) },
            KeyTest::BeginsWith(prefix) => Self {
                lower: at(prefix, true),
                upper: key_space::after_prefix(&sorted_bytes(prefix)).map(|key| Bound { key, included: false }),
            },
        }
    }

    /// Returns whether the ranges overlap.
    pub(super) fn meets(&self, other: &Self) -> bool {
        not_above(self.lower.as_ref(), other.upper.as_ref()) && not_above(other.lower.as_ref(), self.upper.as_ref())
    }
}

fn not_above(lower: Option<&Bound>, upper: Option<&Bound>) -> bool {
    let (Some(lower), Some(upper)) = (lower, upper) else { return true };
    match lower.key.cmp(&upper.key) {
        Ordering::Less => true,
        Ordering::Equal => lower.included && upper.included,
        Ordering::Greater => false,
    }
}

/// Returns bytes that sort in the order of values of the same type.
pub(super) fn sorted_bytes(value: &Value) -> Vec<u8> {
    match value.view() {
        ValueRef::S(text) => text.as_bytes().to_vec(),
        ValueRef::B(bytes) => bytes.to_vec(),
        ValueRef::N(number) => number.to_ordered().as_bytes().to_vec(),
        _ => Vec::new(),
    }
}
