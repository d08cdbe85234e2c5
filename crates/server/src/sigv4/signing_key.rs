//! Signing keys: derived from a secret for one day, region and service. They are cached, because the four hashes of a
//! derivation cost more than the rest of a verification.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use aws_lc_rs::hmac;
use zeroize::Zeroizing;

use super::{SERVICE, TERMINATOR};

/// Maximum number of cached keys; a client uses one per day.
const KEYS_MAX: usize = 256;

/// Cached keys by access key, day and region.
#[derive(Default)]
pub(super) struct SigningKeys(Mutex<HashMap<String, hmac::Key>>);

impl SigningKeys {
    /// Returns the key for a scope, from the cache if possible.
    pub(super) fn derive(&self, access_key: &str, secret: &str, day: &str, region: &str) -> hmac::Key {
        let name = format!("{access_key}/{day}/{region}");
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = keys.get(&name) {
            return key.clone();
        }
        if keys.len() >= KEYS_MAX {
            keys.clear();
        }
        let key = derive(secret, day, region, SERVICE);
        keys.insert(name, key.clone());
        key
    }
}

/// Derives a key without the cache.
pub(super) fn derive(secret: &str, day: &str, region: &str, service: &str) -> hmac::Key {
    let first = new_key(Zeroizing::new(format!("AWS4{secret}")).as_bytes());
    [day, region, service, TERMINATOR].iter().fold(first, |key, part| new_key(sign(&key, part.as_bytes()).as_ref()))
}

pub(super) fn sign(key: &hmac::Key, text: &[u8]) -> hmac::Tag {
    hmac::sign(key, text)
}

/// Encodes bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

fn new_key(bytes: &[u8]) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, bytes)
}
