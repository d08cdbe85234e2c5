//! Why a call has no answer.

use std::fmt;

use keyform_core::error::Detail;
use keyform_core::{Error, ErrorCode};

use crate::seal::SealError;
use keyform_language::bind::BindError;

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
        if *error.detail() == Detail::OutcomeUnknown {
            return Self::Unknown(error.message().to_owned());
        }
        match past_limit(&error) {
            Some(what) => Self::Arguments(BindError::PastLimit(what)),
            None => Self::Store(error),
        }
    }
}

/// What arguments may bring about although each is of its type, by the service's words for it.
const LIMITS: [(&str, &str); 8] = [
    ("Item size", "an item would be larger than the 400 KB that the store takes"),
    ("aggregate size of the items in the transaction", "the write would be larger than the 4 MB that the store takes"),
    ("Nesting Levels have exceeded", "a value would nest deeper than the 32 levels that the store takes"),
    ("Size of hashkey has exceeded", "a key would be longer than the 2048 bytes that the store takes"),
    ("size of all range keys has exceeded", "a sort key would be longer than the 1024 bytes that the store takes"),
    ("Number overflow", "a number would be larger than the store takes"),
    ("Number underflow", "a number would be smaller than the store takes"),
    ("cannot contain an empty", "a text that is, or begins, a key is empty"),
];

/// What is too much for the store, if that is why it refused.
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
