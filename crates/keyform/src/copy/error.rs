//! Why a copy does not go on.

use std::fmt;

use keyform_core::Error;
use keyform_live::feed::FeedError;
use keyform_runtime::deploy::DeployError;

use super::Fingerprint;

/// Why a copy does not go on.
#[derive(Debug)]
pub enum CopyError {
    /// The source has no such table.
    NoTable(String),
    /// The table to copy to has items.
    NotEmpty(String),
    /// The table to copy to has another key.
    OtherKey(String),
    /// The stream does not carry items as they are after a change.
    NoImages(String),
    /// The checkpoint is of another copy, or cannot be read.
    Checkpoint(String),
    /// The two sides are not the same in the end.
    Differs {
        /// The source's table.
        from: String,
        /// The target's.
        to: String,
        /// What the source has.
        source: Fingerprint,
        /// What the target has.
        target: Fingerprint,
    },
    /// Changes after the scan began are no longer kept.
    Trimmed(String),
    /// The source's changes cannot be read.
    Feed(FeedError),
    /// The table cannot be made, or does not become ready.
    Deploy(DeployError),
    /// A store failed.
    Store(Error),
    /// A file cannot be read or written.
    File(String),
    /// A line or a cell of a file is not what it should be.
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
