//! Why a typed call has no answer.

use std::fmt;

use keyform_core::Error;
use keyform_runtime::run::RunError;
use keyform_runtime::seal::SealError;
use keyform_server::FlowError;

/// Why a call has no answer. A write's refusals by name are not here: they are variants of the write's own enum.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CallError {
    /// A read of one item found none; the entity's name.
    NotFound(String),
    /// The caller may not.
    Forbidden,
    /// An argument is missing or wrong.
    Arguments(String),
    /// The cursor is forged, or of another read or other arguments.
    Cursor,
    /// Others were in the way, again and again: try again.
    Busy,
    /// The pattern cannot run here; why.
    NotRunnable(String),
    /// The store did not say whether the write was applied; why.
    Unknown(String),
    /// An encrypted field cannot be sealed or opened; why.
    Sealing(SealError),
    /// The store failed.
    Store(Error),
    /// An item is not as the model says.
    Item(WrongItem),
    /// A write that returns an item returned none: it was deleted right after.
    Gone,
    /// A table's name has a variable without a value: see [`ModelOptions::variable`](super::ModelOptions::variable).
    Variable(String),
    /// What the runner says and the code does not know: the code was made of another version of the model.
    Unexpected(String),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(entity) => write!(f, "there is no such {entity}"),
            Self::Forbidden => f.write_str("the caller may not do this"),
            Self::Arguments(why) => f.write_str(why),
            Self::Cursor => f.write_str("the cursor is not one of this read with these arguments"),
            Self::Busy => f.write_str("too many others write this at once: try again"),
            Self::NotRunnable(why) => f.write_str(why),
            Self::Unknown(why) => f.write_str(why),
            Self::Sealing(error) => error.fmt(f),
            Self::Store(error) => write!(f, "{}: {}", error.code().name(), error.message()),
            Self::Item(wrong) => wrong.fmt(f),
            Self::Gone => f.write_str("the item was deleted right after it was written"),
            Self::Variable(table) => write!(
                f,
                "the table name {table} has a variable without a value: give it by `ModelOptions::new().variable(…)`"
            ),
            Self::Unexpected(what) => write!(f, "the model answers what this code does not know: {what}"),
        }
    }
}

impl std::error::Error for CallError {}

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
            RunError::Sealing(error) => Self::Sealing(error),
            RunError::Store(error) => Self::Store(error),
            RunError::NotRunnable(why) => Self::NotRunnable(why),
            RunError::NotChecked | RunError::UnknownPattern(_) => Self::NotRunnable(error.to_string()),
            RunError::KeyReused => Self::Arguments(error.to_string()),
            RunError::Refused { outcome, .. } => Self::Unexpected(outcome),
            RunError::Conflict(_) => Self::Unexpected("Conflict".to_owned()),
        }
    }
}

/// What a caller of a flow is told of a call that the flow made.
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
            CallError::Sealing(error) => Self::Failed(RunError::Sealing(error)),
            CallError::Store(error) => Self::Failed(RunError::Store(error)),
            CallError::Item(_) | CallError::Gone | CallError::Variable(_) | CallError::Unexpected(_) => {
                Self::Broken(error.to_string())
            }
        }
    }
}

/// An item that is not as the model says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongItem {
    /// The struct it was to become.
    pub entity: &'static str,
    /// The attribute that is missing, or of another type.
    pub attribute: &'static str,
}

impl fmt::Display for WrongItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "an item of {} has no `{}`, or one of another type than the model says: see `evolve`",
            self.entity, self.attribute
        )
    }
}

impl std::error::Error for WrongItem {}

/// A text that does not have the form that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongText {
    text: String,
    wanted: String,
}

impl WrongText {
    /// That text is not what is wanted.
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
