//! Bounds of a type.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Inclusive bounds: of characters for text, of elements for collections, of the value for numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bounds {
    /// Lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<i64>,
    /// Upper bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
}

/// Quantity that the bounds of a scalar limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Number of characters.
    Characters,
    /// Number of bytes.
    Bytes,
    /// The value itself.
    Value,
}

/// Largest integer that every JSON parser keeps exactly.
const SAFE_INTEGER_MAX: i64 = (1 << 53) - 1;

/// Returns true if every JSON parser keeps the integer exactly.
pub(super) fn is_safe_in_json(whole: i64) -> bool {
    whole.unsigned_abs() <= SAFE_INTEGER_MAX.unsigned_abs()
}

impl Bounds {
    /// No bounds.
    pub const NONE: Self = Self { min: None, max: None };

    /// Returns true if this number of characters, bytes or elements is within the bounds.
    #[must_use]
    pub fn allow(self, count: usize) -> bool {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.min.is_none_or(|min| min <= count) && self.max.is_none_or(|max| count <= max)
    }

    /// Returns true if every value within the bounds is exact as a JSON number (an IEEE 754 double).
    #[must_use]
    pub fn are_safe_in_json(self) -> bool {
        self.min.is_some_and(is_safe_in_json) && self.max.is_some_and(is_safe_in_json)
    }

    /// Adds the bounds to a JSON Schema under these names.
    #[must_use]
    pub fn in_schema(self, mut schema: Value, least: &str, most: &str) -> Value {
        // A minimum length of 0 is implied; a minimum value of 0 is not.
        if let Some(min) = self.min.filter(|min| *min != 0 || least == "minimum") {
            schema[least] = min.into();
        }
        if let Some(max) = self.max {
            schema[most] = max.into();
        }
        schema
    }

    /// Formats bounds of a count for messages: ` of 1 to 32 characters`, or nothing.
    #[must_use]
    pub fn extent(self, of: &str) -> String {
        match (self.min, self.max) {
            (None | Some(0), None) => String::new(),
            (None | Some(0), Some(max)) => format!(" of at most {max} {of}"),
            (Some(min), None) => format!(" of at least {min} {of}"),
            (Some(min), Some(max)) if min == max => format!(" of {min} {of}"),
            (Some(min), Some(max)) => format!(" of {min} to {max} {of}"),
        }
    }

    /// Formats bounds of a value for messages: ` from 1 to 9`, or nothing.
    #[must_use]
    pub fn range(self) -> String {
        match (self.min, self.max) {
            (None, None) => String::new(),
            (None, Some(max)) => format!(" of at most {max}"),
            (Some(min), None) => format!(" of at least {min}"),
            (Some(min), Some(max)) => format!(" from {min} to {max}"),
        }
    }
}

/// Formats the bounds as in a document: `(1..32)`, `(8)`, `(1..)`, `(..100)` or nothing.
impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |bound: Option<i64>| bound.map_or_else(String::new, |bound| bound.to_string());
        match (self.min, self.max) {
            (None, None) => Ok(()),
            (Some(min), Some(max)) if min == max => write!(f, "({min})"),
            (min, max) => write!(f, "({}..{})", end(min), end(max)),
        }
    }
}
