//! Key that encrypts cursors. Processes with the same key accept each other's cursors: the instances of a server, a
//! restarted server, and separate runs of the command.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use keyform::{SystemWorld, World as _};
use keyform_engine::owner_only;
use keyform_world::exposed_mode;

/// Length of a key in bytes.
pub(crate) const KEY_BYTES: usize = 32;

/// Reason why the key cannot be used.
#[derive(Debug)]
pub(crate) enum CursorKeyError {
    /// The file cannot be read or created.
    Io(PathBuf, io::Error),
    /// The file does not contain a key.
    Form(PathBuf),
    /// Other users can read the file.
    Exposed(PathBuf),
}

impl fmt::Display for CursorKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(file, error) => write!(f, "cannot use the cursor key in {}: {error}", file.display()),
            Self::Form(file) => write!(
                f,
                "{} does not contain a cursor key: 64 hexadecimal digits, as `openssl rand -hex 32` prints them",
                file.display()
            ),
            Self::Exposed(file) => {
                write!(f, "{} contains a secret, but other users can read it: run chmod 600", file.display())
            }
        }
    }
}

impl std::error::Error for CursorKeyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            Self::Form(_) | Self::Exposed(_) => None,
        }
    }
}

/// Generates a random key.
#[must_use]
pub(crate) fn random() -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    SystemWorld.fill(&mut key);
    key
}

/// Reads the key from a file.
///
/// # Errors
/// The file does not exist, is readable by other users, or does not contain a key.
pub(crate) fn read(file: &Path) -> Result<[u8; KEY_BYTES], CursorKeyError> {
    refuse_exposed(file)?;
    let text = fs::read_to_string(file).map_err(|error| CursorKeyError::Io(file.to_owned(), error))?;
    parse(text.trim()).ok_or_else(|| CursorKeyError::Form(file.to_owned()))
}

/// Reads the key from a file, which is created if it does not exist. Concurrently started processes all get the same
/// key.
///
/// # Errors
/// As [`read`], or the file cannot be created.
pub(crate) fn read_or_make(file: &Path) -> Result<[u8; KEY_BYTES], CursorKeyError> {
    if !file.exists() {
        make(file).map_err(|error| CursorKeyError::Io(file.to_owned(), error))?;
    }
    read(file)
}

/// Creates the file under a temporary name and hard-links it to its own. Linking fails if another process was first, so
/// the file is always complete and never overwritten.
fn make(file: &Path) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        owner_only::create_dir_all(folder)?;
    }
    let aside = file.with_extension(format!("new-{}", hex::encode(&random()[..8])));
    let mut new = owner_only::options().write(true).create_new(true).open(&aside)?;
    writeln!(new, "{}", hex::encode(random()))?;
    new.sync_all()?;
    let named = fs::hard_link(&aside, file);
    fs::remove_file(&aside)?;
    match named {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        named => named,
    }
}

fn parse(text: &str) -> Option<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    hex::decode_to_slice(text, &mut key).ok()?;
    Some(key)
}

fn refuse_exposed(file: &Path) -> Result<(), CursorKeyError> {
    match exposed_mode(file).map_err(|error| CursorKeyError::Io(file.to_owned(), error))? {
        Some(_) => Err(CursorKeyError::Exposed(file.to_owned())),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings/cursor.key");
        let key = read_or_make(&file).unwrap();
        assert_eq!(read_or_make(&file).unwrap(), key);
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "nothing is left aside");
        fs::write(&file, "short").unwrap();
        assert!(matches!(read_or_make(&file), Err(CursorKeyError::Form(_))));
        assert!(matches!(read(&folder.path().join("none")), Err(CursorKeyError::Io(..))));
    }

    #[test]
    fn of_processes_that_start_at_once_all_have_the_same_key() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cursor.key");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| read_or_make(&file).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
    }
}
