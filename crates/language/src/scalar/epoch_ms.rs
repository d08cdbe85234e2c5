//! `epoch_ms`: Unix time in milliseconds.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use keyform_core::AttributeValue;
use serde_json::{Value, json};

use crate::template::Language;

use super::generated::{self, ClientType, RustType};
use super::{Bounds, Facets, Reading, Resolution, Spelling, Stored, Time, civil, reading, sample};

pub(super) struct Row;

/// Values of up to fifteen digits, which last until the year 33658.
const RANGE: RangeInclusive<i128> = 0..=999_999_999_999_999;
/// Digits of values from 2001 to 2286.
const DIGITS: usize = 13;

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "epoch_ms"
    }

    fn json_name(&self) -> &'static str {
        "epochMs"
    }

    fn phrase(&self) -> &'static str {
        "a time in milliseconds since 1970"
    }

    fn stored(&self) -> Stored {
        Stored::Number
    }

    fn language(&self, _: Bounds) -> Language {
        Language::whole(RANGE, 0)
    }

    fn time(&self) -> Option<Time> {
        Some(Time {
            resolution: Resolution::Milliseconds,
            read: |value| value.parse().ok(),
            write: |millis| millis.to_string(),
        })
    }

    fn whole(&self, _: Bounds) -> Option<RangeInclusive<i128>> {
        Some(RANGE)
    }

    fn usual_digits(&self) -> Option<usize> {
        Some(DIGITS)
    }

    /// A number is always milliseconds: seconds would be a valid time in 1970.
    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        let iso = || match value {
            AttributeValue::S(text) => civil::iso_millis(text).filter(|millis| RANGE.contains(&(*millis).into())),
            _ => None,
        };
        reading::within(value, RANGE).or_else(|| Some(Cow::Owned(iso()?.into())))
    }

    fn also_reads(&self) -> &'static [Spelling] {
        &[Spelling::Digits, Spelling::Iso]
    }

    fn bytes(&self, _: Bounds) -> u64 {
        8
    }

    fn sample(&self, _: Bounds, _: &str, number: usize) -> String {
        sample::moment(number).to_string()
    }

    fn json_schema(&self, _: Bounds) -> Value {
        json!({ "type": "integer", "format": "int64" })
    }

    fn json_example(&self, _: Bounds) -> Value {
        1_793_448_000_000_i64.into()
    }

    fn rust(&self) -> RustType {
        RustType::copied("keyform::EpochMs")
    }

    fn client(&self, _: Bounds) -> &'static ClientType {
        &generated::SMALL_INTEGER
    }
}
