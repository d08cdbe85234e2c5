//! Errors of a copy, an import or an export.

use std::fmt;

use keyform_core::Error;
use keyform_live::feed::FeedError;
use keyform_runtime::deploy::DeployError;

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
        /// Source table.
        from: String,
        /// Target table.
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
    /// A file cannot be read or written.
    File(String),
    /// A line or a cell of a file is invalid.
    Data(String),
}

impl fmt::Display for CopyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTable(table) => write!(f, "there is no table {table} to copy from"),
            Self::NotEmpty(table) => write!(
                f,
                "the table {table} to write to is not empty: write to another, or add --overwrite to replace items of the same keys"
            ),
            Self::OtherKey(table) => write!(f, "the table {table} to write to has another key than the source"),
            Self::NoImages(table) => write!(
                f,
                "the stream of {table} does not carry new images: it must be `stream new_and_old` or `stream new` to be followed"
            ),
            Self::Checkpoint(why) => f.write_str(why),
            Self::Differs { from, to, source, target } => write!(
                f,
                "{from} and {to} differ: {source} there, {target} here. If {from} is being written to, copy with --follow"
            ),
            Self::Trimmed(table) => write!(
                f,
                "changes of {table} that are still to be brought over are no longer kept: a stream keeps them for 24 hours, and the copy was \
                 stopped or took longer. Remove the checkpoint and copy into an empty table again; more --segments and --write-units make it quicker"
            ),
            Self::Feed(error) => error.fmt(f),
            Self::Deploy(error) => error.fmt(f),
            Self::Store(error) => write!(f, "{}: {}", error.code().name(), error.message()),
            Self::File(why) | Self::Data(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for CopyError {}

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
