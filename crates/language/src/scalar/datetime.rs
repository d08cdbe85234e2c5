//! `datetime`: ISO 8601 with or without seconds and fractions, in UTC or with an offset. Text order is not
//! chronological.

use std::borrow::Cow;

use keyform_core::AttributeValue;
use serde_json::{Value, json};

use crate::template::language::{Run, digits, literal, minute};
use crate::template::{Class, Language};

use super::generated::RustType;
use super::{Bounds, Facets, Reading, Resolution, Scalar, Spelling, Stored, Time, civil, reading, sample};

pub(super) struct Row;

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "datetime"
    }

    fn phrase(&self) -> &'static str {
        "a time in ISO 8601"
    }

    fn stored(&self) -> Stored {
        Stored::Text
    }

    fn language(&self, _: Bounds) -> Language {
        let fraction = [literal("."), vec![Run::of(Class::DIGITS, 1, Some(9))]].concat();
        let seconds = [literal(":"), vec![digits(2)]].concat();
        let sign = vec![Run::of(Class::of("+-"), 1, Some(1))];
        let offset = [sign, vec![digits(2)], literal(":"), vec![digits(2)]].concat();
        let bodies = [minute(), [minute(), seconds.clone()].concat(), [minute(), seconds, fraction].concat()];
        let zones = [literal("Z"), offset];
        let words = bodies.iter().flat_map(|body| zones.iter().map(|zone| [body.clone(), zone.clone()].concat()));
        Language::new(words.collect())
    }

    fn accepts(&self, bounds: Bounds, value: &str) -> bool {
        let minute = value.get(.."2026-10-31T07:08".len());
        self.language(bounds).holds(value)
            && minute.is_some_and(|minute| civil::millis(&format!("{minute}:00.000Z")).is_some())
    }

    /// Formats of times do not apply to values without a single form, so none is read.
    fn time(&self) -> Option<Time> {
        Some(Time { resolution: Resolution::Mixed, read: |_| None, write: civil::timestamp })
    }

    fn has_one_case(&self) -> bool {
        true
    }

    fn widened(&self) -> Option<Scalar> {
        Some(Scalar::String)
    }

    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        let own = reading::text(value, |text| civil::iso_millis(text).is_some() || self.accepts(Bounds::NONE, text));
        own.or_else(|| Some(Cow::Owned(civil::timestamp(reading::millis(value)?).into())))
    }

    fn also_reads(&self) -> &'static [Spelling] {
        &[Spelling::Seconds, Spelling::Milliseconds]
    }

    fn bytes(&self, _: Bounds) -> u64 {
        24
    }

    fn sample(&self, _: Bounds, _: &str, number: usize) -> String {
        let time = civil::timestamp(sample::moment(number));
        format!("{}Z", time.split('.').next().unwrap_or_default())
    }

    fn json_schema(&self, _: Bounds) -> Value {
        json!({ "type": "string", "format": "date-time" })
    }

    fn json_example(&self, _: Bounds) -> Value {
        "2026-10-31T12:00:00.000Z".into()
    }

    fn rust(&self) -> RustType {
        RustType::STRING
    }
}
