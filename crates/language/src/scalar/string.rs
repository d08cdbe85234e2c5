//! `string`: text.

use keyform_core::AttributeValue;
use serde_json::{Value, json};

use crate::template::{Class, Language};

use super::generated::{RustId, RustType};
use super::{Bounds, Counted, Facets, Reading, Stored, reading, sample};

pub(super) struct Row;

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "string"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["text", "str", "varchar", "char"]
    }

    fn phrase(&self) -> &'static str {
        "a text"
    }

    fn counted(&self) -> Option<Counted> {
        Some(Counted::Characters)
    }

    fn stored(&self) -> Stored {
        Stored::Text
    }

    fn language(&self, bounds: Bounds) -> Language {
        Language { free: true, ..Language::bounded(Class::ANY, bounds, 0) }
    }

    fn accepts(&self, bounds: Bounds, value: &str) -> bool {
        bounds.allow(value.chars().count())
    }

    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        reading::text(value, |_| true)
    }

    fn bytes(&self, bounds: Bounds) -> u64 {
        sample::mean_length(bounds)
    }

    fn sample(&self, bounds: Bounds, word: &str, number: usize) -> String {
        sample::text(bounds, word, number)
    }

    fn json_schema(&self, bounds: Bounds) -> Value {
        bounds.in_schema(json!({ "type": "string" }), "minLength", "maxLength")
    }

    fn json_example(&self, bounds: Bounds) -> Value {
        sample::fitted(bounds, "example").into()
    }

    fn rust(&self) -> RustType {
        RustType::STRING.with_id(RustId::Text("Text"))
    }

    fn is_client_id(&self) -> bool {
        true
    }
}
