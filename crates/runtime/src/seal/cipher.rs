//! Encrypts and decrypts field values: AES-256-GCM under a key derived per item and field.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use keyform_core::{AttributeValue, Attributes, Item};
use keyform_language::bind::{SEALED_OVERHEAD_BYTES, Seal, SealedField};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::key::{ID_BYTES, KEY_BYTES};
use super::{FieldKey, KeyId, Keyring, SealError};

/// Format version, the first byte of every encrypted value.
const VERSION: u8 = 1;
const HEAD_BYTES: usize = 1 + ID_BYTES + NONCE_LEN;
const TAG_BYTES: usize = 16;
/// Attribute name under which a value is encoded, as an item of one attribute.
const NAME: &str = "v";
/// Domain separation of the two HMACs.
const FOR_PLACE: &[u8] = b"place";
const FOR_NONCE: &[u8] = b"nonce";

/// Length that encryption adds to the encoded value.
const OVERHEAD_BYTES: usize = HEAD_BYTES + TAG_BYTES;
const _: () =
    assert!(OVERHEAD_BYTES == SEALED_OVERHEAD_BYTES, "`explain` shows values of the length that the store gets");

/// Encrypts the values of one call.
#[derive(Clone, Debug)]
pub struct Sealing<'a> {
    /// Keys; the primary one encrypts.
    pub ring: &'a Keyring,
    /// Random salt that the nonces are derived from. Without it, equal values of one field of one item would be
    /// encrypted to equal bytes; nonces would still never be reused for different values.
    pub salt: String,
}

impl Seal for Sealing<'_> {
    fn open(&self, field: &SealedField<'_>, sealed: &AttributeValue) -> Option<AttributeValue> {
        self.ring.open(field, sealed).ok()
    }

    fn seal(&self, place: &SealedField<'_>, value: &AttributeValue) -> AttributeValue {
        let key = self.ring.primary();
        let context = place.bytes();
        let plain = encoded(value);
        let nonce = nonce(key, &self.salt, &context, &plain);
        let mut sealed = Vec::with_capacity(plain.len() + OVERHEAD_BYTES);
        sealed.push(VERSION);
        sealed.extend_from_slice(&key.id().0);
        sealed.extend_from_slice(&nonce);
        let mut content = plain.to_vec();
        cipher(key, &context)
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(&context), &mut content)
            .expect("an item is far shorter than what the cipher takes");
        sealed.extend_from_slice(&content);
        AttributeValue::B(sealed)
    }
}

impl Keyring {
    /// Decrypts a value of this item and field.
    ///
    /// # Errors
    ///
    /// Returns a [`SealError`] if the key is unknown, or the bytes do not authenticate for this item and field.
    pub fn open(&self, place: &SealedField<'_>, sealed: &AttributeValue) -> Result<AttributeValue, SealError> {
        let damaged = || SealError::Damaged { field: place.name() };
        let bytes = match sealed {
            AttributeValue::B(bytes) if bytes.first() == Some(&VERSION) && bytes.len() >= OVERHEAD_BYTES => bytes,
            _ => return Err(SealError::NotSealed { field: place.name() }),
        };
        let id = sealed_under(sealed).ok_or_else(damaged)?;
        let key = self.find(id).ok_or_else(|| SealError::UnknownKey { field: place.name(), id })?;
        let nonce = Nonce::try_assume_unique_for_key(&bytes[1 + ID_BYTES..HEAD_BYTES]).map_err(|_| damaged())?;
        let context = place.bytes();
        let mut content = bytes[HEAD_BYTES..].to_vec();
        let plain =
            cipher(key, &context).open_in_place(nonce, Aad::from(&context), &mut content).map_err(|_| damaged())?;
        decoded(plain).ok_or_else(damaged)
    }
}

/// Returns the id of the key that encrypted a value; `None` if the value is not encrypted.
pub(crate) fn sealed_under(value: &AttributeValue) -> Option<KeyId> {
    match value {
        AttributeValue::B(bytes) if bytes.first() == Some(&VERSION) && bytes.len() >= OVERHEAD_BYTES => {
            bytes.get(1..=ID_BYTES)?.try_into().ok().map(KeyId)
        }
        _ => None,
    }
}

fn encoded(value: &AttributeValue) -> Zeroizing<Vec<u8>> {
    let attributes = Attributes::from([(NAME.to_owned(), value.clone())]);
    Zeroizing::new(Item::from(&attributes).as_bytes().to_vec())
}

fn decoded(bytes: &[u8]) -> Option<AttributeValue> {
    Item::decode(Bytes::copy_from_slice(bytes)).ok()?.to_attributes().remove(NAME)
}

/// Returns the cipher under the key derived for this item and field. ADR 0014: the limit of 2³² nonces per key then
/// applies to one field of one item.
fn cipher(key: &FieldKey, context: &[u8]) -> LessSafeKey {
    let own: Zeroizing<[u8; KEY_BYTES]> = Zeroizing::new(mac(key, &[FOR_PLACE, context]));
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, own.as_ref()).expect("the key has the cipher's length"))
}

/// Derives the nonce by an HMAC over the salt, the context and the value, so that different values never share one.
fn nonce(key: &FieldKey, salt: &str, context: &[u8], plain: &[u8]) -> [u8; NONCE_LEN] {
    let whole = mac(key, &[FOR_NONCE, salt.as_bytes(), context, plain]);
    let mut nonce = [0; NONCE_LEN];
    nonce.copy_from_slice(&whole[..NONCE_LEN]);
    nonce
}

fn mac(key: &FieldKey, parts: &[&[u8]]) -> [u8; KEY_BYTES] {
    let mut hmac = Hmac::<Sha256>::new_from_slice(key.secret()).expect("an HMAC takes a key of any length");
    for part in parts {
        hmac.update(&(part.len() as u64).to_le_bytes());
        hmac.update(part);
    }
    hmac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(byte: u8) -> Keyring {
        Keyring::of(FieldKey::new([byte; 32]))
    }

    fn key(id: &str) -> Attributes {
        [("pk".to_owned(), AttributeValue::from(id)), ("sk".to_owned(), "META".into())].into()
    }

    fn place<'a>(key: &'a Attributes) -> SealedField<'a> {
        SealedField { table: "users-dev", key, entity: "User", field: "apiKey" }
    }

    fn values() -> Vec<AttributeValue> {
        let nested = Attributes::from([("a".to_owned(), AttributeValue::L(vec![1.into(), true.into()]))]);
        vec![
            "text".into(),
            "".into(),
            7.into(),
            true.into(),
            AttributeValue::Null,
            AttributeValue::B(vec![0, 255]),
            AttributeValue::M(nested),
            AttributeValue::Ss(["a".to_owned(), "b".to_owned()].into()),
        ]
    }

    #[test]
    fn every_type_opens_as_it_was() {
        let ring = ring(1);
        let sealing = Sealing { ring: &ring, salt: "salt".to_owned() };
        let key = key("1");
        for value in values() {
            let sealed = sealing.seal(&place(&key), &value);
            assert_eq!(ring.open(&place(&key), &sealed), Ok(value));
            assert_eq!(sealed_under(&sealed), Some(ring.primary().id()));
        }
    }

    #[test]
    fn a_value_opens_nowhere_else() {
        let ring = ring(1);
        let (one, other) = (key("1"), key("2"));
        let sealed = Sealing { ring: &ring, salt: String::new() }.seal(&place(&one), &"text".into());
        let damaged = Err(SealError::Damaged { field: "User.apiKey".to_owned() });
        assert_eq!(ring.open(&place(&other), &sealed), damaged);
        assert_eq!(ring.open(&SealedField { table: "users-prod", ..place(&one) }, &sealed), damaged);
        let elsewhere = ring.open(&SealedField { field: "token", ..place(&one) }, &sealed);
        assert_eq!(elsewhere, Err(SealError::Damaged { field: "User.token".to_owned() }));
    }

    #[test]
    fn a_changed_byte_is_noticed_wherever_it_is() {
        let ring = ring(1);
        let key = key("1");
        let AttributeValue::B(sealed) = Sealing { ring: &ring, salt: String::new() }.seal(&place(&key), &7.into())
        else {
            panic!("sealed values are bytes")
        };
        for number in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[number] ^= 1;
            assert!(ring.open(&place(&key), &AttributeValue::B(changed)).is_err(), "byte {number}");
        }
        for length in 0..sealed.len() {
            assert!(ring.open(&place(&key), &AttributeValue::B(sealed[..length].to_vec())).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn a_repeated_try_is_the_same_and_another_value_never_has_its_nonce() {
        let ring = ring(1);
        let key = key("1");
        let head = |salt: &str, value: &str| {
            let sealing = Sealing { ring: &ring, salt: salt.to_owned() };
            match sealing.seal(&place(&key), &value.into()) {
                AttributeValue::B(sealed) => sealed[..HEAD_BYTES].to_vec(),
                _ => Vec::new(),
            }
        };
        assert_eq!(head("a", "one"), head("a", "one"));
        assert_ne!(head("a", "one"), head("b", "one"));
        assert_ne!(head("a", "one"), head("a", "two"));
    }

    #[test]
    fn older_keys_open_and_unknown_ones_are_named() {
        let key = key("1");
        let before = ring(1);
        let sealed = Sealing { ring: &before, salt: String::new() }.seal(&place(&key), &"text".into());
        let after = before.clone().rotated(FieldKey::new([2; 32]));
        assert_eq!(after.open(&place(&key), &sealed), Ok("text".into()));
        let unknown = SealError::UnknownKey { field: "User.apiKey".to_owned(), id: before.primary().id() };
        assert_eq!(ring(2).open(&place(&key), &sealed), Err(unknown));
        let never = Err(SealError::NotSealed { field: "User.apiKey".to_owned() });
        assert_eq!(after.open(&place(&key), &"text".into()), never);
    }
}
