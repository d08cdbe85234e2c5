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
        Hook::wait(contention::pause(&*attempt.of.runner.surroundings, lost))
    }
}

impl Runner {
    /// Sleeps before the next try of a request. Fails with `Busy` after the last one.
    pub(in crate::run) async fn pause(&self, lost: u32) -> Result<(), RunError> {
        if lost >= TRIES_MAX {
            return Err(RunError::Busy);
        }
        contention::pause(&*self.surroundings, lost).await;
        Ok(())
    }
}
