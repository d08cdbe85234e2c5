//! `money`: an amount in whole nano-units of the currency.

use std::ops::RangeInclusive;

use keyform_core::AttributeValue;
use serde_json::Value;

use crate::template::Language;

use super::generated::{ClientType, Python, RustType, TypeScript, TypeScriptName};
use super::{Bounds, Facets, Reading, Spelling, Stored, int, reading, sample};

pub(super) struct Row;

/// Encoded like a large `int`. An argument may be given as a number too.
static MONEY: ClientType = ClientType {
    typescript: TypeScript {
        argument: Some(TypeScriptName::Module("Whole")),
        ..TypeScript::language("bigint").decoded("decode.money")
    },
    python: Python::new("int").decoded("int"),
};

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "money"
    }

    fn phrase(&self) -> &'static str {
        "an amount in whole nano-units"
    }

    fn stored(&self) -> Stored {
        Stored::Number
    }

    fn language(&self, _: Bounds) -> Language {
        Language::whole(int::range(Bounds::NONE), 0)
    }

    fn whole(&self, _: Bounds) -> Option<RangeInclusive<i128>> {
        Some(int::range(Bounds::NONE))
    }

    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        reading::number(value, reading::is_whole)
    }

    fn also_reads(&self) -> &'static [Spelling] {
        &[Spelling::Digits]
    }

    fn is_money(&self) -> bool {
        true
    }

    fn bytes(&self, _: Bounds) -> u64 {
        8
    }

    fn sample(&self, _: Bounds, _: &str, number: usize) -> String {
        (1_500_000_000 + sample::count(number)).to_string()
    }

    fn json_schema(&self, _: Bounds) -> Value {
        int::whole_schema()
    }

    fn json_example(&self, _: Bounds) -> Value {
        1.into()
    }

    fn rust(&self) -> RustType {
        RustType::copied("keyform::Money")
    }

    fn client(&self, _: Bounds) -> &'static ClientType {
        &MONEY
    }
}
