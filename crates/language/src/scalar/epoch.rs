//! `epoch`: Unix time in seconds, the form that DynamoDB's TTL expects.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use keyform_core::AttributeValue;
use serde_json::{Value, json};

use crate::template::Language;

use super::generated::{self, ClientType, RustType};
use super::{Bounds, Facets, Reading, Resolution, Spelling, Stored, Time, reading, sample};

pub(super) struct Row;

/// Values of up to twelve digits, which last until the year 33658.
const RANGE: RangeInclusive<i128> = 0..=999_999_999_999;
/// Digits of values from 2001 to 2286.
const DIGITS: usize = 10;

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "epoch"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["ttl"]
    }

    fn phrase(&self) -> &'static str {
        "a time in seconds since 1970"
    }

    fn stored(&self) -> Stored {
        Stored::Number
    }

    fn language(&self, _: Bounds) -> Language {
        Language::whole(RANGE, 0)
    }

    fn time(&self) -> Option<Time> {
        Some(Time {
            resolution: Resolution::Seconds,
            read: |value| value.parse::<i64>().ok()?.checked_mul(1000),
            write: |millis| millis.div_euclid(1000).to_string(),
        })
    }

    fn whole(&self, _: Bounds) -> Option<RangeInclusive<i128>> {
        Some(RANGE)
    }

    fn usual_digits(&self) -> Option<usize> {
        Some(DIGITS)
    }

    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        let other = || reading::millis(value).map(|millis| millis.div_euclid(1000));
        let valid = |seconds: i64| RANGE.contains(&seconds.into()).then_some(Cow::Owned(seconds.into()));
        reading::within(value, RANGE).or_else(|| other().and_then(valid))
    }

    fn also_reads(&self) -> &'static [Spelling] {
        &[Spelling::Digits, Spelling::Milliseconds, Spelling::Iso]
    }

    fn bytes(&self, _: Bounds) -> u64 {
        6
    }

    fn sample(&self, _: Bounds, _: &str, number: usize) -> String {
        (sample::moment(number) / 1000).to_string()
    }

    fn json_schema(&self, _: Bounds) -> Value {
        json!({ "type": "integer", "format": "int64" })
    }

    fn json_example(&self, _: Bounds) -> Value {
        1_793_448_000.into()
    }

    fn rust(&self) -> RustType {
        RustType::copied("keyform::Epoch")
    }

    fn client(&self, _: Bounds) -> &'static ClientType {
        &generated::SMALL_INTEGER
    }
}
