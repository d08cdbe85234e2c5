//! Errors of a copy, an import or an export.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use keyform_core::Error;
use keyform_live::feed::FeedError;
use keyform_runtime::deploy::DeployError;
use tokio::task::JoinError;

use super::Fingerprint;

/// Error of a copy, an import or an export.
#[derive(Debug)]
pub enum CopyError {
    /// The source has no such table.
    NoTable(String),
    /// The target table already has items.
    NotEmpty(String),
    /// The target table has a different key schema.
    OtherKey(String),
    /// The source's stream has no new images.
    NoImages(String),
    /// The checkpoint belongs to another copy or cannot be read.
    Checkpoint(String),
    /// Source and target differ after the copy.
    Differs {
        /// Name of the source table.
        from: String,
        /// Name of the target table.
        to: String,
        /// Fingerprint of the source.
        source: Fingerprint,
        /// Fingerprint of the target.
        target: Fingerprint,
    },
    /// The stream has been trimmed past changes that the copy needs.
    Trimmed(String),
    /// The source's stream cannot be read.
    Feed(FeedError),
    /// The target table cannot be created or does not become active.
    Deploy(DeployError),
    /// A store operation failed.
    Store(Error),
    /// A file operation failed.
    File {
        /// Operation as a verb, such as `read`.
        doing: &'static str,
        /// Path of the file or folder.
        file: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A task of the copy panicked or was cancelled.
    Stopped(JoinError),
    /// The name of a file does not tell its format.
    Format(PathBuf),
    /// A line or a cell of a file is invalid.
    Data(String),
}

impl fmt::Display for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTable(table) => write!(f, "the source has no table {table}"),
            Self::NotEmpty(table) => write!(
                f,
                "the target table {table} is not empty: choose another, or allow the copy to replace items with the same keys"
            ),
            Self::OtherKey(table) => write!(f, "the key of the target table {table} differs from the source"),
            Self::NoImages(table) => write!(
                f,
                "the stream of {table} does not carry new images: to follow it, it must be `stream new_and_old` or \
                `stream new`"
            ),
            Self::Checkpoint(why) => f.write_str(why),
            Self::Differs { from, to, source, target } => write!(
                f,
                "{from} and {to} differ: {source} in the source, {target} in the target. If {from} receives writes, follow its changes"
            ),
            Self::Trimmed(table) => write!(
                f,
                "the stream of {table} no longer has the next changes: a stream keeps them for 24 hours, and the copy was \
                interrupted or took longer. Remove the checkpoint and copy into an empty table again; more segments and \
                write units make it faster"
            ),
            Self::Feed(error) => error.fmt(f),
            Self::Deploy(error) => error.fmt(f),
            Self::Store(error) => write!(f, "{}: {}", error.code().name(), error.message()),
            Self::File { doing, file, source } => write!(f, "cannot {doing} {}: {source}", file.display()),
            Self::Stopped(error) => error.fmt(f),
            Self::Format(file) => {
                write!(f, "the name of {} does not tell its format: s3, jsonl or csv", file.display())
            }
            Self::Data(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for CopyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Feed(error) => Some(error),
            Self::Deploy(error) => Some(error),
            Self::Store(error) => Some(error),
            Self::File { source, .. } => Some(source),
            Self::Stopped(error) => Some(error),
            Self::NoTable(_)
            | Self::NotEmpty(_)
            | Self::OtherKey(_)
            | Self::NoImages(_)
            | Self::Checkpoint(_)
            | Self::Differs { .. }
            | Self::Trimmed(_)
            | Self::Format(_)
            | Self::Data(_) => None,
        }
    }
}

impl CopyError {
    /// Returns a closure that adds the operation and the path to an error of the operating system.
    pub(crate) fn file(doing: &'static str, file: &Path) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |source| Self::File { doing, file, source }
    }
}

impl From<JoinError> for CopyError {
    fn from(error: JoinError) -> Self {
        Self::Stopped(error)
    }
}

impl From<Error> for CopyError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<FeedError> for CopyError {
    fn from(error: FeedError) -> Self {
        Self::Feed(error)
    }
}

impl From<DeployError> for CopyError {
    fn from(error: DeployError) -> Self {
        Self::Deploy(error)
    }
}
