//! Master keys and their file.
//!
//! ```text
//! keyform master keys, version 1
//! # Without this file, data encrypted with it cannot be read. Back it up, and keep it secret.
//! key 3f9a61c07be2d514 <32 bytes in base64>
//! key 90b1…            <the last line is the current key>
//! ```
//!
//! The id of a key is its fingerprint, so that a damaged line is detected.

use std::fmt;
use std::path::{Path, PathBuf};

use aws_lc_rs::digest;
use keyform_core::World;
use zeroize::Zeroizing;

use super::KeyError;
use super::file::{self, KeyText};
use super::wrap::Secret;

const TITLE: &str = "keyform master keys, version 1";
const ADVICE: &str = "# Without this file, data encrypted with it cannot be read. Back it up, and keep it secret.";

/// Fingerprint of a master key: 16 hexadecimal digits. Not secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MasterKeyId(String);

impl MasterKeyId {
    pub(super) fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    fn of(secret: &Secret) -> Self {
        let mut context = digest::Context::new(&digest::SHA256);
        context.update(b"keyform master key id");
        context.update(secret.bytes());
        Self(hex::encode(&context.finish().as_ref()[..8]))
    }
}

impl fmt::Display for MasterKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Key that wraps data keys.
#[derive(Clone, Debug)]
pub struct MasterKey {
    id: MasterKeyId,
    pub(super) secret: Secret,
}

impl MasterKey {
    /// Generates a random key.
    pub fn generate(world: &dyn World) -> Self {
        Self::from_secret(Secret::random(world))
    }

    /// Returns the fingerprint, which is not secret.
    pub fn id(&self) -> &MasterKeyId {
        &self.id
    }

    fn from_secret(secret: Secret) -> Self {
        Self { id: MasterKeyId::of(&secret), secret }
    }
}

/// Keys of one master key file. The last one is current.
#[derive(Debug)]
pub struct MasterKeys {
    file: PathBuf,
    older: Vec<MasterKey>,
    current: MasterKey,
}

impl MasterKeys {
    /// Reads the file, or creates it with one new key.
    ///
    /// # Errors
    /// When the file is damaged, unreadable, readable by other accounts, or cannot be created.
    pub fn load_or_create(file: &Path, world: &dyn World) -> Result<Self, KeyError> {
        if let Some(keys) = Self::load(file)? {
            return Ok(keys);
        }
        let keys = Self { file: file.to_owned(), older: Vec::new(), current: MasterKey::generate(world) };
        file::create_parent(file)?;
        if file::create_new(file, &keys.text())? {
            return Ok(keys);
        }
        // Another process created the file first: use its key.
        Self::load(file)?.ok_or_else(|| KeyError::format(file, "it disappeared while being read"))
    }

    /// Reads the file, which must exist because `data_dir` needs it.
    ///
    /// # Errors
    /// See [`Self::load`]; also [`KeyError::MasterMissing`].
    pub fn load_for(file: &Path, data_dir: &Path) -> Result<Self, KeyError> {
        Self::load(file)?
            .ok_or_else(|| KeyError::MasterMissing { file: file.to_owned(), data_dir: data_dir.to_owned() })
    }

    /// Reads the file; returns `None` if it does not exist.
    ///
    /// # Errors
    /// When the file is damaged, unreadable, or readable by other accounts.
    pub fn load(file: &Path) -> Result<Option<Self>, KeyError> {
        let Some(text) = file::read(file)? else { return Ok(None) };
        file::refuse_exposed(file)?;
        Self::parse(file, &text).map(Some)
    }

    /// Returns the path of the file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the key that wraps new key rings.
    pub fn current(&self) -> &MasterKey {
        &self.current
    }

    /// Returns the keys that may still wrap older key rings, oldest first.
    pub fn older(&self) -> &[MasterKey] {
        &self.older
    }

    /// Adds a new key to the file and makes it the current one.
    ///
    /// # Errors
    /// When the file cannot be read or replaced.
    pub fn add(file: &Path, world: &dyn World) -> Result<Self, KeyError> {
        let _lock = file::lock(file)?;
        let mut keys = Self::load_or_create(file, world)?;
        let before = std::mem::replace(&mut keys.current, MasterKey::generate(world));
        keys.older.push(before);
        file::replace(file, &keys.text())?;
        Ok(keys)
    }

    /// Removes an older key from the file. Data directories that still need it cannot be opened afterwards.
    ///
    /// # Errors
    /// [`KeyError::InUse`] for the current key, [`KeyError::Unknown`] for a key that is not in the file.
    pub fn forget(file: &Path, id: &str) -> Result<Self, KeyError> {
        let unknown = || KeyError::Unknown { file: file.to_owned(), id: id.to_owned() };
        let Some(_) = Self::load(file)? else { return Err(unknown()) };
        let _lock = file::lock(file)?;
        let mut keys = Self::load(file)?.ok_or_else(unknown)?;
        if keys.current.id.0 == id {
            return Err(KeyError::InUse { id: keys.current.id });
        }
        let place = keys.older.iter().position(|key| key.id.0 == id).ok_or_else(unknown)?;
        keys.older.remove(place);
        file::replace(file, &keys.text())?;
        Ok(keys)
    }

    pub(super) fn find(&self, id: &MasterKeyId) -> Result<&MasterKey, KeyError> {
        self.all()
            .find(|key| key.id == *id)
            .ok_or_else(|| KeyError::WrongMaster { file: self.file.clone(), needed: id.clone() })
    }

    fn all(&self) -> impl Iterator<Item = &MasterKey> {
        self.older.iter().chain([&self.current])
    }

    fn parse(file: &Path, text: &str) -> Result<Self, KeyError> {
        let mut lines = text.lines();
        if lines.next() != Some(TITLE) {
            return Err(KeyError::format(file, format!("its first line is not \"{TITLE}\"")));
        }
        let mut older = lines
            .enumerate()
            .filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty())
            .map(|(place, line)| parse_key(line).ok_or_else(|| bad_line(file, place + 2)))
            .collect::<Result<Vec<_>, _>>()?;
        let current = older.pop().ok_or_else(|| KeyError::format(file, "it contains no key"))?;
        Ok(Self { file: file.to_owned(), older, current })
    }

    fn text(&self) -> KeyText {
        let mut text = Zeroizing::new(format!("{TITLE}\n{ADVICE}\n"));
        for key in self.all() {
            text.push_str("key ");
            text.push_str(&key.id.0);
            text.push(' ');
            text.push_str(&key.secret.to_base64());
            text.push('\n');
        }
        text
    }
}

fn bad_line(file: &Path, line: usize) -> KeyError {
    KeyError::format(file, format!("line {line} is not `key`, an id and 32 bytes in base64 that match the id"))
}

fn parse_key(line: &str) -> Option<MasterKey> {
    let mut words = line.split_whitespace();
    let ("key", id, secret, None) = (words.next()?, words.next()?, words.next()?, words.next()) else { return None };
    let key = MasterKey::from_secret(Secret::from_base64(secret)?);
    (key.id.0 == id).then_some(key)
}
