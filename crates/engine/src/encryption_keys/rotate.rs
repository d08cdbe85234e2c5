//! Rotation: a new master key, and a new data key for files written from now on (ADR 0005).
//!
//! 1. The new master key is added to the master key file, which keeps the older ones. A crash here leaves an unused
//!    key.
//! 2. The ring is replaced by one with a new data key, wrapped by the new master key. A crash before the rename leaves
//!    the old ring, whose master key is still in the file.
//!
//! Older data keys stay in the ring, because files may be sealed under them; compaction rewrites those files.

use std::path::Path;

use keyform_core::World;

use super::file;
use super::{KEY_RING_FILE, KeyError, KeyRing, MasterKeyId, MasterKeys};

/// Result of a rotation.
#[derive(Debug)]
pub struct Rotation {
    /// Master key that wrapped the ring before.
    pub master_before: MasterKeyId,
    /// Master key that wraps the ring now.
    pub master: MasterKeyId,
    /// Number of the data key for new files.
    pub data_key: u32,
}

/// Rotates the keys of `data_dir`.
///
/// # Errors
/// See [`open`](super::open) for a directory that has a key ring; also when a file cannot be replaced. After any
/// failure the data can still be opened with the same master key file.
pub fn rotate(data_dir: &Path, master_key_file: &Path, world: &dyn World) -> Result<Rotation, KeyError> {
    if !data_dir.is_dir() {
        return Err(KeyError::DirectoryMissing { data_dir: data_dir.to_owned() });
    }
    if !KeyRing::exists(data_dir) {
        return Err(KeyError::RingMissing { data_dir: data_dir.to_owned() });
    }
    let _lock = file::lock(&data_dir.join(KEY_RING_FILE))?;
    let masters = MasterKeys::load_for(master_key_file, data_dir)?;
    let mut ring = KeyRing::load(data_dir, &masters)?;
    let master_before = ring.master().clone();
    let masters = MasterKeys::add(master_key_file, world)?;
    ring.rewrap(masters.current(), true, world)?;
    Ok(Rotation { master_before, master: masters.current().id().clone(), data_key: ring.current() })
}
