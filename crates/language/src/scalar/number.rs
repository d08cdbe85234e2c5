//! `number`: a decimal number of up to 38 digits.

use keyform_core::AttributeValue;
use serde_json::{Value, json};

use crate::template::language::Run;
use crate::template::{Class, Language};

use super::generated::{ClientType, Python, RustType, TypeScript};
use super::{Bounds, Facets, Reading, Spelling, Stored, reading, sample};

pub(super) struct Row;

/// Maximum length of a number in a key: sign, 38 digits, and the zeros its magnitude allows.
const CHARS_MAX: usize = 168;

/// Number of up to 38 digits: a JSON number, or a string of digits if a number would lose some.
static DECIMAL: ClientType = ClientType {
    typescript: TypeScript::module("Decimal"),
    python: Python {
        argument: Some("decimal.Decimal | int | float"),
        ..Python::new("decimal.Decimal").decoded("_decimal")
    },
};

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "number"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["float", "double", "decimal", "f32", "f64"]
    }

    fn phrase(&self) -> &'static str {
        "a number"
    }

    fn stored(&self) -> Stored {
        Stored::Number
    }

    fn language(&self, _: Bounds) -> Language {
        Language::new(vec![vec![Run::of(Class::DIGITS.or(Class::of("-.")), 1, Some(CHARS_MAX))]])
    }

    fn accepts(&self, _: Bounds, value: &str) -> bool {
        is_number(value)
    }

    fn is_bare_number(&self) -> bool {
        true
    }

    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        reading::number(value, |_| true)
    }

    fn also_reads(&self) -> &'static [Spelling] {
        &[Spelling::Digits]
    }

    fn bytes(&self, _: Bounds) -> u64 {
        4
    }

    fn sample(&self, _: Bounds, _: &str, number: usize) -> String {
        format!("{}.5", 10 + sample::count(number))
    }

    fn json_schema(&self, _: Bounds) -> Value {
        json!({ "type": ["number", "string"], "pattern": "^-?[0-9]+(\\.[0-9]+)?$" })
    }

    fn json_example(&self, _: Bounds) -> Value {
        1.into()
    }

    fn rust(&self) -> RustType {
        RustType::copied("keyform::Decimal")
    }

    fn client(&self, _: Bounds) -> &'static ClientType {
        &DECIMAL
    }
}

/// Returns true for a number in its shortest form without exponent.
fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, fraction)| (whole, Some(fraction)));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let shortest = whole == "0" || !whole.starts_with('0');
    let significant = fraction.is_none_or(|fraction| all_digits(fraction) && !fraction.ends_with('0'));
    all_digits(whole) && shortest && significant && value != "-0"
}
