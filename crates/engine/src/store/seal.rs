//! Encryption and authentication of files.
//!
//! Every file has its own key, derived (HKDF-SHA256) from a data key and a random salt in the file's header. A counter
//! is therefore a safe nonce, and a piece of one file never opens as a piece of another:
//!
//! ```text
//! data key ──HKDF(salt of the file, its header)──► file key ──AES-256-GCM(nonce = position)──► sealed piece
//! ```
//!
//! Without data keys the pieces are not encrypted and have a checksum, seeded by the salt, in place of the tag. Both
//! are 16 bytes, so the layout is the same.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hkdf;
use keyform_core::World;
use twox_hash::XxHash64;

use super::error::StoreError;

/// Size of the tag that sealing appends.
pub(super) const TAG_BYTES: usize = 16;
pub(super) const SALT_BYTES: usize = 32;
/// Key id in the header of an unencrypted file.
pub(super) const PLAIN_KEY_ID: u32 = 0;

/// Random part of a file's header.
pub(super) type Salt = [u8; SALT_BYTES];

/// Data keys: one for new files, and older ones for files written under them.
#[derive(Clone)]
pub struct DataKeys {
    current: u32,
    keys: BTreeMap<u32, [u8; 32]>,
}

impl DataKeys {
    /// Creates a set with one key, the current one. Ids start at 1; 0 means "not encrypted".
    pub fn new(id: u32, key: [u8; 32]) -> Self {
        DataKeys { current: id, keys: BTreeMap::from([(id, key)]) }
    }

    /// Adds a key for reading files that were written under it.
    #[must_use]
    pub fn with_older(mut self, id: u32, key: [u8; 32]) -> Self {
        self.keys.entry(id).or_insert(key);
        self
    }

    /// Returns the id of the key for new files.
    pub fn current(&self) -> u32 {
        self.current
    }
}

impl fmt::Debug for DataKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataKeys").field("current", &self.current).finish_non_exhaustive()
    }
}

/// Data keys of an open store, or none if it is not encrypted, and the randomness for new files.
#[derive(Debug, Clone)]
pub(super) struct Vault {
    keys: Option<DataKeys>,
    world: Arc<dyn World>,
}

impl Vault {
    pub(super) fn new(keys: Option<DataKeys>, world: Arc<dyn World>) -> Self {
        Vault { keys, world }
    }

    /// Returns random bytes, such as the salt of a new file.
    pub(super) fn random<const N: usize>(&self) -> [u8; N] {
        self.world.random()
    }

    pub(super) fn current_key_id(&self) -> u32 {
        self.keys.as_ref().map_or(PLAIN_KEY_ID, DataKeys::current)
    }

    /// Returns the seal of a file. `salt` is random; `identity` is the unencrypted content of the header, so that a
    /// file with a changed header does not open.
    pub(super) fn seal(&self, key_id: u32, salt: &Salt, identity: &[u8]) -> Result<Seal, StoreError> {
        match (&self.keys, key_id) {
            (None, PLAIN_KEY_ID) => Ok(Seal::Checked(XxHash64::oneshot(XxHash64::oneshot(0, salt), identity))),
            (None, _) => Err(wrong_key("the data is encrypted: use the master key it was created with")),
            (Some(_), PLAIN_KEY_ID) => Err(wrong_key("the data is not encrypted: open it with encryption disabled")),
            (Some(keys), id) => match keys.keys.get(&id) {
                Some(key) => Ok(Seal::Encrypted(Box::new(derive(key, salt, identity)?))),
                None => {
                    Err(wrong_key(&format!("data key {id} is missing: use the key ring the data was created with")))
                }
            },
        }
    }
}

pub(super) fn wrong_key(what: &str) -> StoreError {
    StoreError::WrongKey { what: what.to_owned() }
}

fn derive(key: &[u8; 32], salt: &Salt, identity: &[u8]) -> Result<LessSafeKey, StoreError> {
    let label = [b"keyform file key".as_slice(), identity];
    let secret = hkdf::Salt::new(hkdf::HKDF_SHA256, salt).extract(key);
    let derived = secret.expand(&label, &AES_256_GCM).map_err(|_| wrong_key("the data key cannot be used"))?;
    Ok(LessSafeKey::new(UnboundKey::from(derived)))
}

/// Seals and opens the pieces of one file.
pub(super) enum Seal {
    Encrypted(Box<LessSafeKey>),
    Checked(u64),
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Seal::Encrypted(_) => "Encrypted",
            Seal::Checked(_) => "Checked",
        })
    }
}

impl Seal {
    /// Turns `buffer[start..]` into a sealed piece: the content in place and the tag after it.
    ///
    /// `place` is the nonce and must be unique within the file: an offset or a counter.
    pub(super) fn close(&self, place: u64, buffer: &mut Vec<u8>, start: usize) -> Result<(), StoreError> {
        match self {
            Seal::Encrypted(key) => {
                let sealed = key.seal_in_place_separate_tag(nonce(place), Aad::empty(), &mut buffer[start..]);
                let tag = sealed.map_err(|_| StoreError::BatchTooLarge)?;
                buffer.extend_from_slice(tag.as_ref());
            }
            Seal::Checked(seed) => {
                let sum = XxHash64::oneshot(seed ^ place, &buffer[start..]);
                buffer.extend_from_slice(&sum.to_le_bytes());
                buffer.extend_from_slice(&(!sum).to_le_bytes());
            }
        }
        Ok(())
    }

    /// Opens a sealed piece in place; returns the length of its content, or `None` if it is not what was sealed.
    pub(super) fn open(&self, place: u64, piece: &mut [u8]) -> Option<usize> {
        let length = piece.len().checked_sub(TAG_BYTES)?;
        match self {
            Seal::Encrypted(key) => {
                key.open_in_place(nonce(place), Aad::empty(), piece).ok().map(|content| content.len())
            }
            Seal::Checked(seed) => {
                let (content, tag) = piece.split_at(length);
                let sum = XxHash64::oneshot(seed ^ place, content);
                let expected = [sum.to_le_bytes(), (!sum).to_le_bytes()].concat();
                (tag == expected).then_some(length)
            }
        }
    }
}

fn nonce(place: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[4..].copy_from_slice(&place.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vault(keys: Option<DataKeys>) -> Vault {
        Vault::new(keys, keyform_world::system())
    }

    fn check(vault: &Vault) {
        let salt = vault.random();
        let key_id = vault.current_key_id();
        let seal = vault.seal(key_id, &salt, b"table 1").unwrap();
        let mut piece = b"..content".to_vec();
        seal.close(7, &mut piece, 2).unwrap();
        let open = |seal: &Seal, place| seal.open(place, &mut piece.clone()[2..]);
        let again = vault.seal(key_id, &salt, b"table 1").unwrap();
        assert_eq!(open(&again, 7), Some(7));
        assert_eq!(open(&again, 8), None, "a piece opens only at its place");
        let other = vault.seal(key_id, &salt, b"table 2").unwrap();
        assert_eq!(open(&other, 7), None, "a piece opens only in its file");
    }

    #[test]
    fn pieces_open_only_where_they_were_sealed() {
        check(&vault(None));
        check(&vault(Some(DataKeys::new(1, [3; 32]))));
    }

    #[test]
    fn a_missing_key_is_said_to_be_missing() {
        let vault = vault(Some(DataKeys::new(2, [3; 32])));
        let error = vault.seal(1, &[0; SALT_BYTES], b"").unwrap_err();
        assert!(error.to_string().contains("data key 1 is missing"), "{error}");
    }
}
