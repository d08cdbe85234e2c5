//! Encrypted fields. A value is encrypted before it enters a request and decrypted after a response, so that no store,
//! journal, stream or backup holds it in plain text (ADR 0014).
//!
//! 1. `key` is one 256-bit key; its id is its fingerprint. [`Keyring`] holds several: the first encrypts, all decrypt.
//! 2. [`SealedField`](keyform_language::bind::SealedField) is the position of a value: table, primary key, field. An
//!    encrypted value can only be decrypted there.
//! 3. [`Sealing`] encrypts a value with AES-256-GCM, and decrypts it.
//!
//! ```text
//! version  key id   nonce     ciphertext of the value  tag
//! 1 byte   8 bytes  12 bytes  as long as the value     16 bytes
//! ```
//!
//! Each position has its own key, derived from the ring's key by HMAC-SHA-256, so that no key encrypts much data. The
//! nonce is an HMAC over a salt, the position and the value: a retried request is identical, and different values
//! never share a nonce.
//!
//! This module does not store keys; the caller provides them.

mod cipher;
mod key;
mod ring;

use std::fmt;

pub use cipher::Sealing;
pub(crate) use cipher::sealed_under;
pub use key::{FieldKey, KeyId};
pub use ring::Keyring;

/// Reason why a value cannot be encrypted or decrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealError {
    /// The model has encrypted fields, but no keys were given.
    NoKeys {
        /// One of the encrypted fields, such as `User.apiKey`.
        field: String,
    },
    /// The value was encrypted with a key that is not in the ring.
    UnknownKey {
        /// Encrypted field, such as `User.apiKey`.
        field: String,
        /// Fingerprint of the missing key.
        id: KeyId,
    },
    /// The bytes do not authenticate for this position: modified, truncated, or copied from another item.
    Damaged {
        /// Encrypted field, such as `User.apiKey`.
        field: String,
    },
    /// The field holds a value that was never encrypted.
    NotSealed {
        /// Encrypted field, such as `User.apiKey`.
        field: String,
    },
    /// The text of a key ring is invalid; holds the message.
    Ring(String),
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoKeys { field } => write!(
                f,
                "`{field}` is encrypted, but there is no field key: create one with `keyform field-keys new FILE` and \
                set KEYFORM_FIELD_KEYS_FILE"
            ),
            Self::UnknownKey { field, id } => write!(
                f,
                "`{field}` is encrypted with the field key {id}, which is not configured: add it to the file in \
                KEYFORM_FIELD_KEYS_FILE"
            ),
            Self::Damaged { field } => {
                write!(
                    f,
                    "`{field}` cannot be decrypted: its bytes were changed, or belong to another item, field or \
                    table"
                )
            }
            Self::NotSealed { field } => write!(
                f,
                "`{field}` is encrypted in the model but not in the item, which was written before the field was \
                encrypted, or without the model; `keyform field-keys reseal` encrypts it"
            ),
            Self::Ring(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for SealError {}
