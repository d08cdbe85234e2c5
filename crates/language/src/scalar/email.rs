//! `email`: an e-mail address, stored trimmed and in lower case.

use serde_json::{Value, json};

use crate::template::language::{Run, literal};
use crate::template::{Class, Language};

use super::generated::{RustId, RustType};
use super::{Bounds, Facets, Scalar, Stored};

pub(super) struct Row;

/// Maximum length of an address: 64 bytes, `@`, 255 bytes.
const OCTETS_MAX: usize = 320;

impl Facets for Row {
    fn keyword(&self) -> &'static str {
        "email"
    }

    fn phrase(&self) -> &'static str {
        "an e-mail address"
    }

    fn stored(&self) -> Stored {
        Stored::Text
    }

    /// An unquoted local part in lower case, which may contain `#` and `/`, `@`, and a domain.
    fn language(&self, _: Bounds) -> Language {
        let wide = Class::ANY.without(Class::range('\0', '\u{7f}'));
        let alphanumeric = Class::range('a', 'z').or(Class::DIGITS).or(wide);
        let local = alphanumeric.or(Class::of(".!#$%&'*+-/=?^_`{|}~"));
        let domain = alphanumeric.or(Class::of(".-"));
        let words = [vec![Run::of(local, 1, Some(64))], literal("@"), vec![Run::of(domain, 1, Some(253))]].concat();
        Language { octets_max: Some(OCTETS_MAX), ..Language::new(vec![words]) }
    }

    fn normalize(&self) -> Option<fn(&str) -> String> {
        Some(|value| value.trim().to_lowercase())
    }

    fn has_one_case(&self) -> bool {
        true
    }

    fn widened(&self) -> Option<Scalar> {
        Some(Scalar::String)
    }

    fn bytes(&self, _: Bounds) -> u64 {
        24
    }

    fn sample(&self, _: Bounds, _: &str, number: usize) -> String {
        ["ada@example.com", "grace@example.com", "alan@example.com"][number % 3].to_owned()
    }

    fn json_schema(&self, _: Bounds) -> Value {
        json!({ "type": "string", "format": "email" })
    }

    fn json_example(&self, _: Bounds) -> Value {
        "ada@example.com".into()
    }

    fn rust(&self) -> RustType {
        RustType::STRING.with_id(RustId::Text("Email"))
    }

    fn is_client_id(&self) -> bool {
        true
    }
}
