//! Why a call has no answer.

use std::fmt;

use keyform_core::Error;

use crate::bind::BindError;
use crate::seal::SealError;

use super::Found;

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum RunError {
    /// The model has errors.
    NotChecked,
    /// There is no pattern of that name.
    UnknownPattern(String),
    /// The pattern has no plan, or the store lacks what it needs.
    NotRunnable(String),
    /// An argument is missing or wrong.
    Arguments(BindError),
    /// A read of one item found none.
    NotFound(String),
    /// The caller may not.
    Forbidden,
    /// The author's name for a refusal, with the item as it is now where the store gave it.
    Refused {
        /// The name.
        outcome: String,
        /// The item that refused.
        item: Option<Box<Found>>,
    },
    /// The item changed since the version that was expected; this is what it is now.
    Conflict(Option<Box<Found>>),
    /// Others were in the way, again and again.
    Busy,
    /// The store did not say whether the write was applied; why.
    Unknown(String),
    /// The cursor is forged, or of another pattern or other arguments.
    Cursor,
    /// The idempotency key was used before, with other arguments.
    KeyReused,
    /// An encrypted field cannot be sealed or opened.
    Sealing(SealError),
    /// The store failed.
    Store(Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotChecked => f.write_str("the model has errors: see `keyform check`"),
            Self::UnknownPattern(name) => write!(f, "the model has no pattern `{name}`"),
            Self::NotRunnable(why) => f.write_str(why),
            Self::Arguments(error) => error.fmt(f),
            Self::NotFound(entity) => write!(f, "there is no such {entity}"),
            Self::Forbidden => f.write_str("the caller may not do this"),
            Self::Refused { outcome, .. } => write!(f, "refused: {outcome}"),
            Self::Conflict(_) => f.write_str("the item has changed meanwhile: read it again"),
            Self::Busy => f.write_str("too many others write this at once: try again"),
            Self::Unknown(why) => write!(
                f,
                "{why}. Look before you repeat it; a write that is marked `idempotent`, or called under an idempotency key, can be repeated"
            ),
            Self::Cursor => f.write_str("the cursor is not one of this pattern with these arguments"),
            Self::KeyReused => f.write_str("the idempotency key was used before, with other arguments"),
            Self::Sealing(error) => error.fmt(f),
            Self::Store(error) => write!(f, "{}: {}", error.code().name(), error.message()),
        }
    }
}

impl std::error::Error for RunError {}

impl From<BindError> for RunError {
    fn from(error: BindError) -> Self {
        Self::Arguments(error)
    }
}

impl From<SealError> for RunError {
    fn from(error: SealError) -> Self {
        Self::Sealing(error)
    }
}

impl From<Error> for RunError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}
