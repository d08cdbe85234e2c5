//! Keys for encryption at rest (ADR 0005).
//!
//! ```text
//! master key file (outside the data directory, mode 0600)
//!      │ AES-256-GCM
//!      ▼
//! keyring (in the data directory): data key 1, data key 2, … each wrapped
//!      │
//!      ▼
//! the store's files, each sealed under a key derived from one data key
//! ```
//!
//! How a directory is opened:
//! 1. If the directory has a key ring, [`open`] requires the master key file with the key that wraps it.
//! 2. If it has none and is empty, [`open`] creates the master key file if missing ([`MasterKeys::load_or_create`]) and
//!    a [`KeyRing`] with one new data key.
//! 3. The store takes the unwrapped keys from [`KeyRing::data_keys`].
//!
//! [`rotate`] adds a new master key and a new data key; its module explains why a crash after any step is safe.
//!
//! One master key file can serve many data directories of a user, so a rotation adds a key and keeps the older ones.
//! [`MasterKeys::forget`] removes a key that no directory needs any more. This module does not depend on the format of
//! the store's files.

mod error;
mod file;
mod location;
mod master;
mod ring;
mod rotate;
mod wrap;

pub use error::KeyError;
pub use location::{configuration_folder, user_master_key_file};
pub use master::{MasterKey, MasterKeyId, MasterKeys};
pub use ring::{KEY_RING_FILE, KEY_RING_FILES, KeyRing};
pub use rotate::{Rotation, rotate};

use std::path::Path;

use keyform_core::World;

/// Opens the key ring of `data_dir` with the master key file. Creates both for a new directory.
///
/// # Errors
/// When the master key file is missing, unreadable, unprotected or the wrong one, when the key ring is damaged or lost,
/// or when the directory contains other files. Nothing is written in these cases.
pub fn open(data_dir: &Path, master_key_file: &Path, world: &dyn World) -> Result<KeyRing, KeyError> {
    if KeyRing::exists(data_dir) {
        let masters = MasterKeys::load_for(master_key_file, data_dir)?;
        return KeyRing::load(data_dir, &masters);
    }
    ring::refuse_occupied(data_dir)?;
    let masters = MasterKeys::load_or_create(master_key_file, world)?;
    KeyRing::create(data_dir, &masters, world)
}

#[cfg(test)]
mod tests;
