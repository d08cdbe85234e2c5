//! Holds guards in the request: a permission that ends after its guard was read makes the request fail with 403.
//!
//! The plan names the guards. If the request already has an action on the guard's item, that action carries the
//! condition. Otherwise the request becomes a transaction with a ConditionCheck, which comes first, so that a caller who
//! is no longer permitted learns nothing about the other conditions.

use keyform_core::Attributes;
use keyform_core::expression::Condition;
use keyform_core::operation::{TransactAction, TransactWriteItems};
use keyform_language::bind::{BoundAction, Demand, Refusal, WriteOperation};

use super::idempotency::make_transaction;
use super::state::{Attempt, Bound};
use super::step::{Hook, Step};
use crate::run::RunError;
use crate::run::permit::Evidence;

#[derive(Debug)]
pub(super) struct Held;

impl Step for Held {
    fn before<'r>(&self, attempt: &'r mut Attempt<'_, Bound>) -> Hook<'r, Result<(), RunError>> {
        let has_transactions = !attempt.of.runner.settings.without_transactions;
        for evidence in std::mem::take(&mut attempt.guards) {
            hold(&mut attempt.state, &evidence, has_transactions);
        }
        Hook::pass()
    }
}

fn hold(state: &mut Bound, evidence: &Evidence, has_transactions: bool) {
    let (table, key) = (&evidence.bound.get.table, &evidence.bound.get.key);
    let condition = evidence.bound.condition(evidence.verdict);
    let refusal = Refusal { is_permission: true, ..Refusal::default() };
    let demand = Demand { condition: condition.clone(), refusal, is_equality: false, is_strict: false };
    if let Some(number) = merge(&mut state.operation, table, key, &condition) {
        if let Some(action) = state.actions.get_mut(number) {
            action.demands.insert(0, demand);
        }
        return;
    }
    if !has_transactions {
        return;
    }
    make_transaction(&mut state.operation);
    if let WriteOperation::Transact(TransactWriteItems { actions, .. }) = &mut state.operation {
        let (table, key) = (table.clone(), key.clone());
        actions.insert(0, TransactAction::Check { table, key, condition, return_item_on_failure: true });
        state.actions.insert(0, BoundAction { demands: vec![demand], ..BoundAction::default() });
    }
}

/// Adds a condition to the action on this item. Returns the number of the action; `None` without such an action.
fn merge(operation: &mut WriteOperation, table: &str, key: &Attributes, guard: &Condition) -> Option<usize> {
    let is_in = |item: &Attributes| key.iter().all(|(name, value)| item.get(name) == Some(value));
    match operation {
        WriteOperation::Put(put) if put.table == table && is_in(&put.item) => add(&mut put.options.condition, guard),
        WriteOperation::Update(update) if update.table == table && update.key == *key => {
            add(&mut update.options.condition, guard);
        }
        WriteOperation::Delete(delete) if delete.table == table && delete.key == *key => {
            add(&mut delete.options.condition, guard);
        }
        WriteOperation::Transact(transaction) => {
            return transaction.actions.iter_mut().position(|action| merge_action(action, table, key, guard));
        }
        WriteOperation::Put(_) | WriteOperation::Update(_) | WriteOperation::Delete(_) | WriteOperation::Batch(_) => {
            return None;
        }
    }
    Some(0)
}

/// Adds a condition to an action of a transaction, if the action is on this item.
fn merge_action(action: &mut TransactAction, table: &str, key: &Attributes, guard: &Condition) -> bool {
    let is_in = |item: &Attributes| key.iter().all(|(name, value)| item.get(name) == Some(value));
    match action {
        TransactAction::Put { table: of, item, condition, .. } if of == table && is_in(item) => add(condition, guard),
        TransactAction::Update { table: of, key: at, condition, .. }
        | TransactAction::Delete { table: of, key: at, condition, .. }
            if of == table && at == key =>
        {
            add(condition, guard);
        }
        TransactAction::Check { table: of, key: at, condition, .. } if of == table && at == key => {
            *condition = both(guard.clone(), condition.clone());
        }
        TransactAction::Put { .. }
        | TransactAction::Update { .. }
        | TransactAction::Delete { .. }
        | TransactAction::Check { .. } => return false,
    }
    true
}

fn add(own: &mut Option<Condition>, guard: &Condition) {
    *own = Some(match own.take() {
        Some(own) => both(guard.clone(), own),
        None => guard.clone(),
    });
}

fn both(guard: Condition, own: Condition) -> Condition {
    match own {
        Condition::And(tests) => Condition::And([vec![guard], tests].concat()),
        test => Condition::And(vec![guard, test]),
    }
}
