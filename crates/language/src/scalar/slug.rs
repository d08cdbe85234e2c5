//! `slug`: letters, digits, `-`, `_` and `.`. A slug cannot contain a key delimiter (ADR 0008).

use keyform_core::AttributeValue;
use serde_json::{Value, json};

use crate::template::Language;
use crate::template::language::slug_characters;

use super::generated::{RustId, RustType};
use super::{Bounds, Counted, Facets, Reading, Scalar, Stored, reading, sample};

pub(super) struct Row;

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "slug"
    }

    fn phrase(&self) -> &'static str {
        "a text of letters, digits, `-`, `_` and `.`"
    }

    fn counted(&self) -> Option<Counted> {
        Some(Counted::Characters)
    }

    fn stored(&self) -> Stored {
        Stored::Text
    }

    fn language(&self, bounds: Bounds) -> Language {
        Language::bounded(slug_characters(), bounds, 1)
    }

    fn accepts(&self, bounds: Bounds, value: &str) -> bool {
        !value.is_empty() && value.bytes().all(is_slug) && bounds.allow(value.len())
    }

    fn widened(&self) -> Option<Scalar> {
        Some(Scalar::String)
    }

    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        reading::text(value, |text| !text.is_empty() && text.bytes().all(is_slug))
    }

    fn bytes(&self, bounds: Bounds) -> u64 {
        sample::mean_length(bounds)
    }

    fn sample(&self, bounds: Bounds, word: &str, number: usize) -> String {
        sample::text(bounds, &word.to_lowercase(), number)
    }

    fn json_schema(&self, bounds: Bounds) -> Value {
        let slug = json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]*$" });
        bounds.in_schema(slug, "minLength", "maxLength")
    }

    fn json_example(&self, bounds: Bounds) -> Value {
        sample::fitted(bounds, "example").into()
    }

    fn rust(&self) -> RustType {
        RustType::STRING.with_id(RustId::Text("Slug"))
    }

    fn is_client_id(&self) -> bool {
        true
    }
}

fn is_slug(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}
