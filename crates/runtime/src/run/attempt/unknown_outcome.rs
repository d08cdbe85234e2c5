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

#[cfg(test)]
mod tests {
    use keyform_core::error::{remote, transaction};
    use keyform_core::{Error, Output};

    use super::UnknownOutcome;
    use crate::run::RunError;
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{Rig, now, written};

    fn is_unknown(rig: Rig, answer: Result<Output, Error>) -> bool {
        let rig = rig.answers([answer]);
        let fixed = rig.fixed();
        let mut attempt = rig.sent(&fixed);
        let decision = UnknownOutcome.decide(&mut attempt).map(|decision| now(decision.result()));
        matches!(decision, Some(Err(RunError::Unknown(_))))
    }

    fn pay() -> Rig {
        Rig::new("pay", &[("name", "a".into()), ("amount", 1.into())])
    }

    fn move_under_token() -> Rig {
        Rig::new("move", &[("name", "a".into()), ("to", "b".into())])
    }

    #[test]
    fn a_lost_response_is_unknown() {
        assert!(is_unknown(pay(), Err(remote::outcome_unknown("timeout"))));
        assert!(!is_unknown(pay(), written(None)));
    }

    #[test]
    fn a_transaction_in_progress_is_unknown_unless_it_is_ours() {
        assert!(is_unknown(pay(), Err(transaction::in_progress())));
        assert!(!is_unknown(move_under_token(), Err(transaction::in_progress())));
    }
}
