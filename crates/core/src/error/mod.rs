//! The service's errors: code, status and exact text. Texts are contract; they are built here and nowhere else, one file for
//! each area ([`expression`], [`item`], [`table`], …), one constructor for each reason.

use std::fmt;

use crate::value::Item;

pub mod access;
mod code;
pub mod constraint;
pub mod expression;
pub mod item;
pub mod legacy;
pub mod partiql;
pub mod read;
pub mod remote;
pub mod request;
pub mod schema;
pub mod stream;
pub mod table;
pub mod transaction;

pub use code::ErrorCode;

/// An error as the service reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    code: ErrorCode,
    message: String,
    detail: Detail,
}

/// What some errors carry beside their text.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Detail {
    /// Nothing.
    #[default]
    None,
    /// The item that failed a condition, where the caller asked for it.
    Item(Item),
    /// Why each action of a transaction was or was not the cause.
    Cancellation(Vec<CancellationReason>),
    /// A remote store did not answer, so it applied nothing.
    NoAnswer,
    /// A remote store did not report whether it applied the request.
    OutcomeUnknown,
    /// The store refuses for now, because something is scarce. Nothing was applied, and the store has logged the cause.
    RefusedForNow,
}

/// Why one action of a transaction failed, or that it did not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CancellationReason {
    /// The reason; `None` for an action that would have succeeded.
    pub cause: Option<CancellationCause>,
    /// The item that failed a condition, where the caller asked for it.
    pub item: Option<Item>,
}

/// A reason's code and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancellationCause {
    /// `ConditionalCheckFailed`, `TransactionConflict` and so on.
    pub code: &'static str,
    /// The text.
    pub message: String,
}

impl Error {
    /// An error of that code with that text. Callers outside this module use a constructor named by the reason.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::with_detail(code, message, Detail::None)
    }

    pub(crate) fn with_detail(code: ErrorCode, message: impl Into<String>, detail: Detail) -> Self {
        Self(Box::new(Inner { code, message: message.into(), detail }))
    }

    /// A ValidationException with that text.
    pub(crate) fn validation(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Validation, message)
    }

    /// An InternalServerError: the fault is ours. The text says what to do.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InternalServer, message)
    }

    /// An InternalServerError of a store that refuses for now: nothing was applied, and a retry may succeed.
    pub fn refused_for_now(message: impl Into<String>) -> Self {
        Self::with_detail(ErrorCode::InternalServer, message, Detail::RefusedForNow)
    }

    /// The code.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// The text.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What it carries beside the text.
    pub fn detail(&self) -> &Detail {
        &self.0.detail
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code.name(), self.0.message)
    }
}

impl std::error::Error for Error {}
