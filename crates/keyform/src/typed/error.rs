//! Errors of typed calls.

use std::fmt;
use std::sync::Arc;

use keyform_core::Error;
use keyform_flow::FlowError;
use keyform_runtime::accept::NotAccepted;
use keyform_runtime::run::{BrokenItem, RunError};
use keyform_runtime::seal::SealError;

/// Error of a typed call. The named outcomes of a write are not included: they are variants of the write's own enum.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CallError {
    /// A read of one item found none; contains the entity's name.
    NotFound(String),
    /// The caller lacks permission.
    Forbidden,
    /// An argument is missing or invalid.
    Arguments(String),
    /// The cursor is forged, or belongs to another read or other arguments.
    Cursor,
    /// The call lost too many races against concurrent writers: retry it.
    Busy,
    /// The pattern cannot run on this store; contains the reason.
    NotRunnable(String),
    /// The store did not report whether the write was applied; contains the reason.
    Unknown(String),
    /// An encrypted field cannot be sealed or opened.
    Sealing(SealError),
    /// The store has accepted another version of the model, and this one does not fit its items: see
    /// [`ModelOptions::accept_breaking_model`](super::ModelOptions::accept_breaking_model).
    NotAccepted(Arc<NotAccepted>),
    /// The store failed.
    Store(Error),
    /// The stored item does not fit its entity. A write that returns such an item has been applied.
    Broken(Box<BrokenItem>),
    /// An item does not match the model.
    Item(WrongItem),
    /// A write that returns an item returned none, because the item was deleted right after.
    Gone,
    /// A table name has a variable without a value: see [`ModelOptions::variable`](super::ModelOptions::variable).
    Variable(String),
    /// The generated code does not know this result, because it belongs to another version of the model.
    Unexpected(String),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(entity) => write!(f, "no such {entity}"),
            Self::Forbidden => f.write_str("the caller may not do this"),
            Self::Arguments(why) => f.write_str(why),
            Self::Cursor => f.write_str("invalid cursor: it belongs to another read or other arguments"),
            Self::Busy => f.write_str("too many concurrent writes: try again"),
            Self::NotRunnable(why) => f.write_str(why),
            Self::Unknown(why) => f.write_str(why),
            Self::Sealing(error) => error.fmt(f),
            Self::NotAccepted(why) => why.fmt(f),
            Self::Store(error) => write!(f, "{}: {}", error.code().name(), error.message()),
            Self::Broken(broken) => broken.fmt(f),
            Self::Item(wrong) => wrong.fmt(f),
            Self::Gone => f.write_str("the item was deleted immediately after the write"),
            Self::Variable(table) => write!(
                f,
                "the table name {table} has a variable without a value: set it with `ModelOptions::new().variable(…)`"
            ),
            Self::Unexpected(what) => write!(f, "unexpected answer: {what}"),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sealing(error) => Some(error),
            Self::NotAccepted(why) => Some(why.as_ref()),
            Self::Store(error) => Some(error),
            Self::Broken(broken) => Some(&**broken),
            Self::Item(wrong) => Some(wrong),
            Self::NotFound(_)
            | Self::Forbidden
            | Self::Arguments(_)
            | Self::Cursor
            | Self::Busy
            | Self::NotRunnable(_)
            | Self::Unknown(_)
            | Self::Gone
            | Self::Variable(_)
            | Self::Unexpected(_) => None,
        }
    }
}

impl From<WrongItem> for CallError {
    fn from(wrong: WrongItem) -> Self {
        Self::Item(wrong)
    }
}

impl From<RunError> for CallError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::NotFound(entity) => Self::NotFound(entity),
            RunError::Forbidden => Self::Forbidden,
            RunError::Arguments(error) => Self::Arguments(error.to_string()),
            RunError::Cursor => Self::Cursor,
            RunError::Busy => Self::Busy,
            RunError::Unknown(_) => Self::Unknown(error.to_string()),
            RunError::Broken(broken) => Self::Broken(broken),
            RunError::Sealing(error) => Self::Sealing(error),
            RunError::NotAccepted(why) => Self::NotAccepted(why),
            RunError::Store(error) => Self::Store(error),
            RunError::NotRunnable(why) => Self::NotRunnable(why),
            RunError::NotChecked | RunError::UnknownPattern(_) => Self::NotRunnable(error.to_string()),
            RunError::KeyReused => Self::Arguments(error.to_string()),
            RunError::Refused { outcome, .. } => Self::Unexpected(outcome),
            RunError::Conflict(_) => Self::Unexpected("Conflict".to_owned()),
        }
    }
}

/// Converts an error of a call inside a flow to the flow's own error.
impl From<CallError> for FlowError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::NotFound(entity) => Self::Failed(RunError::NotFound(entity)),
            CallError::Forbidden => Self::Forbidden,
            CallError::Arguments(why) => Self::Arguments(why),
            CallError::Cursor => Self::Failed(RunError::Cursor),
            CallError::Busy => Self::Failed(RunError::Busy),
            CallError::NotRunnable(why) => Self::Failed(RunError::NotRunnable(why)),
            CallError::Unknown(why) => Self::Failed(RunError::Unknown(why)),
            CallError::Broken(broken) => Self::Failed(RunError::Broken(broken)),
            CallError::Sealing(error) => Self::Failed(RunError::Sealing(error)),
            CallError::NotAccepted(why) => Self::Failed(RunError::NotAccepted(why)),
            CallError::Store(error) => Self::Failed(RunError::Store(error)),
            CallError::Item(_) | CallError::Gone | CallError::Variable(_) | CallError::Unexpected(_) => {
                Self::Broken(error.to_string())
            }
        }
    }
}

/// Item that does not match the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongItem {
    /// Struct that the item should become.
    pub entity: &'static str,
    /// Attribute that is missing or has another type.
    pub attribute: &'static str,
}

impl fmt::Display for WrongItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "an item of {} has no `{}`, or one with another type than in the model: see `evolve`",
            self.entity, self.attribute
        )
    }
}

impl std::error::Error for WrongItem {}

/// Text that does not have the required form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongText {
    text: String,
    wanted: String,
}

impl WrongText {
    /// Creates the error; `wanted` describes the required form.
    #[must_use]
    pub fn new(text: &str, wanted: impl Into<String>) -> Self {
        Self { text: text.to_owned(), wanted: wanted.into() }
    }
}

impl fmt::Display for WrongText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not {}", self.text, self.wanted)
    }
}

impl std::error::Error for WrongText {}
