//! `int`: a whole number.

use std::ops::RangeInclusive;

use keyform_core::{AttributeValue, Number};
use serde_json::{Value, json};

use crate::template::Language;

use super::generated::{self, ClientType, Python, RustId, RustType, TypeScript};
use super::{Bounds, Counted, Facets, Reading, Scalar, Spelling, Stored, bounds as limits, reading, sample};

pub(super) struct Row;

/// Integer: a JSON number, or a string of digits if a number would lose some.
static WHOLE: ClientType = ClientType {
    typescript: TypeScript::module("Whole").decoded("decode.whole"),
    python: Python::new("int").decoded("int"),
};

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "int"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["integer", "long", "short", "i32", "i64", "u32", "u64", "bigint"]
    }

    fn phrase(&self) -> &'static str {
        "a whole number"
    }

    fn counted(&self) -> Option<Counted> {
        Some(Counted::Value)
    }

    fn stored(&self) -> Stored {
        Stored::Number
    }

    fn language(&self, bounds: Bounds) -> Language {
        Language::whole(range(bounds), 0)
    }

    fn whole(&self, bounds: Bounds) -> Option<RangeInclusive<i128>> {
        Some(range(bounds))
    }

    fn is_bare_number(&self) -> bool {
        true
    }

    fn widened(&self) -> Option<Scalar> {
        Some(Scalar::Number)
    }

    /// A client whose type only holds small integers cannot represent a large one.
    fn reading<'v>(&self, bounds: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        let is_safe =
            |number: &Number| !bounds.are_safe_in_json() || number.to_i64().is_some_and(limits::is_safe_in_json);
        reading::number(value, |number| reading::is_whole(number) && is_safe(number))
    }

    fn also_reads(&self) -> &'static [Spelling] {
        &[Spelling::Digits]
    }

    fn bytes(&self, _: Bounds) -> u64 {
        4
    }

    fn sample(&self, bounds: Bounds, _: &str, number: usize) -> String {
        let wanted = bounds.min.unwrap_or(0).max(0).saturating_add(sample::count(number) + 1);
        let candidates = [wanted, bounds.max.unwrap_or(wanted), bounds.min.unwrap_or(0)];
        let fits = |number: &i64| range(bounds).contains(&i128::from(*number));
        candidates.into_iter().find(fits).unwrap_or_default().to_string()
    }

    fn json_schema(&self, bounds: Bounds) -> Value {
        let schema =
            if bounds.are_safe_in_json() { json!({ "type": "integer", "format": "int64" }) } else { whole_schema() };
        bounds.in_schema(schema, "minimum", "maximum")
    }

    fn json_example(&self, bounds: Bounds) -> Value {
        bounds.min.or(bounds.max.filter(|max| *max < 1)).unwrap_or(1).into()
    }

    fn rust(&self) -> RustType {
        RustType::copied("i64").with_id(RustId::Number)
    }

    fn client(&self, bounds: Bounds) -> &'static ClientType {
        if bounds.are_safe_in_json() { &generated::SMALL_INTEGER } else { &WHOLE }
    }
}

/// Returns the numbers within the bounds; without bounds those of 38 digits, the most that DynamoDB stores.
pub(super) fn range(bounds: Bounds) -> RangeInclusive<i128> {
    const MOST: i128 = 10_i128.pow(38) - 1;
    bounds.min.map_or(-MOST, i128::from)..=bounds.max.map_or(MOST, i128::from)
}

/// JSON Schema of an integer that is a string beyond 2^53, because a JSON number would lose digits.
pub(super) fn whole_schema() -> Value {
    json!({ "type": ["integer", "string"], "pattern": "^-?[0-9]+$" })
}
