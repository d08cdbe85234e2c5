//! `timestamp`: UTC in ISO 8601 with milliseconds, `2026-10-31T07:08:09.123Z`. All have 24 characters, so that text
//! order is chronological.

use std::borrow::Cow;

use keyform_core::AttributeValue;
use serde_json::{Value, json};

use crate::template::Language;
use crate::template::language::{digits, literal, minute};

use super::generated::{ClientType, Python, RustType, TypeScript};
use super::{Bounds, Facets, Reading, Resolution, Scalar, Spelling, Stored, Time, civil, reading, sample};

pub(super) struct Row;

static TIME: ClientType = ClientType {
    typescript: TypeScript::language("Date").decoded("decode.time"),
    python: Python::new("dt.datetime").decoded("_time"),
};

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "timestamp"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["time", "instant", "iso8601"]
    }

    fn phrase(&self) -> &'static str {
        "a time such as 2026-10-31T12:00:00.000Z"
    }

    fn stored(&self) -> Stored {
        Stored::Text
    }

    fn language(&self, _: Bounds) -> Language {
        let seconds = [literal(":"), vec![digits(2)], literal("."), vec![digits(3)], literal("Z")].concat();
        Language::new(vec![[minute(), seconds].concat()])
    }

    fn accepts(&self, _: Bounds, value: &str) -> bool {
        civil::millis(value).is_some()
    }

    fn time(&self) -> Option<Time> {
        Some(Time { resolution: Resolution::Milliseconds, read: civil::millis, write: civil::timestamp })
    }

    fn has_one_case(&self) -> bool {
        true
    }

    fn widened(&self) -> Option<Scalar> {
        Some(Scalar::String)
    }

    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        let own = reading::text(value, civil::is_timestamp);
        own.or_else(|| Some(Cow::Owned(civil::timestamp(reading::millis(value)?).into())))
    }

    fn also_reads(&self) -> &'static [Spelling] {
        &[Spelling::Iso, Spelling::Seconds, Spelling::Milliseconds]
    }

    fn bytes(&self, _: Bounds) -> u64 {
        24
    }

    fn sample(&self, _: Bounds, _: &str, number: usize) -> String {
        civil::timestamp(sample::moment(number))
    }

    fn json_schema(&self, _: Bounds) -> Value {
        json!({ "type": "string", "format": "date-time" })
    }

    fn json_example(&self, _: Bounds) -> Value {
        "2026-10-31T12:00:00.000Z".into()
    }

    fn rust(&self) -> RustType {
        RustType::copied("keyform::Timestamp")
    }

    fn client(&self, _: Bounds) -> &'static ClientType {
        &TIME
    }
}
