//! The keys of encryption at rest: who may read the data directory.
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
//! Opening a directory, in order:
//! 1. [`open`] looks whether the directory has a key ring. If so, the master key file must be there and fit.
//! 2. If not, and the directory is empty, the master key file is made where missing ([`MasterKeys::load_or_create`])
//!    and a [`KeyRing`] with one fresh data key is written.
//! 3. The store takes the unwrapped keys from [`KeyRing::data_keys`].
//!
//! [`rotate`] adds a new master key and a new data key; see there why each of its steps may be the last one.
//!
//! One master key file may serve many data directories of a user, so that a rotation adds a key and keeps the older ones;
//! [`MasterKeys::forget`] removes one when no directory needs it any more. This module knows nothing of the store's files.

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

/// Opens the key ring of `data_dir` under the master key file, making both where the directory is new.
///
/// # Errors
/// A missing, unreadable, unprotected or wrong master key file; a damaged or lost key ring; a directory which holds
/// something else. Nothing is written then.
pub fn open(data_dir: &Path, master_key_file: &Path) -> Result<KeyRing, KeyError> {
    if KeyRing::exists(data_dir) {
        let masters = MasterKeys::load_for(master_key_file, data_dir)?;
        return KeyRing::load(data_dir, &masters);
    }
    ring::refuse_occupied(data_dir)?;
    let masters = MasterKeys::load_or_create(master_key_file)?;
    KeyRing::create(data_dir, &masters)
}

#[cfg(test)]
mod tests;
