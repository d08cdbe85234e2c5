//! `ulid`: 26 characters of Crockford's base 32 in upper case, which sort by creation time.

use keyform_core::AttributeValue;
use serde_json::{Value, json};
use ulid::{ULID_LEN, Ulid};

use crate::template::language::Run;
use crate::template::{Class, Language};

use super::generated::{RustId, RustType};
use super::{Bounds, Facets, Reading, Scalar, Stored, reading, sample};

pub(super) struct Row;

/// Creation time of samples: `01KKP2T8SN` in the first ten characters.
const SAMPLE_MILLIS: u64 = 1_773_488_907_061;

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "ulid"
    }

    fn phrase(&self) -> &'static str {
        "a ULID"
    }

    fn stored(&self) -> Stored {
        Stored::Text
    }

    /// The first of the 26 characters holds only three bits.
    fn language(&self, _: Bounds) -> Language {
        let class = Class::DIGITS.or(Class::range('A', 'Z').without(Class::of("ILOU")));
        Language::new(vec![vec![Run::of(Class::range('0', '7'), 1, Some(1)), Run::of(class, 25, Some(25))]])
    }

    /// The parser also accepts lower case, which would sort differently: only the text that the ULID is written as is
    /// valid.
    fn accepts(&self, _: Bounds, value: &str) -> bool {
        Ulid::from_string(value).is_ok_and(|ulid| ulid.array_to_str(&mut [0; ULID_LEN]) == value)
    }

    fn has_one_case(&self) -> bool {
        true
    }

    fn is_globally_unique(&self) -> bool {
        true
    }

    fn grows_with_time(&self) -> bool {
        true
    }

    fn widened(&self) -> Option<Scalar> {
        Some(Scalar::String)
    }

    /// Keys are compared byte by byte, so an id in another case is another id.
    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        reading::text(value, |text| self.accepts(Bounds::NONE, text))
    }

    fn bytes(&self, _: Bounds) -> u64 {
        26
    }

    fn sample(&self, _: Bounds, word: &str, number: usize) -> String {
        Ulid::from_parts(SAMPLE_MILLIS, sample::digits(word, number, 16, 5)).to_string()
    }

    fn json_schema(&self, _: Bounds) -> Value {
        json!({ "type": "string", "pattern": "^[0-9A-HJKMNP-TV-Z]{26}$" })
    }

    fn json_example(&self, _: Bounds) -> Value {
        "01KKP2T8SN0000000000000000".into()
    }

    fn rust(&self) -> RustType {
        RustType::referred("keyform::Ulid").with_id(RustId::Text("Ulid"))
    }

    fn is_client_id(&self) -> bool {
        true
    }
}
