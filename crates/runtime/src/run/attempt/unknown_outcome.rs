//! Reports a write as `Unknown` if the store did not tell whether it was applied (ADR 0017).

use keyform_core::ErrorCode;
use keyform_core::error::Detail;

use super::state::{Attempt, Sent, Written};
use super::step::{Hook, Step};
use crate::run::RunError;

#[derive(Debug)]
pub(super) struct UnknownOutcome;

impl Step for UnknownOutcome {
    fn decide<'r>(&self, attempt: &'r mut Attempt<'_, Sent>) -> Option<Hook<'r, Result<Written, RunError>>> {
        let error = attempt.state.response.error()?;
        let is_unknown = *error.detail() == Detail::OutcomeUnknown;
        // Without our token the next attempt would be a different transaction.
        let is_in_progress = error.code() == ErrorCode::TransactionInProgress && !attempt.state.has_token;
        (is_unknown || is_in_progress).then(|| Hook::Ready(Err(RunError::Unknown(error.message().to_owned()))))
    }
}
