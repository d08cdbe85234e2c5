//! Key ring of a data directory: its data keys, wrapped by one master key.
//!
//! ```text
//! keyform key ring, version 1
//! master 3f9a61c07be2d514
//! current 2
//! key 1 <wrapped>
//! key 2 <wrapped>
//! seal <proof under the master key that no line above was changed>
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use keyform_core::World;

use super::file;
use super::wrap::{KEY_BYTES, Secret};
use super::{KeyError, MasterKey, MasterKeyId, MasterKeys};
use crate::owner_only;
use crate::store::DataKeys;

/// File name of the key ring in the data directory.
pub const KEY_RING_FILE: &str = "keyring";
/// All file names that this module uses in the data directory: the ring, its lock, and a leftover of a crash.
pub const KEY_RING_FILES: [&str; 3] = [KEY_RING_FILE, "keyring.lock", "keyring.tmp"];

const TITLE: &str = "keyform key ring, version 1";
const SEAL_CONTEXT: &[u8] = b"keyform key ring seal\n";

/// Unwrapped data keys of a directory.
#[derive(Debug)]
pub struct KeyRing {
    file: PathBuf,
    master: MasterKeyId,
    current: u32,
    keys: BTreeMap<u32, Secret>,
}

impl KeyRing {
    /// Returns whether the directory has a key ring.
    pub fn exists(data_dir: &Path) -> bool {
        data_dir.join(KEY_RING_FILE).exists()
    }

    /// Writes a ring with one new data key, number 1. Loads the ring instead if another process has just created it.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn create(data_dir: &Path, masters: &MasterKeys, world: &dyn World) -> Result<Self, KeyError> {
        owner_only::create_dir_all(data_dir).map_err(KeyError::io("create", data_dir))?;
        let _lock = file::lock(&data_dir.join(KEY_RING_FILE))?;
        if Self::exists(data_dir) {
            return Self::load(data_dir, masters);
        }
        let master = masters.current();
        let keys = BTreeMap::from([(1, Secret::random(world))]);
        let ring = Self { file: data_dir.join(KEY_RING_FILE), master: master.id().clone(), current: 1, keys };
        ring.store(master, world)?;
        Ok(ring)
    }

    /// Reads the ring of a directory.
    ///
    /// # Errors
    /// When the ring is missing, damaged, or wrapped by none of `masters`.
    pub fn load(data_dir: &Path, masters: &MasterKeys) -> Result<Self, KeyError> {
        let file = data_dir.join(KEY_RING_FILE);
        let missing = || KeyError::RingMissing { data_dir: data_dir.to_owned() };
        let text = file::read(&file)?.ok_or_else(missing)?;
        parse(&file, &text, masters)
    }

    /// Returns the number of the key for new files.
    pub fn current(&self) -> u32 {
        self.current
    }

    /// Returns the id of the master key that wraps the ring.
    pub fn master(&self) -> &MasterKeyId {
        &self.master
    }

    /// Returns all data keys with their numbers, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8; KEY_BYTES])> {
        self.keys.iter().map(|(id, key)| (*id, key.bytes()))
    }

    /// Returns the keys in the form that the store takes.
    pub fn data_keys(&self) -> DataKeys {
        let current = &self.keys[&self.current];
        let keys = DataKeys::new(self.current, *current.bytes());
        self.iter().fold(keys, |keys, (id, key)| keys.with_older(id, *key))
    }

    /// Wraps all keys with another master key and optionally adds a new data key for new files. Replaces the file.
    ///
    /// # Errors
    /// When the file cannot be replaced; it is then unchanged.
    pub fn rewrap(&mut self, master: &MasterKey, with_new_data_key: bool, world: &dyn World) -> Result<(), KeyError> {
        if with_new_data_key {
            self.current = self.keys.last_key_value().map_or(1, |(id, _)| id + 1);
            self.keys.insert(self.current, Secret::random(world));
        }
        self.master = master.id().clone();
        self.store(master, world)
    }

    fn store(&self, master: &MasterKey, world: &dyn World) -> Result<(), KeyError> {
        let mut text = format!("{TITLE}\nmaster {}\ncurrent {}\n", self.master, self.current);
        for (id, key) in &self.keys {
            let wrapped = master.secret.wrap(&key_context(*id), key.bytes(), world);
            writeln!(text, "key {id} {wrapped}").expect("a string takes all text");
        }
        let seal = master.secret.wrap(&seal_context(&text), &[], world);
        writeln!(text, "seal {seal}").expect("a string takes all text");
        file::replace(&self.file, &text)
    }
}

/// Rejects a directory in which a new ring would hide the loss of the old one, or which has files of other programs.
pub(super) fn refuse_occupied(data_dir: &Path) -> Result<(), KeyError> {
    let entries = match fs::read_dir(data_dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(KeyError::io("read", data_dir)(error)),
    };
    let mut found = None;
    for entry in entries {
        let name = entry.map_err(KeyError::io("read", data_dir))?.file_name().to_string_lossy().into_owned();
        match name.as_str() {
            "MANIFEST" => return Err(KeyError::RingMissing { data_dir: data_dir.to_owned() }),
            "LOCK" => {}
            ours if KEY_RING_FILES.contains(&ours) => {}
            _ => found = Some(name),
        }
    }
    found.map_or(Ok(()), |found| Err(KeyError::Foreign { data_dir: data_dir.to_owned(), found }))
}

fn parse(file: &Path, text: &str, masters: &MasterKeys) -> Result<KeyRing, KeyError> {
    let damaged = |what: &str| KeyError::format(file, what);
    if text.lines().next() != Some(TITLE) {
        return Err(damaged("it does not start like a key ring of version 1"));
    }
    let master_id = text.lines().nth(1).and_then(|line| line.strip_prefix("master "));
    let master_id = MasterKeyId::from_text(master_id.ok_or_else(|| damaged("it names no master key"))?);
    let master = masters.find(&master_id)?;
    let (sealed, seal) = text.trim_end().rsplit_once("seal ").ok_or_else(|| damaged("it has no seal"))?;
    master.secret.unwrap(&seal_context(sealed), seal).ok_or_else(|| damaged("its seal does not match"))?;
    let mut ring = KeyRing { file: file.to_owned(), master: master_id, current: 0, keys: BTreeMap::new() };
    for line in sealed.lines().skip(2) {
        parse_line(&mut ring, line, master).ok_or_else(|| damaged("one of its lines cannot be parsed"))?;
    }
    match ring.keys.contains_key(&ring.current) {
        true => Ok(ring),
        false => Err(damaged("its current key is missing")),
    }
}

fn parse_line(ring: &mut KeyRing, line: &str, master: &MasterKey) -> Option<()> {
    if let Some(current) = line.strip_prefix("current ") {
        ring.current = current.parse().ok()?;
        return Some(());
    }
    let (id, wrapped) = line.strip_prefix("key ")?.split_once(' ')?;
    let id = id.parse().ok()?;
    let key = master.secret.unwrap(&key_context(id), wrapped)?;
    ring.keys.insert(id, Secret::from_slice(&key)?);
    Some(())
}

fn key_context(id: u32) -> Vec<u8> {
    format!("keyform data key {id}").into_bytes()
}

fn seal_context(text: &str) -> Vec<u8> {
    [SEAL_CONTEXT, text.as_bytes()].concat()
}
