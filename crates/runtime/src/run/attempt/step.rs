//! A step of a write: one feature, with a hook for each state that it takes part in.

use std::fmt::Debug;

use keyform_core::execute::BoxFuture;

use super::state::{Attempt, Bound, Decided, Read, Sent, WriteCall, Written};
use crate::run::RunError;

/// A feature of writes. The default of each hook does nothing.
pub(super) trait Step: Debug + Sync {
    /// Refuses a call that no attempt can serve on this store.
    fn admit(&self, _call: &WriteCall<'_>) -> Result<(), RunError> {
        Ok(())
    }

    /// Collects inputs of the request.
    fn read<'r, 'a>(&self, _attempt: &'r mut Attempt<'a, Read<'a>>) -> Hook<'r, Result<(), RunError>> {
        Hook::pass()
    }

    /// Completes or refuses the bound request.
    fn before<'r>(&self, _attempt: &'r mut Attempt<'_, Bound>) -> Hook<'r, Result<(), RunError>> {
        Hook::pass()
    }

    /// Returns the result of the write, if this step recognises the response.
    fn decide<'r>(&self, _attempt: &'r mut Attempt<'_, Sent>) -> Option<Hook<'r, Result<Written, RunError>>> {
        None
    }

    /// Reacts to the result, and may replace it or ask for one more attempt.
    fn after<'r>(&self, _attempt: &'r mut Attempt<'_, Decided>) -> Hook<'r, ()> {
        Hook::Ready(())
    }
}

/// Result of a hook: known at once, or after waiting for the store.
pub(super) enum Hook<'r, T> {
    /// The hook has finished.
    Ready(T),
    /// The hook continues in this future.
    Wait(BoxFuture<'r, T>),
}

impl Hook<'_, Result<(), RunError>> {
    /// The step does not concern this write, or had nothing to wait for.
    pub(super) fn pass() -> Self {
        Self::Ready(Ok(()))
    }
}

impl<'r, T> Hook<'r, T> {
    /// Continues in a boxed future.
    pub(super) fn wait(future: impl Future<Output = T> + Send + 'r) -> Self {
        Self::Wait(Box::pin(future))
    }

    /// Waits for the result.
    pub(super) async fn result(self) -> T {
        match self {
            Self::Ready(result) => result,
            Self::Wait(future) => future.await,
        }
    }
}
