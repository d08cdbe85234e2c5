//! Key files on disk: written atomically, readable only by their owner.
//!
//! A replacement writes a temporary file with mode 0600, syncs it, renames it over the old file and syncs the
//! directory. A crash leaves either the old or the new content.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use keyform_world::exposed_mode;
use zeroize::Zeroizing;

use super::KeyError;
use crate::owner_only;

/// Text of a key file; the buffer is wiped when dropped.
pub(super) type KeyText = Zeroizing<String>;

/// Reads a key file; returns `None` if it does not exist.
pub(super) fn read(file: &Path) -> Result<Option<KeyText>, KeyError> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(Zeroizing::new(text))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(KeyError::format(file, "it is not UTF-8 text")),
        Err(error) => Err(KeyError::io("read", file)(error)),
    }
}

/// Replaces the file's content atomically; the caller holds the [`lock`].
pub(super) fn replace(file: &Path, text: &str) -> Result<(), KeyError> {
    let temporary = beside(file, "tmp");
    write_temporary(&temporary, text)?;
    fs::rename(&temporary, file).map_err(KeyError::io("replace", file))?;
    sync_parent(file)
}

/// Creates the file unless it exists; returns whether it did. Uses a hard link, which fails if another process was
/// faster, where a rename would replace that file.
pub(super) fn create_new(file: &Path, text: &str) -> Result<bool, KeyError> {
    let temporary = beside(file, &format!("{}.tmp", std::process::id()));
    write_temporary(&temporary, text)?;
    let linked = fs::hard_link(&temporary, file);
    fs::remove_file(&temporary).map_err(KeyError::io("remove", &temporary))?;
    match linked {
        Ok(()) => sync_parent(file).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(KeyError::io("create", file)(error)),
    }
}

/// Creates the file's directory, with mode 0700 if it is new.
pub(super) fn create_parent(file: &Path) -> Result<(), KeyError> {
    let parent = parent(file);
    owner_only::create_dir_all(parent).map_err(KeyError::io("create", parent))
}

/// Locks the file for one writer until the returned file is dropped.
pub(super) fn lock(file: &Path) -> Result<File, KeyError> {
    let place = beside(file, "lock");
    let lock = owner_only::options()
        .create(true)
        .write(true)
        .truncate(false)
        .open(&place)
        .map_err(KeyError::io("open", &place))?;
    lock.lock().map_err(KeyError::io("lock", &place))?;
    Ok(lock)
}

/// Rejects a file that other accounts can read.
pub(super) fn refuse_exposed(file: &Path) -> Result<(), KeyError> {
    match exposed_mode(file).map_err(KeyError::io("read", file))? {
        Some(mode) => Err(KeyError::Exposed { file: file.to_owned(), mode }),
        None => Ok(()),
    }
}

fn write_temporary(file: &Path, text: &str) -> Result<(), KeyError> {
    let mut writer = owner_only::create(file).map_err(KeyError::io("create", file))?;
    writer.write_all(text.as_bytes()).and_then(|()| writer.sync_all()).map_err(KeyError::io("write", file))
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

fn sync_parent(file: &Path) -> Result<(), KeyError> {
    let parent = parent(file);
    File::open(parent).and_then(|dir| dir.sync_all()).map_err(KeyError::io("sync", parent))
}

fn parent(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
