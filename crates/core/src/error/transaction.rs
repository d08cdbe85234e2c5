//! Errors about transactions.

use super::{CancellationCause, CancellationReason, Detail, Error, ErrorCode};

/// The transaction was cancelled and changed nothing.
pub fn cancelled(reasons: Vec<CancellationReason>) -> Error {
    let codes: Vec<&str> =
        reasons.iter().map(|reason| reason.cause.as_ref().map_or("None", |cause| cause.code)).collect();
    let message =
        format!("Transaction cancelled, please refer cancellation reasons for specific reasons [{}]", codes.join(", "));
    Error::with_detail(ErrorCode::TransactionCanceled, message, Detail::Cancellation(reasons))
}

/// A single write addresses an item of a transaction that is decided but not yet durable (ADR 0003).
pub fn conflict() -> Error {
    Error::new(ErrorCode::TransactionConflict, "Transaction is ongoing for the item")
}

/// Converts the error of one action to a cancellation reason.
pub fn reason(error: &Error) -> CancellationReason {
    let code = match error.code() {
        ErrorCode::ConditionalCheckFailed => "ConditionalCheckFailed",
        ErrorCode::TransactionConflict => "TransactionConflict",
        ErrorCode::ItemCollectionSizeLimitExceeded => "ItemCollectionSizeLimitExceeded",
        ErrorCode::DuplicateItem => "DuplicateItem",
        _ => "ValidationError",
    };
    let item = if let Detail::Item(item) = error.detail() { Some(item.clone()) } else { None };
    CancellationReason { cause: Some(CancellationCause { code, message: error.message().to_owned() }), item }
}

/// The transaction addresses the same item twice.
pub fn duplicate_items() -> Error {
    Error::validation("Transaction request cannot include multiple operations on one item")
}

/// The idempotency token was used with another request.
pub fn token_mismatch() -> Error {
    Error::new(
        ErrorCode::IdempotentParameterMismatch,
        "The request uses the same client token as a previous, but non-identical request. Do not reuse a client token with \
         different requests, unless the requests are identical",
    )
}

/// A transaction with the same idempotency token is in progress.
pub fn in_progress() -> Error {
    Error::new(ErrorCode::TransactionInProgress, "The transaction with the given request token is already in progress.")
}

/// The items of the transaction exceed 4 MB in total.
pub fn too_large() -> Error {
    Error::validation(
        "Collection size of items exceeded, which can also be caused by the aggregate size of the items in the transaction \
         exceeding the 4MB limit",
    )
}
