//! Deletes what refers to a deleted item, and keeps an intent until that is done (ADR 0020).
//!
//! The intent is part of the request where the request is a transaction. A batch has no transaction, nor have some
//! stores: there the intent is put first, and withdrawn if the delete is not applied.

use keyform_core::operation::{DeleteItem, PutItem};
use keyform_core::{Attributes, Error, ErrorCode};
use keyform_language::bind::{LEASE_MILLIS, Parent, WriteOperation};
use keyform_language::bookkeeping::CASCADES;

use super::state::{Attempt, Bound, Decided, Sent, WriteCall, Written};
use super::step::{Hook, Step};
use crate::run::{RunError, Runner};

#[derive(Debug)]
pub(super) struct Cascade;

impl Step for Cascade {
    fn before<'r>(&self, attempt: &'r mut Attempt<'_, Bound>) -> Hook<'r, Result<(), RunError>> {
        let (of, state) = (attempt.of, &mut attempt.state);
        if matches!(state.operation, WriteOperation::Batch(_)) {
            state.deleted.intents = intents(&of, &state.deleted.parents);
        }
        if state.deleted.intents.is_empty() {
            return Hook::pass();
        }
        Hook::wait(async move {
            for item in std::mem::take(&mut state.deleted.intents) {
                let put = PutItem { table: CASCADES.to_owned(), item, ..PutItem::default() };
                of.runner.call(put).await.map_err(without_intents)?;
            }
            state.deleted.announced = true;
            Ok(())
        })
    }

    /// Explains a missing table: the most likely one to be missing is that of the intents.
    fn decide<'r>(&self, attempt: &'r mut Attempt<'_, Sent>) -> Option<Hook<'r, Result<Written, RunError>>> {
        let error = attempt.state.response.error()?;
        let is_missing = error.code() == ErrorCode::ResourceNotFound && attempt.of.plan.cascades();
        is_missing.then(|| Hook::Ready(Err(without_intents(error.clone()))))
    }

    fn after<'r>(&self, attempt: &'r mut Attempt<'_, Decided>) -> Hook<'r, ()> {
        let (runner, state) = (attempt.of.runner, &attempt.state);
        if state.deleted.parents.is_empty() {
            return Hook::Ready(());
        }
        match &state.written {
            Ok(Written::Applied(_)) => Hook::wait(runner.remove_dependents(&state.deleted.parents)),
            // It is unknown whether the parent was deleted. The process that resumes the intent checks.
            Err(RunError::Unknown(_)) => Hook::Ready(()),
            _ if state.deleted.announced => Hook::wait(withdraw(runner, &state.deleted.parents)),
            _ => Hook::Ready(()),
        }
    }
}

/// Returns the intents of the parents whose dependents are deleted with them.
fn intents(of: &WriteCall<'_>, parents: &[Parent]) -> Vec<Attributes> {
    let due = Some(of.runner.world.now_millis() + LEASE_MILLIS);
    let cascading = parents.iter().filter(|parent| parent.cascades);
    cascading.map(|parent| parent.intent(&of.runner.checked.model, due, false)).collect()
}

/// Deletes the intents of a write that was not applied.
async fn withdraw(runner: &Runner, parents: &[Parent]) {
    for parent in parents.iter().filter(|parent| parent.cascades) {
        let (table, key) = (CASCADES.to_owned(), parent.intent_key(&runner.checked.model));
        let delete = DeleteItem { table, key, ..DeleteItem::default() };
        // A remaining intent is dropped when it is resumed, because its parent still exists.
        drop(runner.call(delete).await);
    }
}

fn without_intents(error: Error) -> RunError {
    match error.code() {
        ErrorCode::ResourceNotFound => RunError::NotRunnable(format!(
            "the table {CASCADES}, which stores pending deletes, or a table of the model does not exist: create them with `keyform deploy apply`"
        )),
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use keyform_core::error::table;
    use keyform_core::{AttributeValue, Operation};
    use keyform_language::bookkeeping::CASCADES;

    use super::Cascade;
    use crate::run::RunError;
    use crate::run::attempt::state::Written;
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{Rig, now, page, written};

    fn clear_all() -> Rig {
        let shelves = AttributeValue::L(vec!["a".into(), "b".into()]);
        Rig::new("clearAll", &[("shelves", shelves)])
    }

    /// Returns the requests as `put` or `delete` of an intent, or `query` of dependents.
    fn names(rig: &Rig) -> Vec<&'static str> {
        let name = |operation: &Operation| match operation {
            Operation::PutItem(put) if put.table == CASCADES => "put",
            Operation::DeleteItem(delete) if delete.table == CASCADES => "delete",
            Operation::Query(_) => "query",
            other => panic!("{other:?}"),
        };
        rig.requests().iter().map(name).collect()
    }

    fn after(rig: &Rig, announced: bool, result: Result<Written, RunError>) {
        let fixed = rig.fixed();
        let mut attempt = rig.bound(&fixed).decided(result);
        attempt.state.deleted.announced = announced;
        now(Cascade.after(&mut attempt).result());
    }

    #[test]
    fn the_intents_of_a_batch_are_put_before_it() {
        let rig = clear_all().answers([written(None), written(None)]);
        let fixed = rig.fixed();
        let mut attempt = rig.bound(&fixed);
        now(Cascade.before(&mut attempt).result()).unwrap();
        assert_eq!(names(&rig), ["put", "put"]);
        assert!(attempt.state.deleted.announced);
    }

    #[test]
    fn a_transaction_contains_its_intent() {
        let rig = Rig::new("clear", &[("shelf", "s".into())]);
        let fixed = rig.fixed();
        let mut attempt = rig.bound(&fixed);
        now(Cascade.before(&mut attempt).result()).unwrap();
        assert!(names(&rig).is_empty() && !attempt.state.deleted.announced);
    }

    #[test]
    fn an_applied_delete_is_followed_by_those_of_its_dependents() {
        let rig = Rig::new("clear", &[("shelf", "s".into())]).answers([page(&[]), written(None)]);
        after(&rig, false, Ok(Written::Applied(None)));
        assert_eq!(names(&rig), ["query", "delete"]);
    }

    #[test]
    fn announced_intents_are_withdrawn_unless_the_outcome_is_unknown() {
        let rig = clear_all().answers([written(None), written(None)]);
        after(&rig, true, Err(RunError::Busy));
        assert_eq!(names(&rig), ["delete", "delete"]);
        let rig = clear_all();
        after(&rig, true, Err(RunError::Unknown("timeout".to_owned())));
        assert!(names(&rig).is_empty());
    }

    #[test]
    fn a_missing_table_is_explained() {
        let rig = Rig::new("clear", &[("shelf", "s".into())]).answers([Err(table::resource_not_found())]);
        let fixed = rig.fixed();
        let mut attempt = rig.sent(&fixed);
        let decision = Cascade.decide(&mut attempt).map(|decision| now(decision.result()));
        assert!(matches!(decision, Some(Err(RunError::NotRunnable(why))) if why.contains(CASCADES)));
    }
}
