//! Why a feed cannot go on.

use std::fmt;

use keyform_core::Error;

/// Why a feed cannot go on.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedError {
    /// The table has no stream.
    NoStream {
        /// The table.
        table: String,
    },
    /// Changes after the position are no longer kept, or the stream is another one by now.
    TooOld,
    /// The stream was switched off, and has been read to its end.
    Ended,
    /// The store failed.
    Store(Error),
}

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStream { table } => write!(
                f,
                "the table {table} has no stream: write `stream new_and_old` in its declaration and deploy it, or switch the stream on"
            ),
            Self::TooOld => f.write_str("the position is too old: changes after it are no longer kept"),
            Self::Ended => f.write_str("the stream of the table was switched off"),
            Self::Store(error) => write!(f, "{}: {}", error.code().name(), error.message()),
        }
    }
}

impl std::error::Error for FeedError {}

impl std::convert::From<Error> for FeedError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}
