//! Maps a failed condition to the outcome that the author named.
//!
//! A failed condition comes with the current item. Each action keeps its conditions in order, so the first one that
//! the item does not meet is the one that failed. The refusal includes the item if the caller may read it: see
//! `readable`.

use keyform_core::error::{CancellationReason, Detail};
use keyform_core::operation::DeleteItem;
use keyform_core::{Error, ErrorCode, Item};

use keyform_language::bind::{BoundAction, BoundWrite};
use keyform_language::schema::EntityId;

use super::found::Found;
use super::write::Attempt;
use super::{RunError, Runner};

/// `keep` is a silent success; an empty name is a version conflict.
pub(super) fn refused(name: &str, item: Option<Found>) -> Result<Option<Found>, RunError> {
    match name {
        "keep" => Ok(None),
        "" => Err(RunError::Conflict(item.map(Box::new))),
        name => Err(RunError::Refused { outcome: name.to_owned(), item: item.map(Box::new) }),
    }
}

/// Returns the outcome of a write that the store rejected.
pub(super) async fn of(called: &Called<'_>, error: Error) -> Result<Option<Found>, RunError> {
    match (error.code(), error.detail()) {
        (ErrorCode::ConditionalCheckFailed, Detail::Item(item)) => called.refused_by(0, Some(item)).await,
        (ErrorCode::ConditionalCheckFailed, _) => called.refused_by(0, None).await,
        (ErrorCode::TransactionCanceled, Detail::Cancellation(reasons)) => {
            let failed = reasons
                .iter()
                .position(|reason| reason.cause.as_ref().is_some_and(|cause| cause.code == "ConditionalCheckFailed"));
            match failed {
                Some(number) => called.refused_by(number, reasons[number].item.as_ref()).await,
                None if reasons
                    .iter()
                    .any(|reason| reason.cause.as_ref().is_some_and(|cause| is_contention(cause.code))) =>
                {
                    Err(RunError::Busy)
                }
                None => Err(error.into()),
            }
        }
        _ => Err(error.into()),
    }
}

/// Returns the request that deletes an expired item, if such an item made an upsert fail (ADR 0017).
pub(super) fn clearing(bound: &BoundWrite, error: &Error) -> Option<DeleteItem> {
    let (number, item) = match (error.code(), error.detail()) {
        (ErrorCode::ConditionalCheckFailed, Detail::Item(item)) => (0, Some(item)),
        (ErrorCode::TransactionCanceled, Detail::Cancellation(reasons)) => {
            let is_failed = |reason: &CancellationReason| {
                reason.cause.as_ref().is_some_and(|cause| cause.code == "ConditionalCheckFailed")
            };
            let number = reasons.iter().position(is_failed)?;
            (number, reasons[number].item.as_ref())
        }
        _ => return None,
    };
    let (lives, clearing) = bound.actions.get(number)?.clearing.as_ref()?;
    (!lives.holds(item)).then(|| clearing.clone())
}

/// Returns the numbers of the actions of a cancelled transaction whose conditions failed; empty after contention,
/// `None` after any other error.
pub(super) fn failed_conditions(error: &Error) -> Option<Vec<usize>> {
    let reasons = match (error.code(), error.detail()) {
        (ErrorCode::TransactionCanceled, Detail::Cancellation(reasons)) => reasons,
        (ErrorCode::TransactionConflict | ErrorCode::TransactionInProgress, _) => return Some(Vec::new()),
        _ => return None,
    };
    let causes = || reasons.iter().map(|reason| reason.cause.as_ref().map_or("", |cause| cause.code));
    let failed: Vec<usize> =
        causes().enumerate().filter(|(_, code)| *code == "ConditionalCheckFailed").map(|(number, _)| number).collect();
    (!failed.is_empty() || causes().any(is_contention)).then_some(failed)
}

fn is_contention(code: &str) -> bool {
    matches!(code, "TransactionConflict" | "ProvisionedThroughputExceeded" | "ThrottlingError")
}

/// Write that the store rejected.
pub(super) struct Called<'a> {
    pub(super) runner: &'a Runner,
    pub(super) attempt: Attempt<'a>,
    pub(super) bound: &'a BoundWrite,
}

impl Called<'_> {
    /// Returns the outcome of one action. `item` is the item that its conditions were evaluated on.
    pub(super) async fn refused_by(&self, number: usize, item: Option<&Item>) -> Result<Option<Found>, RunError> {
        let action: Option<&BoundAction> = self.bound.actions.get(number);
        let name = action.and_then(|action| action.refusals.iter().find(|(condition, _)| !condition.holds(item)));
        let planned = action.and_then(|action| self.attempt.plan.at(&action.step));
        let current = match item.zip(planned) {
            Some((item, planned)) => self.shown(planned.entity, item).await?,
            None => None,
        };
        match name {
            Some((_, refusal)) => refused(&refusal.outcome, current),
            // The item changed between the refusal and its image: the failed condition is unknown.
            None => Err(RunError::Conflict(current.map(Box::new))),
        }
    }

    /// Returns the item if it has not expired and the caller may read it.
    async fn shown(&self, entity: EntityId, item: &Item) -> Result<Option<Found>, RunError> {
        if self.runner.is_over(entity, item) {
            return Ok(None);
        }
        // The condition may have failed on a sentinel, which is not an item of the entity.
        let Some(found) = self.runner.found(&[entity], item)?.filter(|found| !found.fields.is_empty()) else {
            return Ok(None);
        };
        let Attempt { call, known, .. } = self.attempt;
        Ok(self.runner.may_read(&found, item, call, known).await.then_some(found))
    }
}
