//! `binary`: bytes, in JSON as base64.

use std::borrow::Cow;

use keyform_core::AttributeValue;
use serde_json::{Value, json};

use crate::template::{Class, Language};

use super::generated::{self, ClientType, RustType};
use super::{Bounds, Counted, Facets, Reading, Stored, sample};

pub(super) struct Row;

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "binary"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["blob", "bytes", "buffer"]
    }

    fn phrase(&self) -> &'static str {
        "base64"
    }

    fn counted(&self) -> Option<Counted> {
        Some(Counted::Bytes)
    }

    fn stored(&self) -> Stored {
        Stored::Bytes
    }

    fn language(&self, bounds: Bounds) -> Language {
        Language::bounded(Class::ANY, bounds, 0)
    }

    fn accepts(&self, bounds: Bounds, value: &str) -> bool {
        bounds.allow(value.len())
    }

    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        matches!(value, AttributeValue::B(_)).then_some(Cow::Borrowed(value))
    }

    fn bytes(&self, bounds: Bounds) -> u64 {
        sample::mean_length(bounds)
    }

    fn sample(&self, bounds: Bounds, word: &str, number: usize) -> String {
        sample::text(bounds, word, number)
    }

    fn json_schema(&self, _: Bounds) -> Value {
        json!({ "type": "string", "contentEncoding": "base64" })
    }

    fn json_example(&self, _: Bounds) -> Value {
        "ZXhhbXBsZQ==".into()
    }

    fn rust(&self) -> RustType {
        RustType::referred("keyform::Binary")
    }

    fn client(&self, _: Bounds) -> &'static ClientType {
        &generated::BYTES
    }
}
