//! Errors of pattern calls.

use std::fmt;
use std::sync::Arc;

use keyform_core::error::Detail;
use keyform_core::{Error, ErrorCode};

use crate::accept::NotAccepted;
use crate::seal::SealError;
use keyform_language::bind::BindError;

use super::{BrokenItem, Found};

/// Reason why a pattern call failed.
#[derive(Clone, Debug, PartialEq)]
pub enum RunError {
    /// The model has errors; `keyform check` lists them.
    NotChecked,
    /// The model has no pattern of that name.
    UnknownPattern(String),
    /// The pattern has no plan, or the store lacks a feature that it needs. The text is the full message.
    NotRunnable(String),
    /// An argument is missing or has the wrong type.
    Arguments(BindError),
    /// A read of exactly one item found none. The text is the entity's name.
    NotFound(String),
    /// The pattern's `allow` does not permit the caller.
    Forbidden,
    /// A condition failed that has a name in the model.
    Refused {
        /// Name of the outcome in the model.
        outcome: String,
        /// Current item, if the store returned it and the caller may read it.
        item: Option<Box<Found>>,
    },
    /// The item no longer has the expected version. Holds the current item if the caller may read it.
    Conflict(Option<Box<Found>>),
    /// Every attempt lost against concurrent writers.
    Busy,
    /// The store did not report whether the write was applied (ADR 0017). The text is the reason.
    Unknown(String),
    /// The cursor is forged, or belongs to another pattern or to other arguments.
    Cursor,
    /// The idempotency key was used before with other arguments.
    KeyReused,
    /// The item does not fit its entity: another program or an older model wrote it. A write that returns such an item
    /// has been applied.
    Broken(Box<BrokenItem>),
    /// An encrypted field cannot be encrypted or decrypted.
    Sealing(SealError),
    /// The store has accepted another version of the model, and this one does not fit its items.
    NotAccepted(Arc<NotAccepted>),
    /// The store returned an error that no other variant covers.
    Store(Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotChecked => f.write_str("the model has errors: run `keyform check`"),
            Self::UnknownPattern(name) => write!(f, "the model has no pattern `{name}`"),
            Self::NotRunnable(why) => f.write_str(why),
            Self::Arguments(error) => error.fmt(f),
            Self::NotFound(entity) => write!(f, "no such {entity}"),
            Self::Forbidden => f.write_str("the caller may not do this"),
            Self::Refused { outcome, .. } => write!(f, "refused: {outcome}"),
            Self::Conflict(_) => f.write_str("the item has changed since it was read: read it again"),
            Self::Busy => f.write_str("too many concurrent writes: try again"),
            Self::Unknown(why) => write!(
                f,
                "{why}. Check the outcome before you retry; a write that is marked `idempotent` or has an idempotency \
                key can be retried safely"
            ),
            Self::Cursor => f.write_str("invalid cursor: it belongs to another pattern or other arguments"),
            Self::KeyReused => f.write_str("the idempotency key was used before with other arguments"),
            Self::Broken(broken) => broken.fmt(f),
            Self::Sealing(error) => error.fmt(f),
            Self::NotAccepted(why) => why.fmt(f),
            Self::Store(error) => write!(f, "{}: {}", error.code().name(), error.message()),
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Arguments(error) => Some(error),
            Self::Broken(broken) => Some(&**broken),
            Self::Sealing(error) => Some(error),
            Self::NotAccepted(why) => Some(why.as_ref()),
            Self::Store(error) => Some(error),
            Self::NotChecked
            | Self::UnknownPattern(_)
            | Self::NotRunnable(_)
            | Self::NotFound(_)
            | Self::Forbidden
            | Self::Refused { .. }
            | Self::Conflict(_)
            | Self::Busy
            | Self::Unknown(_)
            | Self::Cursor
            | Self::KeyReused => None,
        }
    }
}

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
        if *error.detail() == Detail::OutcomeUnknown {
            return Self::Unknown(error.message().to_owned());
        }
        match past_limit(&error) {
            Some(what) => Self::Arguments(BindError::PastLimit(what)),
            None => Self::Store(error),
        }
    }
}

/// Limits that well-typed arguments can still exceed: a fragment of the service's message, and ours for it.
const LIMITS: [(&str, &str); 8] = [
    ("Item size", "an item would exceed 400 KB, the maximum of the store"),
    ("aggregate size of the items in the transaction", "the write would exceed 4 MB, the maximum of the store"),
    ("Nesting Levels have exceeded", "a value would exceed 32 levels of nesting, the maximum of the store"),
    ("Size of hashkey has exceeded", "a key would exceed 2048 bytes, the maximum of the store"),
    ("size of all range keys has exceeded", "a sort key would exceed 1024 bytes, the maximum of the store"),
    ("Number overflow", "a number would exceed the maximum of the store"),
    ("Number underflow", "a number would be smaller than the minimum of the store"),
    ("cannot contain an empty", "a string that is a key, or the beginning of one, is empty"),
];

/// Returns our message for the exceeded limit, if that is why the store rejected the request.
fn past_limit(error: &Error) -> Option<&'static str> {
    let known = |text: &str| LIMITS.iter().find(|(said, _)| text.contains(said)).map(|(_, what)| *what);
    match (error.code(), error.detail()) {
        (ErrorCode::TransactionCanceled, Detail::Cancellation(reasons)) => {
            let mut causes = reasons.iter().filter_map(|reason| reason.cause.as_ref());
            causes.find(|cause| cause.code == "ValidationError").and_then(|cause| known(&cause.message))
        }
        (ErrorCode::Validation, _) => known(error.message()),
        _ => None,
    }
}
