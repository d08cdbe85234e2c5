//! `email`: an e-mail address, stored trimmed and in lower case.
//!
//! An address has one spelling, so that one mailbox is one account. A mailbox can be written in many ways that look the
//! same or are delivered to the same place: with zero-width characters, full-width letters, composed and decomposed
//! accents, a domain in Unicode or in its `xn--` form, or a dot at the end of the domain. The rules are those of
//! `<input type="email">` in HTML: only ASCII is allowed, and a domain consists of labels.

use std::borrow::Cow;

use keyform_core::AttributeValue;
use serde_json::{Value, json};

use crate::template::language::{Run, literal};
use crate::template::{Class, Language};

use super::generated::{RustId, RustType};
use super::{Bounds, Facets, Reading, Scalar, Spelling, Stored};

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

    /// Stricter than the language, which is an upper bound for proofs about keys.
    fn accepts(&self, bounds: Bounds, value: &str) -> bool {
        has_one_spelling(value) && self.language(bounds).holds(value)
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

    fn reading<'v>(&self, _: Bounds, value: &'v AttributeValue) -> Option<Reading<'v>> {
        let AttributeValue::S(text) = value else { return None };
        if is_normal(text) {
            return has_one_spelling(text).then_some(Cow::Borrowed(value));
        }
        let normal = text.trim().to_lowercase();
        has_one_spelling(&normal).then(|| Cow::Owned(normal.into()))
    }

    fn also_reads(&self) -> &'static [Spelling] {
        &[Spelling::Case]
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

/// Maximum length of a label of a domain name.
const LABEL_BYTES_MAX: usize = 63;

/// Returns whether an address is trimmed and in lower case.
fn is_normal(address: &str) -> bool {
    !address.contains(|character: char| character.is_whitespace() || character.is_uppercase())
}

/// Returns whether an address, trimmed and in lower case, has no other spelling.
fn has_one_spelling(address: &str) -> bool {
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    local.is_ascii() && domain.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = label.as_bytes();
    label.len() <= LABEL_BYTES_MAX
        && is_edge(bytes.first())
        && is_edge(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_of_a_mailbox_are_rejected() {
        for address in
            ["ada@example.com", "a.d+a#1@mail.example.com", "ada@xn--mnchen-3ya.de", "ada@localhost", "ada@1.example"]
        {
            assert!(has_one_spelling(address), "{address}");
        }
        for address in [
            "ada@example.com.",
            "ada@.example.com",
            "ada@example..com",
            "ada@-example.com",
            "ada@example-.com",
            "ada\u{200b}@example.com",
            "ada@exam\u{ad}ple.com",
            "\u{ff41}da@example.com",
            "ada@\u{ff45}xample.com",
            "ada@m\u{fc}nchen.de",
            "ade\u{301}@example.com",
            "ada@example\u{3002}com",
            "ada@",
            "ada",
        ] {
            assert!(!has_one_spelling(address), "{address}");
        }
        assert!(!has_one_spelling(&format!("ada@{}.example", "a".repeat(64))));
    }
}
