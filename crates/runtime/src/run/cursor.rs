//! Cursors: opaque, authenticated positions between two pages.
//!
//! A cursor is the last key of a page, authenticated by an HMAC over the model, the pattern, its arguments and the
//! key. A cursor of another pattern or of other arguments does not verify.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use keyform_core::{Attributes, Item};
use sha2::Sha256;

/// Length of the truncated HMAC.
const SEAL_BYTES: usize = 16;

/// Values that a cursor is only valid for.
#[derive(Clone, Debug)]
pub struct Binding<'a> {
    /// Name of the model.
    pub model: &'a str,
    /// Name of the read.
    pub pattern: &'a str,
    /// Arguments of the call.
    pub arguments: &'a Attributes,
}

/// Encodes the last key of a page as a cursor.
#[must_use]
pub fn seal(key: &[u8; 32], binding: &Binding<'_>, last: &Item) -> String {
    let body = last.as_bytes();
    let mut bytes = mac(key, binding, body);
    bytes.extend_from_slice(body);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the last key of a cursor; `None` if the cursor was not made for this binding.
#[must_use]
pub fn open(key: &[u8; 32], binding: &Binding<'_>, cursor: &str) -> Option<Attributes> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let (seal, body) = bytes.split_at_checked(SEAL_BYTES)?;
    let mut hmac = started(key, binding);
    hmac.update(body);
    hmac.verify_truncated_left(seal).ok()?;
    Item::decode(Bytes::copy_from_slice(body)).ok().map(|item| item.to_attributes())
}

fn mac(key: &[u8; 32], binding: &Binding<'_>, body: &[u8]) -> Vec<u8> {
    let mut hmac = started(key, binding);
    hmac.update(body);
    hmac.finalize().into_bytes()[..SEAL_BYTES].to_vec()
}

/// Hashes each part with its length, so that two different bindings never produce the same input.
fn started(key: &[u8; 32], binding: &Binding<'_>) -> Hmac<Sha256> {
    let mut hmac = Hmac::<Sha256>::new_from_slice(key).expect("an HMAC takes a key of any length");
    let arguments = Item::from(binding.arguments);
    for part in [binding.model.as_bytes(), binding.pattern.as_bytes(), arguments.as_bytes()] {
        hmac.update(&(part.len() as u64).to_le_bytes());
        hmac.update(part);
    }
    hmac
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(pairs: &[(&str, &str)]) -> Attributes {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect()
    }

    #[test]
    fn a_cursor_opens_only_where_it_was_made() {
        let arguments = attributes(&[("channelId", "1")]);
        let binding = Binding { model: "chat", pattern: "messages", arguments: &arguments };
        let last = attributes(&[("pk", "CHANNEL#1"), ("sk", "MSG#7")]);
        let cursor = seal(&[7; 32], &binding, &Item::from(&last));
        assert_eq!(open(&[7; 32], &binding, &cursor), Some(last));
        let others = attributes(&[("channelId", "2")]);
        assert_eq!(open(&[7; 32], &Binding { arguments: &others, ..binding.clone() }, &cursor), None);
        assert_eq!(open(&[7; 32], &Binding { pattern: "others", ..binding.clone() }, &cursor), None);
        assert_eq!(open(&[8; 32], &binding, &cursor), None);
        assert_eq!(open(&[7; 32], &binding, &cursor[1..]), None);
        assert_eq!(open(&[7; 32], &binding, "no cursor"), None);
        assert_eq!(open(&[7; 32], &binding, ""), None);
    }
}
