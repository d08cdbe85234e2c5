//! Requests that lost against concurrent ones: recognises them, and pauses before the next try.

use std::time::Duration;

use keyform_core::error::{CancellationReason, Detail};
use keyform_core::{Error, ErrorCode, Item, World};

const PAUSE_FIRST: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// Condition that the store found not to hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FailedCondition<'a> {
    /// Number of the action in its transaction; 0 for a request of one item.
    pub(crate) action: usize,
    /// Item that the condition was evaluated on, if there is one and the request asked for it.
    pub(crate) item: Option<&'a Item>,
}

/// Returns whether a request failed only because of concurrent requests or throttling: it was not applied and can be
/// repeated as it is.
pub(crate) fn is_contention(error: &Error) -> bool {
    match (error.code(), error.detail()) {
        (ErrorCode::TransactionCanceled, Detail::Cancellation(reasons)) => {
            !reasons.iter().any(is_failed_condition) && reasons.iter().any(is_contended)
        }
        (code, _) => matches!(
            code,
            ErrorCode::TransactionConflict
                | ErrorCode::TransactionInProgress
                | ErrorCode::Throttling
                | ErrorCode::ProvisionedThroughputExceeded
                | ErrorCode::RequestLimitExceeded
        ),
    }
}

/// Returns the first condition that failed.
pub(crate) fn first_failed_condition(error: &Error) -> Option<FailedCondition<'_>> {
    match (error.code(), error.detail()) {
        (ErrorCode::ConditionalCheckFailed, Detail::Item(item)) => {
            Some(FailedCondition { action: 0, item: Some(item) })
        }
        (ErrorCode::ConditionalCheckFailed, _) => Some(FailedCondition { action: 0, item: None }),
        (ErrorCode::TransactionCanceled, Detail::Cancellation(reasons)) => {
            let action = reasons.iter().position(is_failed_condition)?;
            Some(FailedCondition { action, item: reasons[action].item.as_ref() })
        }
        _ => None,
    }
}

/// Returns the numbers of the actions of a cancelled transaction whose conditions failed; empty after contention,
/// `None` after any other error.
pub(crate) fn failed_conditions(error: &Error) -> Option<Vec<usize>> {
    let reasons = match (error.code(), error.detail()) {
        (ErrorCode::TransactionCanceled, Detail::Cancellation(reasons)) => reasons,
        (ErrorCode::TransactionConflict | ErrorCode::TransactionInProgress, _) => return Some(Vec::new()),
        _ => return None,
    };
    let failed: Vec<usize> = reasons
        .iter()
        .enumerate()
        .filter(|(_, reason)| is_failed_condition(reason))
        .map(|(number, _)| number)
        .collect();
    (!failed.is_empty() || reasons.iter().any(is_contended)).then_some(failed)
}

fn is_failed_condition(reason: &CancellationReason) -> bool {
    reason.cause.as_ref().is_some_and(|cause| cause.code == "ConditionalCheckFailed")
}

fn is_contended(reason: &CancellationReason) -> bool {
    let codes = ["TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"];
    reason.cause.as_ref().is_some_and(|cause| codes.contains(&cause.code))
}

/// Sleeps after this many lost tries: exponential backoff with jitter.
pub(crate) async fn pause(world: &dyn World, lost: u32) {
    let longest = PAUSE_FIRST.saturating_mul(1 << lost.min(10)).min(PAUSE_MAX);
    world.sleep(longest.mul_f64(world.jitter())).await;
}

/// Tries of a conditional request, with a pause before each except the first.
///
/// ```text
/// while tries.next().await {
///     read the items, send the request on the condition that they are unchanged, return if it was applied
/// }
/// ```
pub(crate) struct Tries<'a> {
    world: &'a dyn World,
    begun: u32,
    max: u32,
}

impl<'a> Tries<'a> {
    pub(crate) fn new(world: &'a dyn World, max: u32) -> Self {
        Self { world, begun: 0, max }
    }

    /// Begins the next try; `false` if all of them were lost.
    pub(crate) async fn next(&mut self) -> bool {
        if self.begun == self.max {
            return false;
        }
        if self.begun > 0 {
            pause(self.world, self.begun).await;
        }
        self.begun += 1;
        true
    }

    /// Returns whether the current try is the first.
    pub(crate) fn is_first(&self) -> bool {
        self.begun == 1
    }
}

#[cfg(test)]
mod tests {
    use keyform_core::error::{item, remote, table, transaction};

    use super::*;

    fn cancelled(codes: &[&str]) -> Error {
        transaction::cancelled(codes.iter().map(|code| remote::reason(code, "", None)).collect())
    }

    #[test]
    fn a_failed_condition_outweighs_contention() {
        assert!(is_contention(&transaction::conflict()));
        assert!(is_contention(&cancelled(&["None", "ThrottlingError"])));
        assert!(!is_contention(&cancelled(&["ConditionalCheckFailed", "TransactionConflict"])));
        assert!(!is_contention(&table::resource_not_found()));
    }

    #[test]
    fn failed_conditions_are_numbered_by_action() {
        let error = cancelled(&["None", "ConditionalCheckFailed", "ConditionalCheckFailed"]);
        assert_eq!(first_failed_condition(&error), Some(FailedCondition { action: 1, item: None }));
        assert_eq!(failed_conditions(&error), Some(vec![1, 2]));
        let error = item::condition_failed(None);
        assert_eq!(first_failed_condition(&error), Some(FailedCondition { action: 0, item: None }));
        assert_eq!(failed_conditions(&cancelled(&["TransactionConflict"])), Some(Vec::new()));
        assert_eq!(failed_conditions(&table::resource_not_found()), None);
    }
}
