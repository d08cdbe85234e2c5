//! Facets of a scalar.

use std::ops::RangeInclusive;

use keyform_core::AttributeValue;
use serde_json::Value;

use crate::template::Language;

use super::generated::{self, ClientType, RustType};
use super::{Bounds, Counted, Reading, Scalar, Spelling};

/// Everything that Keyform knows about one scalar. Facets without a default implementation must be decided for every
/// scalar; the defaults fit most.
///
/// Values are represented as text: an S as itself, an N as its digits, a BOOL as `true` or `false`.
pub trait Facets: Sync {
    /// Returns the word that names the scalar in a document.
    fn keyword(&self) -> &'static str;

    /// Returns the name of the scalar in the JSON form of a document.
    fn json_name(&self) -> &'static str {
        self.keyword()
    }

    /// Returns names of the scalar in other languages, in lower case, for suggestions.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns a noun phrase for messages, without bounds: `a ULID`.
    fn phrase(&self) -> &'static str;

    /// Returns the quantity that bounds limit; `None` if the scalar takes no bounds.
    fn counted(&self) -> Option<Counted> {
        None
    }

    /// Returns the DynamoDB type of the attribute.
    fn stored(&self) -> Stored;

    /// Returns the strings of values in a key without a format. May contain strings that are not valid values, but lacks
    /// none (ADR 0009).
    fn language(&self, bounds: Bounds) -> Language;

    /// Returns true if the value is valid.
    fn accepts(&self, bounds: Bounds, value: &str) -> bool {
        self.language(bounds).holds(value)
    }

    /// Returns the conversion of a valid spelling to the stored form; `None` if values are stored as they are written.
    fn normalize(&self) -> Option<fn(&str) -> String> {
        None
    }

    /// Reads a stored value in the scalar's own form or in one of [`also_reads`](Self::also_reads); `None` if it has
    /// neither. Accepts values that exceed their bounds: they have one meaning too.
    fn reading<'v>(&self, bounds: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>>;

    /// Returns the other forms that [`reading`](Self::reading) accepts.
    fn also_reads(&self) -> &'static [Spelling] {
        &[]
    }

    /// Returns the conversion between values and points in time; `None` if values are not times.
    fn time(&self) -> Option<Time> {
        None
    }

    /// Returns the range of values if they are whole numbers, which `:pad` requires.
    fn whole(&self, _bounds: Bounds) -> Option<RangeInclusive<i128>> {
        None
    }

    /// Returns the number of digits of all values in practice, where the range allows more: with `:pad` of that width,
    /// text order is value order.
    fn usual_digits(&self) -> Option<usize> {
        None
    }

    /// Returns true for a number without a meaning of its own: neither a time nor an amount.
    fn is_bare_number(&self) -> bool {
        false
    }

    /// Returns true if all letters of all values have the same case, so that `:upper` and `:lower` lose nothing.
    fn has_one_case(&self) -> bool {
        false
    }

    /// Returns true if two generated values are never equal.
    fn is_globally_unique(&self) -> bool {
        false
    }

    /// Returns true if values are amounts of money, which a caller without permission must never move.
    fn is_money(&self) -> bool {
        false
    }

    /// Returns true if later generated values sort after earlier ones, without being times.
    fn grows_with_time(&self) -> bool {
        false
    }

    /// Returns the number of values if it is too small to distribute load.
    fn few_values(&self) -> Option<usize> {
        None
    }

    /// Returns a scalar that accepts all values of this one, bounds aside.
    fn widened(&self) -> Option<Scalar> {
        None
    }

    /// Returns the estimated mean size of a value in bytes, as DynamoDB counts it.
    fn bytes(&self, bounds: Bounds) -> u64;

    /// Returns a sample value: equal for the same word and number, different for each number where the type has enough
    /// values. The word makes free text readable.
    fn sample(&self, bounds: Bounds, word: &str, number: usize) -> String;

    /// Returns the JSON Schema of the value in the HTTP API.
    fn json_schema(&self, bounds: Bounds) -> Value;

    /// Returns an example in the HTTP API's JSON for its documentation.
    fn json_example(&self, bounds: Bounds) -> Value;

    /// Returns the type in generated Rust.
    fn rust(&self) -> RustType;

    /// Returns the type in generated TypeScript and Python.
    fn client(&self, _bounds: Bounds) -> &'static ClientType {
        &generated::TEXT
    }

    /// Returns true if clients give the id of an entity its own type if it has this type.
    fn is_client_id(&self) -> bool {
        false
    }
}

/// DynamoDB type of an attribute that holds a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Type S.
    Text,
    /// Type N.
    Number,
    /// Type BOOL.
    Bool,
    /// Type B.
    Bytes,
}

/// Conversion between stored values and milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// Precision of the values.
    pub resolution: Resolution,
    /// Parses a stored value; `None` if it is invalid or has no single form.
    pub read: fn(&str) -> Option<i64>,
    /// Formats a time as the scalar stores it.
    pub write: fn(i64) -> String,
}

/// Precision of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Calendar days in UTC.
    Days,
    /// Any precision and offset: text order is not chronological.
    Mixed,
}
