//! What a store's refusal means in the author's words.
//!
//! A failed condition comes with the item as it is. Each action knows its conditions in order, so the first that the item does not
//! meet is the one that refused.

use keyform_core::error::Detail;
use keyform_core::{Error, ErrorCode, Item};

use crate::bind::{BoundAction, BoundWrite};
use crate::plan::{PlannedAction, WritePlan};
use crate::schema::Model;

use super::RunError;
use super::found::{self, Found};

/// `keep` is a silent success; no name is a conflict of versions.
pub(super) fn refused(name: &str, item: Option<Found>) -> Result<Option<Found>, RunError> {
    match name {
        "keep" => Ok(None),
        "" => Err(RunError::Conflict(item.map(Box::new))),
        name => Err(RunError::Refused { outcome: name.to_owned(), item: item.map(Box::new) }),
    }
}

/// The outcome of a write that the store refused.
pub(super) fn of(model: &Model, plan: &WritePlan, bound: &BoundWrite, error: Error) -> Result<Option<Found>, RunError> {
    match (error.code(), error.detail()) {
        (ErrorCode::ConditionalCheckFailed, Detail::Item(item)) => by_action(model, plan, bound, 0, Some(item)),
        (ErrorCode::ConditionalCheckFailed, _) => by_action(model, plan, bound, 0, None),
        (ErrorCode::TransactionCanceled, Detail::Cancellation(reasons)) => {
            let failed = reasons
                .iter()
                .position(|reason| reason.cause.as_ref().is_some_and(|cause| cause.code == "ConditionalCheckFailed"));
            match failed {
                Some(number) => by_action(model, plan, bound, number, reasons[number].item.as_ref()),
                None if reasons
                    .iter()
                    .any(|reason| reason.cause.as_ref().is_some_and(|cause| is_contention(cause.code))) =>
                {
                    Err(RunError::Busy)
                }
                None => Err(RunError::Store(error)),
            }
        }
        _ => Err(RunError::Store(error)),
    }
}

fn is_contention(code: &str) -> bool {
    matches!(code, "TransactionConflict" | "ProvisionedThroughputExceeded" | "ThrottlingError")
}

fn by_action(
    model: &Model,
    plan: &WritePlan,
    bound: &BoundWrite,
    number: usize,
    item: Option<&Item>,
) -> Result<Option<Found>, RunError> {
    let action: Option<&BoundAction> = bound.actions.get(number);
    let name = action.and_then(|action| action.refusals.iter().find(|(condition, _)| !condition.holds(item)));
    let planned: Option<&PlannedAction> = action.and_then(|action| plan.at(&action.step));
    let current = item.zip(planned).map(|(item, planned)| found::of(model, planned.entity, item));
    match name {
        Some((_, refusal)) => refused(&refusal.outcome, current),
        // The item changed between the refusal and its image: nobody can say which condition it was.
        None => Err(RunError::Conflict(current.map(Box::new))),
    }
}
