//! `bool`: true or false.

use std::borrow::Cow;

use keyform_core::AttributeValue;
use serde_json::{Value, json};

use crate::template::Language;
use crate::template::language::literal;

use super::generated::{ClientType, Python, RustType, TypeScript};
use super::{Bounds, Facets, Reading, Stored};

pub(super) struct Row;

static BOOLEAN: ClientType = ClientType { typescript: TypeScript::language("boolean"), python: Python::new("bool") };

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "bool"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["boolean"]
    }

    fn phrase(&self) -> &'static str {
        "true or false"
    }

    fn stored(&self) -> Stored {
        Stored::Bool
    }

    fn language(&self, _: Bounds) -> Language {
        Language::new(vec![literal("true"), literal("false")])
    }

    fn few_values(&self) -> Option<usize> {
        Some(2)
    }

    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        matches!(value, AttributeValue::Bool(_)).then_some(Cow::Borrowed(value))
    }

    fn bytes(&self, _: Bounds) -> u64 {
        1
    }

    fn sample(&self, _: Bounds, _: &str, number: usize) -> String {
        number.is_multiple_of(2).to_string()
    }

    fn json_schema(&self, _: Bounds) -> Value {
        json!({ "type": "boolean" })
    }

    fn json_example(&self, _: Bounds) -> Value {
        true.into()
    }

    fn rust(&self) -> RustType {
        RustType::copied("bool")
    }

    fn client(&self, _: Bounds) -> &'static ClientType {
        &BOOLEAN
    }
}
