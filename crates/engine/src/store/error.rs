//! Errors of the store. Messages say what to do next.
//!
//! Errors are cheap to clone, because a failed sync is reported to every commit that waited for it.

use std::fmt;
use std::io;
use std::sync::Arc;

use super::disk::Holder;
use super::retry;

/// Error of a store operation.
#[derive(Debug, Clone)]
pub enum StoreError {
    /// Another process (or another `Store` in this process) has the directory open.
    InUse {
        /// Path of the directory.
        place: String,
        /// Process that holds the directory, if the system can name it.
        holder: Option<Holder>,
    },
    /// The directory contains files but no manifest of a store.
    Foreign {
        /// Path of the directory.
        place: String,
        /// Name of one of the files.
        found: String,
    },
    /// A newer version of the program wrote the directory.
    Newer {
        /// Format version in the header of the file.
        found: u32,
        /// Newest format version that this program reads.
        supported: u32,
    },
    /// The data key is missing, or the data was written with another one.
    WrongKey {
        /// Message with the cause and the remedy.
        what: String,
    },
    /// A file does not contain what was written to it.
    Corrupt {
        /// Name of the file in the directory.
        file: String,
        /// Description of the damage.
        what: String,
        /// Remedy, as a sentence for the operator.
        hint: &'static str,
    },
    /// A required file is missing from the directory.
    Missing {
        /// Name of the file in the directory.
        file: String,
        /// Content of the file, for the message.
        holds: &'static str,
    },
    /// A file operation failed.
    Io {
        /// Verb phrase for the operation, as in "cannot {action} {file}".
        action: &'static str,
        /// Name of the file or directory.
        file: String,
        /// Error of the operating system.
        source: Arc<io::Error>,
    },
    /// A sync of the journal or of the directory failed. It is never retried: the system may have dropped the dirty
    /// pages and report success the next time (ADR 0029).
    Sync {
        /// Name of the file or directory.
        file: String,
        /// Error of the operating system.
        source: Arc<io::Error>,
    },
    /// A resource is exhausted (disk space, file descriptors), so the store rejected the commit: it is not applied and
    /// never will be. The store retries by itself and accepts commits again when it succeeds.
    Paused {
        /// Operation that keeps failing.
        cause: Arc<str>,
    },
    /// A resource ran out while the commit was being written to the journal. The commit becomes durable when the store
    /// recovers, and is lost if the process ends before.
    Unconfirmed {
        /// Operation that keeps failing.
        cause: Arc<str>,
    },
    /// An earlier write or sync failed; the store rejects commits until it is reopened.
    Poisoned {
        /// Message of the first failure, which is the cause of all later ones.
        cause: Arc<str>,
    },
    /// The store was closed.
    Closed,
    /// The batch has too many bytes or appended records for one commit.
    BatchTooLarge,
}

impl StoreError {
    pub(super) fn io(action: &'static str, file: &str, source: io::Error) -> Self {
        StoreError::Io { action, file: file.to_owned(), source: Arc::new(source) }
    }

    pub(super) fn sync(file: &str, source: io::Error) -> Self {
        StoreError::Sync { file: file.to_owned(), source: Arc::new(source) }
    }

    /// Returns whether the same operation can succeed later without loss, because a resource is exhausted (ADR 0029).
    pub fn is_scarcity(&self) -> bool {
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

    /// Returns whether an existing file cannot be read; only the operation that needs the file fails.
    pub(super) fn is_damage(&self) -> bool {
        matches!(self, StoreError::Corrupt { .. } | StoreError::Io { action: "open" | "read", .. })
    }

    /// Returns the message of the original failure, to be the cause of another error.
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
                "{place} is not a Keyform data directory (it contains {found:?} but no MANIFEST): choose an empty \
                directory"
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
                "the store accepts no writes at the moment ({cause}): nothing was written; the store retries and \
                accepts writes again when that succeeds"
            ),
            StoreError::Unconfirmed { cause } => write!(
                f,
                "the write is not confirmed ({cause}): the store applies it when it recovers, and loses it if the \
                process ends first; read before you retry"
            ),
            StoreError::Io { action, file, source } => write!(f, "cannot {action} {file}: {source}"),
            StoreError::Poisoned { cause } => write!(
                f,
                "the store rejects writes after an earlier failure ({cause}): fix the cause and reopen the store"
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
