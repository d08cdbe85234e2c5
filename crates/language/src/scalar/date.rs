//! `date`: a calendar date, `2026-10-31`.

use keyform_core::AttributeValue;
use serde_json::{Value, json};

use crate::template::Language;
use crate::template::language::day;

use super::generated::{ClientType, Python, RustType, TypeScript};
use super::{Bounds, Facets, Reading, Resolution, Scalar, Stored, Time, civil, reading, sample};

pub(super) struct Row;

static DATE: ClientType = ClientType {
    typescript: TypeScript::language("string"),
    python: Python::new("dt.date").decoded("dt.date.fromisoformat"),
};

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "date"
    }

    fn phrase(&self) -> &'static str {
        "a date such as 2026-10-31"
    }

    fn stored(&self) -> Stored {
        Stored::Text
    }

    fn language(&self, _: Bounds) -> Language {
        Language::new(vec![day()])
    }

    fn accepts(&self, _: Bounds, value: &str) -> bool {
        civil::day_millis(value).is_some()
    }

    fn time(&self) -> Option<Time> {
        Some(Time { resolution: Resolution::Days, read: civil::day_millis, write: civil::date })
    }

    fn has_one_case(&self) -> bool {
        true
    }

    fn widened(&self) -> Option<Scalar> {
        Some(Scalar::String)
    }

    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        reading::text(value, |text| civil::day_millis(text).is_some())
    }

    fn bytes(&self, _: Bounds) -> u64 {
        10
    }

    fn sample(&self, _: Bounds, _: &str, number: usize) -> String {
        civil::date(sample::day(number))
    }

    fn json_schema(&self, _: Bounds) -> Value {
        json!({ "type": "string", "format": "date" })
    }

    fn json_example(&self, _: Bounds) -> Value {
        "2026-10-31".into()
    }

    fn rust(&self) -> RustType {
        RustType::copied("keyform::Date")
    }

    fn client(&self, _: Bounds) -> &'static ClientType {
        &DATE
    }
}
