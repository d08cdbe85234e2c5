//! Sealed fields: what `encrypted` promises. A value is sealed before it becomes part of a request and opened after it came out of an
//! answer, so that no store, journal, stream or backup ever holds it readable.
//!
//! 1. `key` is one 256-bit key; its id is its fingerprint. [`Keyring`] holds several: the first seals, all open.
//! 2. [`SealedField`](keyform_language::bind::SealedField) is the position of a value: table, primary key, field. A sealed value opens only there.
//! 3. [`Sealing`] seals a value into bytes (AES-256-GCM) and opens them again.
//!
//! ```text
//! version  key id   nonce     ciphertext of the value  tag
//! 1 byte   8 bytes  12 bytes  as long as the value     16 bytes
//! ```
//!
//! Each place has a key of its own, derived from the ring's key by HMAC-SHA-256, so that no key ever seals much. The nonce is an HMAC of a
//! salt, the place and the value: a request that is tried again is the same to the letter, and another value never has the same nonce.
//!
//! Where keys are kept is not known here.

mod cipher;
mod key;
mod ring;

use std::fmt;

pub use cipher::Sealing;
pub(crate) use cipher::sealed_under;
pub use key::{FieldKey, KeyId};
pub use ring::Keyring;

/// Why a value cannot be sealed or opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealError {
    /// A model has encrypted fields, and there are no keys.
    NoKeys {
        /// One of the fields: `User.apiKey`.
        field: String,
    },
    /// A value was sealed under a key that is not in the ring.
    UnknownKey {
        /// The field: `User.apiKey`.
        field: String,
        /// The key's id.
        id: KeyId,
    },
    /// Bytes that are no sealed value of this place: changed, cut off, or moved here from another item.
    Damaged {
        /// The field: `User.apiKey`.
        field: String,
    },
    /// The field holds a value that was never sealed.
    NotSealed {
        /// The field: `User.apiKey`.
        field: String,
    },
    /// The text of a ring of keys cannot be read.
    Ring(String),
    /// The operating system has no random bytes.
    NoRandom,
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKeys { field } => write!(
                f,
                "`{field}` is encrypted, and there is no key to seal it with: make one with `keyform field-keys new FILE`, and name the file \
                 in KEYFORM_FIELD_KEYS_FILE"
            ),
            Self::UnknownKey { field, id } => write!(
                f,
                "`{field}` is sealed under the field key {id}, which is not among the keys given: add it to the file that \
                 KEYFORM_FIELD_KEYS_FILE names"
            ),
            Self::Damaged { field } => {
                write!(f, "`{field}` does not open: its bytes were changed, or come from another item, field or table")
            }
            Self::NotSealed { field } => write!(
                f,
                "`{field}` is encrypted, but the item holds it as it is: it was written before the field was encrypted, or past the model; \
                 `keyform field-keys reseal` seals it"
            ),
            Self::Ring(why) => f.write_str(why),
            Self::NoRandom => f.write_str("the operating system has no random bytes"),
        }
    }
}

impl std::error::Error for SealError {}
