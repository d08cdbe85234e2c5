//! Cursors: opaque, encrypted positions between two pages.
//!
//! A cursor is the last key of a page, encrypted with AES-256-GCM: keys can hold values that the caller must not see. The
//! key is derived from the cursor key and from everything that the cursor is valid for: the model, the pattern, its
//! arguments, and the claims of the caller that the read depends on. A cursor of another pattern, of other arguments or
//! of another caller does not decrypt.
//!
//! ```text
//! c | nonce (12 bytes) | encrypted key | tag (16 bytes)      in base64url after the letter
//! ```

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use keyform_core::{Attributes, Item};
use sha2::Sha256;
use zeroize::Zeroizing;

/// First character: a cursor that begins with `-`, as base64url can, would be taken for an option on a command line.
const PREFIX: char = 'c';
/// Domain separation of the two HMACs.
const FOR_KEY: &[u8] = b"cursor key";
const FOR_NONCE: &[u8] = b"cursor nonce";

/// Values that a cursor is only valid for.
#[derive(Clone, Debug)]
pub struct Binding<'a> {
    /// Name of the model.
    pub model: &'a str,
    /// Name of the read.
    pub pattern: &'a str,
    /// Arguments of the call.
    pub arguments: &'a Attributes,
    /// Claims of the caller that the read depends on.
    pub claims: Attributes,
}

/// Encodes the last key of a page as a cursor.
#[must_use]
pub fn seal(key: &[u8; 32], binding: &Binding<'_>, last: &Item) -> String {
    let context = binding.bytes();
    let plain = last.as_bytes();
    let nonce = nonce(key, &context, plain);
    let mut content = plain.to_vec();
    cipher(key, &context)
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(&context), &mut content)
        .expect("a key is far shorter than what the cipher takes");
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode([nonce.as_slice(), &content].concat()))
}

/// Returns the last key of a cursor; `None` if the cursor was not made for this binding.
#[must_use]
pub fn open(key: &[u8; 32], binding: &Binding<'_>, cursor: &str) -> Option<Attributes> {
    let mut bytes = URL_SAFE_NO_PAD.decode(cursor.strip_prefix(PREFIX)?).ok()?;
    let (nonce, content) = bytes.split_at_mut_checked(NONCE_LEN)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let context = binding.bytes();
    let plain = cipher(key, &context).open_in_place(nonce, Aad::from(&context), content).ok()?;
    Item::decode(Bytes::copy_from_slice(plain)).ok().map(|item| item.to_attributes())
}

impl Binding<'_> {
    /// Encodes each part with its length, so that two different bindings never have the same bytes.
    fn bytes(&self) -> Vec<u8> {
        let (arguments, claims) = (Item::from(self.arguments), Item::from(&self.claims));
        let mut bytes = Vec::new();
        for part in [self.model.as_bytes(), self.pattern.as_bytes(), arguments.as_bytes(), claims.as_bytes()] {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        bytes
    }
}

fn cipher(key: &[u8; 32], context: &[u8]) -> LessSafeKey {
    let own: Zeroizing<[u8; 32]> = Zeroizing::new(mac(key, &[FOR_KEY, context]));
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, own.as_ref()).expect("the key has the cipher's length"))
}

/// Derives the nonce from the content, so that different positions never share one. The same position of the same call
/// has the same cursor, which reveals no more than the call itself.
fn nonce(key: &[u8; 32], context: &[u8], plain: &[u8]) -> [u8; NONCE_LEN] {
    let mut nonce = [0; NONCE_LEN];
    nonce.copy_from_slice(&mac(key, &[FOR_NONCE, context, plain])[..NONCE_LEN]);
    nonce
}

fn mac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut hmac = Hmac::<Sha256>::new_from_slice(key).expect("an HMAC takes a key of any length");
    for part in parts {
        hmac.update(&(part.len() as u64).to_le_bytes());
        hmac.update(part);
    }
    hmac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn attributes(pairs: &[(&str, &str)]) -> Attributes {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect()
    }

    #[test]
    fn a_cursor_opens_only_where_it_was_made() {
        let arguments = attributes(&[("channelId", "1")]);
        let claims = attributes(&[("userId", "ada")]);
        let binding = Binding { model: "chat", pattern: "messages", arguments: &arguments, claims };
        let last = attributes(&[("pk", "CHANNEL#1"), ("sk", "MSG#7")]);
        let cursor = seal(&[7; 32], &binding, &Item::from(&last));
        assert_eq!(open(&[7; 32], &binding, &cursor), Some(last));
        let others = attributes(&[("channelId", "2")]);
        assert_eq!(open(&[7; 32], &Binding { arguments: &others, ..binding.clone() }, &cursor), None);
        assert_eq!(open(&[7; 32], &Binding { pattern: "others", ..binding.clone() }, &cursor), None);
        let claims = attributes(&[("userId", "bob")]);
        assert_eq!(open(&[7; 32], &Binding { claims, ..binding.clone() }, &cursor), None);
        assert_eq!(open(&[8; 32], &binding, &cursor), None);
        assert_eq!(open(&[7; 32], &binding, &cursor[1..]), None);
        assert_eq!(open(&[7; 32], &binding, "no cursor"), None);
        assert_eq!(open(&[7; 32], &binding, ""), None);
    }

    /// Signs a key as earlier versions did: 16 bytes of an HMAC, then the readable key.
    #[test]
    fn a_signed_cursor_of_an_earlier_version_is_refused() {
        let arguments = attributes(&[("channelId", "1")]);
        let binding = Binding { model: "chat", pattern: "messages", arguments: &arguments, claims: Attributes::new() };
        let last = Item::from(&attributes(&[("pk", "CHANNEL#1"), ("sk", "MSG#7")]));
        let mut hmac = Hmac::<Sha256>::new_from_slice(&[7; 32]).unwrap();
        for part in [b"chat".as_slice(), b"messages", Item::from(&arguments).as_bytes()] {
            hmac.update(&(part.len() as u64).to_le_bytes());
            hmac.update(part);
        }
        hmac.update(last.as_bytes());
        let signed = [&hmac.finalize().into_bytes()[..16], last.as_bytes()].concat();
        for text in [URL_SAFE_NO_PAD.encode(&signed), format!("c{}", URL_SAFE_NO_PAD.encode(&signed))] {
            assert_eq!(open(&[7; 32], &binding, &text), None);
        }
    }

    proptest! {
        #[test]
        fn a_cursor_comes_back_and_hides_its_key(sort in "[a-z#]{8,40}", argument in "[a-z]{0,20}", claim in "[a-z]{0,20}") {
            let arguments = attributes(&[("channelId", &argument)]);
            let claims = attributes(&[("userId", &claim)]);
            let binding = Binding { model: "chat", pattern: "messages", arguments: &arguments, claims };
            let last = attributes(&[("pk", "CHANNEL#1"), ("sk", &sort)]);
            let cursor = seal(&[7; 32], &binding, &Item::from(&last));
            let bytes = URL_SAFE_NO_PAD.decode(&cursor[1..]).unwrap();
            prop_assert!(!bytes.windows(sort.len()).any(|part| part == sort.as_bytes()));
            prop_assert_eq!(open(&[7; 32], &binding, &cursor), Some(last));
        }

        #[test]
        fn a_changed_cursor_does_not_open(place in 0usize..200, bit in 0u8..8) {
            let arguments = attributes(&[("channelId", "1")]);
            let binding = Binding { model: "chat", pattern: "messages", arguments: &arguments, claims: Attributes::new() };
            let cursor = seal(&[7; 32], &binding, &Item::from(&attributes(&[("pk", "a"), ("sk", "b")])));
            let mut bytes = URL_SAFE_NO_PAD.decode(&cursor[1..]).unwrap();
            let place = place % bytes.len();
            bytes[place] ^= 1 << bit;
            prop_assert_eq!(open(&[7; 32], &binding, &format!("c{}", URL_SAFE_NO_PAD.encode(bytes))), None);
        }
    }
}
