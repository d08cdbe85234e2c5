//! Errors of keys. Messages say what to do next and never contain a key.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::MasterKeyId;

/// Error reading or writing keys.
#[derive(Debug)]
pub enum KeyError {
    /// The data directory is encrypted, but the master key file does not exist at the expected path.
    MasterMissing {
        /// Path at which the master key file is expected.
        file: PathBuf,
        /// Data directory that needs the key.
        data_dir: PathBuf,
    },
    /// The master key file does not contain the key that wraps the ring.
    WrongMaster {
        /// Master key file that was read.
        file: PathBuf,
        /// Id of the key that the ring needs.
        needed: MasterKeyId,
    },
    /// Accounts other than the owner can read the master key file.
    Exposed {
        /// Path of the file.
        file: PathBuf,
        /// Permission bits of the file.
        mode: u32,
    },
    /// A key file is damaged or has an unknown format.
    Format {
        /// Path of the file.
        file: PathBuf,
        /// Description of the damage, with the line number if known.
        what: String,
    },
    /// The directory contains a store but no key ring.
    RingMissing {
        /// Path of the data directory.
        data_dir: PathBuf,
    },
    /// The data directory does not exist.
    DirectoryMissing {
        /// Path of the data directory.
        data_dir: PathBuf,
    },
    /// The directory contains files of another program.
    Foreign {
        /// Path of the data directory.
        data_dir: PathBuf,
        /// Name of one of the files.
        found: String,
    },
    /// The key is current and cannot be forgotten.
    InUse {
        /// Id of the key.
        id: MasterKeyId,
    },
    /// The master key file does not contain the key.
    Unknown {
        /// Path of the master key file.
        file: PathBuf,
        /// Id of the requested key, as given by the user.
        id: String,
    },
    /// A file operation failed.
    Io {
        /// Verb phrase for the operation, as in "cannot {action} {file}".
        action: &'static str,
        /// Path of the file or directory.
        file: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl KeyError {
    pub(super) fn io(action: &'static str, file: &Path) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |source| Self::Io { action, file, source }
    }

    pub(super) fn format(file: &Path, what: impl Into<String>) -> Self {
        Self::Format { file: file.to_owned(), what: what.into() }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MasterMissing { file, data_dir } => write!(
                f,
                "{} is encrypted, but its master key file was not found at {}: restore the file, or open the database with the file that contains the key",
                data_dir.display(),
                file.display()
            ),
            Self::WrongMaster { file, needed } => write!(
                f,
                "the data is encrypted with master key {needed}, which is not in {}: open the database with the file that contains it",
                file.display()
            ),
            Self::Exposed { file, mode } => write!(
                f,
                "{} is readable by other users (mode {mode:04o}): run chmod 600 {}",
                file.display(),
                file.display()
            ),
            Self::Format { file, what } => {
                write!(f, "{} is damaged ({what}): restore it from a backup", file.display())
            }
            Self::RingMissing { data_dir } => write!(
                f,
                "{} contains data but no key ring (file {}): restore that file from a backup, or disable encryption \
                if the data was created without it",
                data_dir.display(),
                super::KEY_RING_FILE
            ),
            Self::DirectoryMissing { data_dir } => {
                write!(f, "no data directory {}", data_dir.display())
            }
            Self::Foreign { data_dir, found } => write!(
                f,
                "{} is not a Keyform data directory (it contains {found:?}): choose an empty directory",
                data_dir.display()
            ),
            Self::InUse { id } => {
                write!(f, "master key {id} is the current one: rotate the keys of every data directory first")
            }
            Self::Unknown { file, id } => {
                write!(f, "no master key {id} in {}: `keyform keys show` lists them", file.display())
            }
            Self::Io { action, file, source } => write!(f, "cannot {action} {}: {source}", file.display()),
        }
    }
}

impl std::error::Error for KeyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
