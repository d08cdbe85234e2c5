//! Adds the guards that a write holds to its request.
//!
//! If the request already has an action on the guard's item, that action carries the condition. Otherwise the request
//! becomes a transaction with a ConditionCheck, which comes first, so that a caller who is no longer permitted learns
//! nothing about the other conditions.

use keyform_core::Attributes;
use keyform_core::expression::Condition;
use keyform_core::operation::{DeleteItem, PutItem, TransactAction, TransactWriteItems, UpdateItem};

use super::WriteOperation;

/// Action that carries the condition of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The action with this number, which is on the guard's item.
    Action(usize),
    /// A ConditionCheck before all others.
    Check,
}

impl WriteOperation {
    /// Adds the condition of a guard on an item. Returns the action that carries it; `None` if that needs a transaction
    /// and the store has none.
    pub fn hold(
        &mut self,
        (table, key): (&str, &Attributes),
        condition: &Condition,
        has_transactions: bool,
    ) -> Option<Holder> {
        if let Some(number) = merge(self, table, key, condition) {
            return Some(Holder::Action(number));
        }
        if !has_transactions {
            return None;
        }
        self.make_transaction();
        let Self::Transact(TransactWriteItems { actions, .. }) = self else { return None };
        let (table, key, condition) = (table.to_owned(), key.clone(), condition.clone());
        actions.insert(0, TransactAction::Check { table, key, condition, return_item_on_failure: true });
        Some(Holder::Check)
    }

    /// Turns a request for one item into a transaction. A batch stays what it is.
    pub fn make_transaction(&mut self) {
        let action = match self {
            WriteOperation::Transact(_) => return,
            WriteOperation::Put(put) => {
                let PutItem { table, item, options } = std::mem::take(put);
                TransactAction::Put { table, item, condition: options.condition, return_item_on_failure: true }
            }
            WriteOperation::Update(update) => {
                let UpdateItem { table, key, update, options } = std::mem::take(update);
                let update = update.unwrap_or_default();
                TransactAction::Update {
                    table,
                    key,
                    update,
                    condition: options.condition,
                    return_item_on_failure: true,
                }
            }
            WriteOperation::Delete(delete) => {
                let DeleteItem { table, key, options } = std::mem::take(delete);
                TransactAction::Delete { table, key, condition: options.condition, return_item_on_failure: true }
            }
            WriteOperation::Batch(_) => return,
        };
        let transaction = TransactWriteItems { actions: vec![action], ..TransactWriteItems::default() };
        *self = WriteOperation::Transact(transaction);
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
