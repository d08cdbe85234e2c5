//! Texts about transactions.

use super::{CancellationReason, Detail, Error, ErrorCode};

/// The transaction did nothing, for these reasons.
pub fn cancelled(reasons: Vec<CancellationReason>) -> Error {
    let codes: Vec<&str> =
        reasons.iter().map(|reason| reason.cause.as_ref().map_or("None", |cause| cause.code)).collect();
    let message =
        format!("Transaction cancelled, please refer cancellation reasons for specific reasons [{}]", codes.join(", "));
    Error::with_detail(ErrorCode::TransactionCanceled, message, Detail::Cancellation(reasons))
}
