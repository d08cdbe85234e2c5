//! Errors of feeds.

use std::fmt;

use keyform_core::Error;

/// Reason why a feed cannot continue.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedError {
    /// The stream of the table is disabled.
    NoStream {
        /// Name of the table in the store.
        table: String,
    },
    /// Changes after the position were trimmed, or the stream was replaced by another one.
    TooOld,
    /// The stream was disabled, and has been read to its end.
    Ended,
    /// The store failed.
    Store(Error),
}

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStream { table } => write!(
                f,
                "the table {table} has no stream: add `stream new_and_old` to its declaration and deploy it, or \
                enable the stream"
            ),
            Self::TooOld => f.write_str("the position is too old: the stream no longer has the changes after it"),
            Self::Ended => f.write_str("the stream of the table was disabled"),
            Self::Store(error) => write!(f, "{}: {}", error.code().name(), error.message()),
        }
    }
}

impl std::error::Error for FeedError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            Self::NoStream { .. } | Self::TooOld | Self::Ended => None,
        }
    }
}

impl std::convert::From<Error> for FeedError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}
