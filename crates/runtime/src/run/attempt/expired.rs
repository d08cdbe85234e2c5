//! Deletes an expired item that made an upsert fail; the whole write is then repeated (ADR 0017).

use keyform_core::operation::DeleteItem;
use keyform_core::{ErrorCode, Operation};

use super::state::{Attempt, Sent, Written};
use super::step::{Hook, Step};
use crate::contention::first_failed_condition;
use crate::run::RunError;

#[derive(Debug)]
pub(super) struct Expired;

impl Step for Expired {
    fn decide<'r>(&self, attempt: &'r mut Attempt<'_, Sent>) -> Option<Hook<'r, Result<Written, RunError>>> {
        let clearing = clearing(&attempt.state)?;
        let runner = attempt.of.runner;
        Some(Hook::wait(async move {
            match runner.call(clearing).await {
                // A failed condition means that the store or another process was faster.
                Err(error) if error.code() != ErrorCode::ConditionalCheckFailed => Err(error.into()),
                _ => Err(RunError::Busy),
            }
        }))
    }
}

/// Returns the request that deletes an expired item, if such an item made the request fail.
fn clearing(sent: &Sent) -> Option<DeleteItem> {
    let failed = first_failed_condition(sent.response.error()?)?;
    let (lives, clearing) = sent.actions.get(failed.action)?.clearing.as_ref()?;
    (!lives.holds(failed.item)).then(|| clearing.clone())
}
