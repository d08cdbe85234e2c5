//! Maps a failed condition to the outcome that the author named.
//!
//! A failed condition comes with the current item. Each action keeps its conditions in order, so the first one that
//! the item does not meet is the one that failed. The refusal includes the item if the caller may read it: see
//! `readable`.

use std::sync::Arc;

use keyform_core::Item;
use keyform_core::operation::TransactAction;
use keyform_language::bind::{BoundAction, Demand, WriteOperation};
use keyform_language::plan::Role;
use keyform_language::schema::EntityId;

use super::state::{Attempt, Bound, Sent, WriteCall, Written};
use super::step::{Hook, Step};
use crate::contention::first_failed_condition;
use crate::run::found::Extent;
use crate::run::known::Known;
use crate::run::{Found, RunError};

#[derive(Debug)]
pub(super) struct Refusal;

impl Step for Refusal {
    /// Requests the items from which the failed condition is derived.
    fn before<'r>(&self, attempt: &'r mut Attempt<'_, Bound>) -> Hook<'r, Result<(), RunError>> {
        ask_for_items(&mut attempt.state.operation);
        Hook::pass()
    }

    fn decide<'r>(&self, attempt: &'r mut Attempt<'_, Sent>) -> Option<Hook<'r, Result<Written, RunError>>> {
        let error = attempt.state.response.error()?;
        Some(match first_failed_condition(error) {
            Some(failed) => {
                let called = Called::sent(attempt);
                Hook::wait(async move { called.refused_by(failed.action, failed.item).await })
            }
            None => Hook::Ready(Err(error.clone().into())),
        })
    }
}

/// Returns the result of a refusal: `keep` is a silent success, an empty name is a version conflict.
pub(super) fn named(outcome: &str, item: Option<Found>) -> Result<Written, RunError> {
    match outcome {
        "keep" => Ok(Written::Kept),
        "" => Err(RunError::Conflict(item.map(Box::new))),
        name => Err(RunError::Refused { outcome: name.to_owned(), item: item.map(Box::new) }),
    }
}

fn ask_for_items(operation: &mut WriteOperation) {
    match operation {
        WriteOperation::Put(put) => put.options.return_item_on_failure = true,
        WriteOperation::Update(update) => update.options.return_item_on_failure = true,
        WriteOperation::Delete(delete) => delete.options.return_item_on_failure = true,
        WriteOperation::Transact(transaction) => {
            for action in &mut transaction.actions {
                let (TransactAction::Put { return_item_on_failure, .. }
                | TransactAction::Update { return_item_on_failure, .. }
                | TransactAction::Delete { return_item_on_failure, .. }
                | TransactAction::Check { return_item_on_failure, .. }) = action;
                *return_item_on_failure = true;
            }
        }
        WriteOperation::Batch(_) => {}
    }
}

/// Actions of a request, and the caller who learns why one of them is refused.
pub(super) struct Called<'a> {
    of: WriteCall<'a>,
    known: Option<&'a Arc<Known>>,
    pub(super) actions: &'a [BoundAction],
}

impl<'a> Called<'a> {
    /// Returns the actions of a request that is not sent yet.
    pub(super) fn before(attempt: &'a Attempt<'_, Bound>) -> Self {
        Self { of: attempt.of, known: attempt.known.as_ref(), actions: &attempt.state.actions }
    }

    /// Returns the actions of a request that the store has answered.
    fn sent(attempt: &'a Attempt<'_, Sent>) -> Self {
        Self { of: attempt.of, known: attempt.known.as_ref(), actions: &attempt.state.actions }
    }

    /// Returns the outcome of one action. `item` is the item that its conditions were evaluated on.
    pub(super) async fn refused_by(&self, number: usize, item: Option<&Item>) -> Result<Written, RunError> {
        let action: Option<&BoundAction> = self.actions.get(number);
        let failed = action.and_then(|action| action.demands.iter().find(|demand| !demand.condition.holds(item)));
        if failed.is_some_and(|demand| demand.refusal.is_permission) {
            return Err(RunError::Forbidden);
        }
        let planned = action.and_then(|action| self.of.plan.at(&action.step));
        if let Some((action, demand)) = action.zip(failed).filter(|(_, demand)| demand.is_equality) {
            return self.as_absent(action, demand, planned.map(|planned| planned.role));
        }
        let current = match item.zip(planned) {
            Some((item, planned)) => self.shown(planned.entity, item).await?,
            None => None,
        };
        match failed {
            Some(demand) => named(&demand.refusal.outcome, current),
            // The item changed between the refusal and its image: the failed condition is unknown.
            None => Err(RunError::Conflict(current.map(Box::new))),
        }
    }

    /// Returns the outcome of an action on an item that differs in a field which it must have: that of an absent item.
    /// The item is never shown, because it may belong to another scope.
    fn as_absent(&self, action: &BoundAction, failed: &Demand, role: Option<Role>) -> Result<Written, RunError> {
        let missed = action.demands.iter().find(|demand| !demand.is_equality && !demand.condition.holds(None));
        match missed {
            Some(demand) => named(&demand.refusal.outcome, None),
            None if role == Some(Role::Delete) && self.is_alone(action) => Ok(Written::Applied(None)),
            None => named(&failed.refusal.outcome, None),
        }
    }

    /// Returns true if the request has no other step. Guards that it holds do not count.
    fn is_alone(&self, action: &BoundAction) -> bool {
        let is_guard = |other: &BoundAction| other.demands.iter().any(|demand| demand.refusal.is_permission);
        self.actions.iter().all(|other| std::ptr::eq(other, action) || other.step.is_empty() && is_guard(other))
    }

    /// Returns the item if it has not expired and the caller may read it.
    async fn shown(&self, entity: EntityId, item: &Item) -> Result<Option<Found>, RunError> {
        if self.of.runner.is_over(entity, item) {
            return Ok(None);
        }
        // The condition may have failed on a sentinel, which is not an item of the entity.
        let found = match self.of.runner.found(&[entity], item, Extent::Whole) {
            // The refusal stands, whatever the item looks like.
            Err(RunError::Broken(_)) => None,
            found => found?.filter(|found| !found.fields.is_empty()),
        };
        let Some(found) = found else { return Ok(None) };
        Ok(self.of.runner.may_read(&found, item, self.of.call, self.known).await.then_some(found))
    }
}

#[cfg(test)]
mod tests {
    use keyform_core::error::table;
    use keyform_core::{Error, Output};
    use keyform_language::bind::WriteOperation;

    use super::{Refusal, named};
    use crate::run::RunError;
    use crate::run::attempt::state::Written;
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{Rig, account, cancelled, condition_failed, now, written};

    fn open() -> Rig {
        Rig::new("open", &[("name", "a".into()), ("owner", "ada".into()), ("pin", "1234".into())])
    }

    fn decided(rig: Rig, answer: Result<Output, Error>) -> Option<Result<Written, RunError>> {
        let rig = rig.answers([answer]);
        let fixed = rig.fixed();
        let mut attempt = rig.sent(&fixed);
        Refusal.decide(&mut attempt).map(|decision| now(decision.result()))
    }

    #[test]
    fn a_refusal_is_named_by_the_model() {
        assert_eq!(named("keep", None), Ok(Written::Kept));
        assert_eq!(named("", None), Err(RunError::Conflict(None)));
        assert_eq!(named("Taken", None), Err(RunError::Refused { outcome: "Taken".to_owned(), item: None }));
    }

    #[test]
    fn the_request_asks_for_the_item_that_fails_it() {
        let rig = open();
        let fixed = rig.fixed();
        let mut attempt = rig.bound(&fixed);
        now(Refusal.before(&mut attempt).result()).unwrap();
        assert!(matches!(attempt.state.operation, WriteOperation::Put(put) if put.options.return_item_on_failure));
    }

    #[test]
    fn the_failed_condition_gives_the_outcome_and_application_code_sees_the_item() {
        let stored = account("a", "bob");
        let result = decided(open(), condition_failed(Some(&stored))).unwrap();
        let Err(RunError::Refused { outcome, item: Some(found) }) = result else { panic!("{result:?}") };
        assert_eq!((outcome.as_str(), found.fields.get("owner")), ("Taken", Some(&"bob".into())));
    }

    #[test]
    fn the_failed_action_of_a_transaction_gives_the_outcome() {
        let moved = Rig::new("move", &[("name", "a".into()), ("to", "b".into())]);
        let result = decided(moved, cancelled(&["None", "ConditionalCheckFailed"]));
        assert_eq!(result, Some(Err(RunError::Refused { outcome: "UnknownTarget".to_owned(), item: None })));
    }

    #[test]
    fn every_other_error_is_reported_and_a_response_is_not() {
        let error = table::resource_not_found();
        assert_eq!(decided(open(), Err(error.clone())), Some(Err(RunError::Store(error))));
        assert_eq!(decided(open(), written(None)), None);
    }
}
