//! What can go wrong in the store, in words that say what to do next.
//!
//! Errors are cheap to clone because one failed sync is reported to every commit that waited for it.

use std::fmt;
use std::io;
use std::sync::Arc;

use super::disk::Holder;
use super::retry;

/// Why the store could not do what it was asked.
#[derive(Debug, Clone)]
pub enum StoreError {
    /// Another process (or another `Store` in this one) has the directory open.
    InUse {
        /// The directory.
        place: String,
        /// The process, where the system names it.
        holder: Option<Holder>,
    },
    /// The directory holds files, but none of them is a store's manifest.
    Foreign {
        /// The directory.
        place: String,
        /// One of the files found there.
        found: String,
    },
    /// The directory was written by a newer version of the program.
    Newer {
        /// The format version found.
        found: u32,
        /// The newest format version that this program reads.
        supported: u32,
    },
    /// The data key is missing or is not the one the data was written with.
    WrongKey {
        /// What is wrong and what to do.
        what: String,
    },
    /// A file does not hold what was written to it.
    Corrupt {
        /// The file's name inside the store's directory.
        file: String,
        /// What does not fit.
        what: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A file that the store needs is not in its directory.
    Missing {
        /// The file's name inside the store's directory.
        file: String,
        /// What the file holds.
        holds: &'static str,
    },
    /// The operating system refused a file operation.
    Io {
        /// What was being done.
        action: &'static str,
        /// The file or directory.
        file: String,
        /// The operating system's error.
        source: Arc<io::Error>,
    },
    /// A sync of the journal or of the directory failed. It is never repeated: the system may have dropped the data and
    /// report success the second time (ADR 0029).
    Sync {
        /// The file or directory.
        file: String,
        /// The operating system's error.
        source: Arc<io::Error>,
    },
    /// Something is scarce (disk space, descriptors), so the store refused the commit: it is not applied and will not be.
    /// The store retries by itself and accepts commits again when it succeeds.
    Paused {
        /// The operation that does not succeed.
        cause: Arc<str>,
    },
    /// Something became scarce while the commit was on its way to the journal: it is applied when the store recovers, and
    /// lost when the process ends before.
    Unconfirmed {
        /// The operation that does not succeed.
        cause: Arc<str>,
    },
    /// An earlier write or sync failed; nothing more is accepted until the store is reopened.
    Poisoned {
        /// The failure that came first.
        cause: Arc<str>,
    },
    /// The store was closed.
    Closed,
    /// The batch has too many bytes or too many appended records for one commit.
    BatchTooLarge,
}

impl StoreError {
    pub(super) fn io(action: &'static str, file: &str, source: io::Error) -> Self {
        StoreError::Io { action, file: file.to_owned(), source: Arc::new(source) }
    }

    pub(super) fn sync(file: &str, source: io::Error) -> Self {
        StoreError::Sync { file: file.to_owned(), source: Arc::new(source) }
    }

    /// Whether the same operation can succeed later without anything being lost: a resource is scarce.
    pub(super) fn is_scarcity(&self) -> bool {
        match self {
            StoreError::Io { source, .. } => retry::is_scarcity(source),
            StoreError::Paused { .. } | StoreError::Unconfirmed { .. } => true,
            StoreError::InUse { .. }
            | StoreError::Foreign { .. }
            | StoreError::Newer { .. }
            | StoreError::WrongKey { .. }
            | StoreError::Corrupt { .. }
            | StoreError::Missing { .. }
            | StoreError::Sync { .. }
            | StoreError::Poisoned { .. }
            | StoreError::Closed
            | StoreError::BatchTooLarge => false,
        }
    }

    /// Whether a file that was written before cannot be read: what is being made of it fails, and nothing else.
    pub(super) fn is_damage(&self) -> bool {
        matches!(self, StoreError::Corrupt { .. } | StoreError::Io { action: "open" | "read", .. })
    }

    /// The failure in words, as the cause of another one.
    pub(super) fn cause(&self) -> Arc<str> {
        match self {
            StoreError::Poisoned { cause } | StoreError::Paused { cause } | StoreError::Unconfirmed { cause } => {
                cause.clone()
            }
            other => Arc::from(other.to_string()),
        }
    }

    pub(super) fn corrupt(file: &str, what: impl Into<String>) -> Self {
        let hint = "restore the directory from a backup, or copy it aside before trying anything else";
        StoreError::Corrupt { file: file.to_owned(), what: what.into(), hint }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::InUse { place, holder: Some(holder) } => {
                write!(f, "data directory {place} is in use by {holder}")
            }
            StoreError::InUse { place, holder: None } => {
                write!(f, "data directory {place} is in use by another process")
            }
            StoreError::Foreign { place, found } => write!(
                f,
                "{place} is not a data directory of this program (it holds {found:?} but no MANIFEST): choose an empty directory"
            ),
            StoreError::Newer { found, supported } => write!(
                f,
                "the data has format version {found} but this program reads up to {supported}: use the newer program that wrote it"
            ),
            StoreError::WrongKey { what } => f.write_str(what),
            StoreError::Corrupt { file, what, hint } => write!(f, "{file} is damaged ({what}): {hint}"),
            StoreError::Missing { file, holds } => write!(
                f,
                "{file} is missing from the data directory; it holds {holds}: put the file back, or restore the whole directory from a backup"
            ),
            StoreError::Sync { file, source } => write!(f, "cannot sync {file}: {source}"),
            StoreError::Paused { cause } => write!(
                f,
                "the store takes no writes for now ({cause}): nothing was written; it retries by itself and takes writes again when that succeeds"
            ),
            StoreError::Unconfirmed { cause } => write!(
                f,
                "the write is not confirmed ({cause}): the store applies it when it recovers, and loses it when the process ends before; read before you repeat it"
            ),
            StoreError::Io { action, file, source } => write!(f, "cannot {action} {file}: {source}"),
            StoreError::Poisoned { cause } => write!(
                f,
                "the store refuses writes since an earlier failure ({cause}): correct the cause and reopen the store"
            ),
            StoreError::Closed => f.write_str("the store is closed: open it again"),
            StoreError::BatchTooLarge => f.write_str("the batch is too large for one commit: split it"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StoreError::Io { source, .. } | StoreError::Sync { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}
