//! What can go wrong with keys, in words that say what to do next and never contain a key.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::MasterKeyId;

/// Why the keys could not be read or written.
#[derive(Debug)]
pub enum KeyError {
    /// The data directory is encrypted, and the master key file is not where it was expected.
    MasterMissing {
        /// Where it was expected.
        file: PathBuf,
        /// The encrypted directory.
        data_dir: PathBuf,
    },
    /// The master key file does not hold the key that wraps the ring.
    WrongMaster {
        /// The file that was read.
        file: PathBuf,
        /// The key that the ring needs.
        needed: MasterKeyId,
    },
    /// Others than the owner may read the master key file.
    Exposed {
        /// The file.
        file: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A key file does not hold what this program writes.
    Format {
        /// The file.
        file: PathBuf,
        /// What does not fit, with the line where one is to blame.
        what: String,
    },
    /// The directory holds a store and no key ring.
    RingMissing {
        /// The directory.
        data_dir: PathBuf,
    },
    /// There is no such directory.
    DirectoryMissing {
        /// The directory.
        data_dir: PathBuf,
    },
    /// The directory holds files of something else.
    Foreign {
        /// The directory.
        data_dir: PathBuf,
        /// One of the files found there.
        found: String,
    },
    /// The key cannot be forgotten.
    InUse {
        /// The key.
        id: MasterKeyId,
    },
    /// There is no such key in the file.
    Unknown {
        /// The file.
        file: PathBuf,
        /// The id that was asked for.
        id: String,
    },
    /// The operating system refused.
    Io {
        /// What was being done.
        action: &'static str,
        /// The file.
        file: PathBuf,
        /// Its error.
        source: io::Error,
    },
    /// The operating system gave no random bytes.
    NoRandom,
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
                "{} is encrypted and its master key file was not found at {}: put the file back there, or name it with --master-key-file or KEYFORM_MASTER_KEY_FILE",
                data_dir.display(),
                file.display()
            ),
            Self::WrongMaster { file, needed } => write!(
                f,
                "the data is encrypted under master key {needed}, which is not in {}: name the file that has it with --master-key-file or KEYFORM_MASTER_KEY_FILE",
                file.display()
            ),
            Self::Exposed { file, mode } => write!(
                f,
                "{} can be read by others (mode {mode:04o}): run chmod 600 {}",
                file.display(),
                file.display()
            ),
            Self::Format { file, what } => {
                write!(f, "{} is damaged ({what}): restore it from a backup", file.display())
            }
            Self::RingMissing { data_dir } => write!(
                f,
                "{} holds data but no key ring (file {}): restore that file from a backup, or switch encryption off if the data was made so",
                data_dir.display(),
                super::KEY_RING_FILE
            ),
            Self::DirectoryMissing { data_dir } => {
                write!(f, "there is no data directory {}: name it with --data", data_dir.display())
            }
            Self::Foreign { data_dir, found } => write!(
                f,
                "{} is not a data directory of this program (it holds {found:?}): choose an empty directory",
                data_dir.display()
            ),
            Self::InUse { id } => {
                write!(f, "master key {id} is the current one: rotate the keys of every data directory first")
            }
            Self::Unknown { file, id } => {
                write!(f, "there is no master key {id} in {}: `keyform keys show` lists them", file.display())
            }
            Self::Io { action, file, source } => write!(f, "cannot {action} {}: {source}", file.display()),
            Self::NoRandom => f.write_str("the operating system gave no random bytes: try again"),
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
