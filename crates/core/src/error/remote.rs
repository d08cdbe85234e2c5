//! Errors of a remote store: those it reports, and those of failing to reach it.

use super::{CancellationCause, CancellationReason, Detail, Error, ErrorCode};
use crate::value::Item;

/// Codes that DynamoDB uses in cancellation reasons.
const CAUSES: [&str; 8] = [
    "ConditionalCheckFailed",
    "TransactionConflict",
    "ItemCollectionSizeLimitExceeded",
    "ProvisionedThroughputExceeded",
    "ThrottlingError",
    "ValidationError",
    "DuplicateItem",
    "AccessDenied",
];

/// Converts an error that a remote store reported. A code unknown to DynamoDB becomes an InternalServerError that
/// names it.
pub fn reported(code: &str, message: &str, detail: Detail) -> Error {
    match ErrorCode::from_name(code) {
        Some(code) => Error::with_detail(code, message, detail),
        None => Error::internal(format!("the store answered {code}: {message}")),
    }
}

/// Converts a cancellation reason that a remote store reported. The code `None` marks an action that did not fail.
pub fn reason(code: &str, message: &str, item: Option<Item>) -> CancellationReason {
    let known = CAUSES.into_iter().find(|cause| *cause == code);
    let cause = match (code, known) {
        ("None" | "", _) => None,
        (_, Some(code)) => Some(CancellationCause { code, message: message.to_owned() }),
        (_, None) => Some(CancellationCause { code: "ValidationError", message: format!("{code}: {message}") }),
    };
    CancellationReason { cause, item }
}

/// The store did not answer in time: the store or the network is down, or the endpoint,
/// credentials or region are wrong.
pub fn no_answer(reason: &str) -> Error {
    let message = format!("the store did not answer: {reason}");
    Error::with_detail(ErrorCode::InternalServer, message, Detail::NoAnswer)
}

/// A write got no response, or a response that leaves open whether it was applied. A retry could apply it twice, so
/// only idempotent writes are retried (ADR 0017).
pub fn outcome_unknown(reason: &str) -> Error {
    let message = format!("the store did not say whether the write was applied: {reason}");
    Error::with_detail(ErrorCode::InternalServer, message, Detail::OutcomeUnknown)
}

/// The response contains a value that DynamoDB cannot send.
pub fn malformed(what: &str) -> Error {
    Error::internal(format!("the store's answer cannot be read: {what}"))
}

/// The store returned the response to another operation than the request's.
pub fn wrong_response(operation: &str, answered: &str) -> Error {
    Error::internal(format!("the store answered {operation} with the response to {answered}"))
}

/// The operation is not supported on remote stores.
pub fn unsupported(operation: &str) -> Error {
    Error::new(
        ErrorCode::UnknownOperation,
        format!("{operation} is not sent to a store elsewhere; an AWS SDK or the AWS command line can do it"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reported_code_is_the_service_s_or_named_in_the_text() {
        let known = reported("ProvisionedThroughputExceededException", "slow down", Detail::None);
        assert_eq!((known.code(), known.message()), (ErrorCode::ProvisionedThroughputExceeded, "slow down"));
        let unknown = reported("TeapotException", "short and stout", Detail::None);
        assert_eq!(unknown.code(), ErrorCode::InternalServer);
        assert_eq!(unknown.message(), "the store answered TeapotException: short and stout");
    }

    #[test]
    fn an_action_that_was_not_the_cause_has_no_cause() {
        assert_eq!(reason("None", "", None), CancellationReason::default());
        assert_eq!(reason("ThrottlingError", "later", None).cause.map(|cause| cause.code), Some("ThrottlingError"));
    }
}
