//! `url`: a scheme, a colon, and anything without white space.

use keyform_core::AttributeValue;
use serde_json::{Value, json};

use crate::template::language::{Run, letters, literal};
use crate::template::{Class, Language};

use super::generated::RustType;
use super::{Bounds, Facets, Reading, Scalar, Stored, reading, sample};

pub(super) struct Row;

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "url"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["uri"]
    }

    fn phrase(&self) -> &'static str {
        "a URL"
    }

    fn stored(&self) -> Stored {
        Stored::Text
    }

    fn language(&self, _: Bounds) -> Language {
        let scheme = letters().or(Class::DIGITS).or(Class::of("+.-"));
        let rest = Class::ANY.without(Class::range('\0', ' '));
        let words = [vec![Run::of(scheme, 1, Some(32))], literal(":"), vec![Run::of(rest, 1, None)]].concat();
        Language { free: true, ..Language::new(vec![words]) }
    }

    fn widened(&self) -> Option<Scalar> {
        Some(Scalar::String)
    }

    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        reading::text(value, is_url)
    }

    fn bytes(&self, _: Bounds) -> u64 {
        60
    }

    fn sample(&self, _: Bounds, word: &str, number: usize) -> String {
        format!("https://example.com/{}", sample::numbered(word, number))
    }

    fn json_schema(&self, _: Bounds) -> Value {
        json!({ "type": "string", "format": "uri" })
    }

    fn json_example(&self, _: Bounds) -> Value {
        "https://example.com/".into()
    }

    fn rust(&self) -> RustType {
        RustType::STRING
    }

    fn is_client_id(&self) -> bool {
        true
    }
}

/// Decides as the language does, without building it: reads check every stored value.
fn is_url(text: &str) -> bool {
    let is_scheme = |character: char| character.is_ascii_alphanumeric() || matches!(character, '+' | '.' | '-');
    text.split_once(':').is_some_and(|(scheme, rest)| {
        (1..=32).contains(&scheme.len())
            && scheme.chars().all(is_scheme)
            && !rest.is_empty()
            && !rest.contains(|character| character <= ' ')
    })
}
