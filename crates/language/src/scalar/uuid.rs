//! `uuid`: groups of 8, 4, 4, 4 and 12 hexadecimal digits in lower case.

use keyform_core::AttributeValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

use crate::template::Language;
use crate::template::language::{Run, hexadecimal, literal};

use super::generated::{RustId, RustType};
use super::{Bounds, Facets, Reading, Scalar, Stored, reading, sample};

pub(super) struct Row;

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "uuid"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["guid"]
    }

    fn phrase(&self) -> &'static str {
        "a UUID"
    }

    fn stored(&self) -> Stored {
        Stored::Text
    }

    fn language(&self, _: Bounds) -> Language {
        let group = |count| vec![Run::of(hexadecimal(), count, Some(count))];
        let groups = [8, 4, 4, 4, 12].map(group);
        Language::new(vec![groups.join(&literal("-")[..])])
    }

    /// The parser also accepts upper case, braces and a missing `-`: only the text that the UUID is written as is valid.
    fn accepts(&self, _: Bounds, value: &str) -> bool {
        let mut text = [0; Hyphenated::LENGTH];
        Uuid::try_parse(value).is_ok_and(|uuid| uuid.hyphenated().encode_lower(&mut text) == value)
    }

    fn has_one_case(&self) -> bool {
        true
    }

    fn is_globally_unique(&self) -> bool {
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
        36
    }

    fn sample(&self, _: Bounds, word: &str, number: usize) -> String {
        of_bits(sample::digits(word, number, 32, 4), 4)
    }

    fn json_schema(&self, _: Bounds) -> Value {
        json!({ "type": "string", "format": "uuid" })
    }

    fn json_example(&self, _: Bounds) -> Value {
        "6f9619ff-8b86-4011-b42d-00c04fc964ff".into()
    }

    fn rust(&self) -> RustType {
        RustType::referred("keyform::Uuid").with_id(RustId::Text("Uuid"))
    }

    fn is_client_id(&self) -> bool {
        true
    }
}

/// Returns the deterministic UUID of a text, the value of `uuid(text)`: the first 128 bits of its SHA-256, with the
/// version 8 (custom) bits set.
#[must_use]
pub fn uuid_of(text: &str) -> String {
    let hash = Sha256::digest(text);
    let bits = hash.iter().take(16).fold(0, |bits: u128, byte| bits << 8 | u128::from(*byte));
    of_bits(bits, 8)
}

/// Returns the UUID of these bits, with the version in the 13th digit and the variant `a` in the 17th.
fn of_bits(bits: u128, version: u8) -> String {
    const VERSION_BITS: u32 = 76;
    const VARIANT_BITS: u32 = 60;
    let kept = bits & !(0xf << VERSION_BITS | 0xf << VARIANT_BITS);
    Uuid::from_u128(kept | u128::from(version) << VERSION_BITS | 0xa << VARIANT_BITS).to_string()
}
