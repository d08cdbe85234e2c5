//! Errors of a rehearsal.

use std::fmt;

use crate::copy::CopyError;
use keyform_core::Error;
use keyform_runtime::evolve::MigrateError;

/// Error of a rehearsal.
#[derive(Debug)]
pub enum RehearseError {
    /// The tables are too large to be copied into memory.
    TooLarge {
        /// Lower bound of the size of their items, in bytes.
        bytes: u64,
        /// Limit in bytes.
        bytes_max: u64,
    },
    /// A table already has the name of a copy.
    Taken(String),
    /// The tables cannot be copied.
    Copy(CopyError),
    /// The migration failed.
    Migrate(MigrateError),
}

impl fmt::Display for RehearseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { bytes, bytes_max } => write!(
                f,
                "the tables have at least {} MB of items, but a rehearsal in memory holds {} MB: rehearse on copies in the \
                store itself, which are deleted at the end",
                bytes / 1_000_000,
                bytes_max / 1_000_000
            ),
            Self::Taken(table) => write!(
                f,
                "the table {table} already exists: if an interrupted rehearsal left it behind, delete it, or choose another \
                prefix for the copies"
            ),
            Self::Copy(error) => error.fmt(f),
            Self::Migrate(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RehearseError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Copy(error) => Some(error),
            Self::Migrate(error) => Some(error),
            Self::TooLarge { .. } | Self::Taken(_) => None,
        }
    }
}

impl From<MigrateError> for RehearseError {
    fn from(error: MigrateError) -> Self {
        Self::Migrate(error)
    }
}

impl From<CopyError> for RehearseError {
    fn from(error: CopyError) -> Self {
        Self::Copy(error)
    }
}

impl From<Error> for RehearseError {
    fn from(error: Error) -> Self {
        Self::Migrate(MigrateError::Store(error))
    }
}
