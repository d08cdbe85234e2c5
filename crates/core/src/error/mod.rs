//! DynamoDB's errors: code, HTTP status and exact message.
//!
//! Messages are part of the contract, because client code and tests match on them. They are built here and nowhere
//! else: one file per area ([`expression`], [`item`], [`table`], …), one constructor per reason. The doc comment of a
//! constructor states the condition that it reports.

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

/// An error with DynamoDB's code and message.
#[derive(Clone, Debug, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    code: ErrorCode,
    message: String,
    detail: Detail,
}

/// Data that some errors carry besides the message.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Detail {
    /// No further data.
    #[default]
    None,
    /// Item that failed a condition, if the request asked for it.
    Item(Item),
    /// One reason per action of a cancelled transaction, in request order.
    Cancellation(Vec<CancellationReason>),
    /// A remote store did not answer and has applied nothing.
    NoAnswer,
    /// The store did not report whether it applied the request: a remote one did not answer, or the embedded one ran
    /// out of a resource before the write was durable (ADR 0029).
    OutcomeUnknown,
    /// The store temporarily rejects requests because a resource is exhausted (ADR 0029). Nothing was applied, and
    /// the store has logged the cause.
    RefusedForNow,
}

/// Outcome of one action of a cancelled transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CancellationReason {
    /// Cause of the failure; `None` for an action that would have succeeded.
    pub cause: Option<CancellationCause>,
    /// Item that failed a condition, if the request asked for it.
    pub item: Option<Item>,
}

/// Code and message of a cancellation reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancellationCause {
    /// DynamoDB's reason code, such as `ConditionalCheckFailed` or `TransactionConflict`.
    pub code: &'static str,
    /// Message for this action alone.
    pub message: String,
}

impl Error {
    /// Creates an error without detail. Code outside this module uses a constructor named after the reason.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::with_detail(code, message, Detail::None)
    }

    pub(crate) fn with_detail(code: ErrorCode, message: impl Into<String>, detail: Detail) -> Self {
        Self(Box::new(Inner { code, message: message.into(), detail }))
    }

    pub(crate) fn validation(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Validation, message)
    }

    /// Creates an InternalServerError for a fault of Keyform or its store. The message states what to do about it.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InternalServer, message)
    }

    /// Creates an InternalServerError of a store that temporarily rejects requests. Nothing was
    /// applied; a retry may succeed.
    pub fn refused_for_now(message: impl Into<String>) -> Self {
        Self::with_detail(ErrorCode::InternalServer, message, Detail::RefusedForNow)
    }

    /// Returns the error code, which decides the HTTP status.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// Returns DynamoDB's message.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the data carried besides the message.
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
