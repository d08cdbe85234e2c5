//! Repeats an attempt that lost against concurrent writers, after a pause that grows.

use super::state::{Attempt, Decided, Sent, Written};
use super::step::{Hook, Step};
use crate::contention::{self, is_contention};
use crate::run::{RunError, Runner};

/// Attempts before the call fails with `Busy`.
const TRIES_MAX: u32 = 8;

#[derive(Debug)]
pub(super) struct Retry;

impl Step for Retry {
    fn decide<'r>(&self, attempt: &'r mut Attempt<'_, Sent>) -> Option<Hook<'r, Result<Written, RunError>>> {
        let error = attempt.state.response.error()?;
        is_contention(error).then(|| Hook::Ready(Err(RunError::Busy)))
    }

    fn after<'r>(&self, attempt: &'r mut Attempt<'_, Decided>) -> Hook<'r, ()> {
        let lost = attempt.lost + 1;
        if !matches!(attempt.state.written, Err(RunError::Busy)) || lost >= TRIES_MAX {
            return Hook::Ready(());
        }
        attempt.state.again = true;
        Hook::wait(contention::pause(&*attempt.of.runner.world, lost))
    }
}

impl Runner {
    /// Sleeps before the next try of a request. Fails with `Busy` after the last one.
    pub(in crate::run) async fn pause(&self, lost: u32) -> Result<(), RunError> {
        if lost >= TRIES_MAX {
            return Err(RunError::Busy);
        }
        contention::pause(&*self.world, lost).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use keyform_core::error::transaction;

    use super::{Retry, TRIES_MAX};
    use crate::run::RunError;
    use crate::run::attempt::state::Attempt;
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{Rig, cancelled, now};

    fn pay() -> Rig {
        Rig::new("pay", &[("name", "a".into()), ("amount", 1.into())])
    }

    #[test]
    fn contention_is_busy_and_a_failed_condition_is_not() {
        let check = |answer, is_busy: bool| {
            let rig = pay().answers([answer]);
            let fixed = rig.fixed();
            let mut attempt = rig.sent(&fixed);
            let decision = Retry.decide(&mut attempt).map(|decision| now(decision.result()));
            assert_eq!(decision, is_busy.then_some(Err(RunError::Busy)));
        };
        check(Err(transaction::conflict()), true);
        check(cancelled(&["None", "TransactionConflict"]), true);
        check(cancelled(&["ConditionalCheckFailed", "TransactionConflict"]), false);
        check(cancelled(&["ValidationError"]), false);
    }

    #[test]
    fn a_lost_attempt_is_repeated_after_growing_pauses_and_the_last_is_final() {
        let rig = pay();
        let fixed = rig.fixed();
        let mut again = Vec::new();
        for lost in 0..TRIES_MAX {
            let mut attempt = Attempt::begin(rig.write_call(), &fixed, lost).decided(Err(RunError::Busy));
            now(Retry.after(&mut attempt).result());
            again.push(attempt.state.again);
        }
        assert_eq!(again, [true, true, true, true, true, true, true, false]);
        let pauses = [40, 80, 160, 320, 640, 1280, 2000].map(Duration::from_millis);
        assert_eq!(rig.pauses(), pauses);
    }

    #[test]
    fn other_results_are_final() {
        let rig = pay();
        let fixed = rig.fixed();
        let mut attempt = rig.reading(&fixed).decided(Err(RunError::Forbidden));
        now(Retry.after(&mut attempt).result());
        assert!(!attempt.state.again && rig.pauses().is_empty());
    }
}
