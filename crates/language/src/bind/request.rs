//! Assembles the actions of a write into one request.

use keyform_core::Operation;
use keyform_core::expression::Update;
use keyform_core::operation::{
    BatchWriteItem, DeleteItem, PutItem, ReturnValues, TransactAction, TransactWriteItems, UpdateItem, WriteOptions,
    WriteRequest,
};

use crate::plan::{WriteKind, WritePlan};
use crate::schema::Write;

use super::BindError;

/// Request of a write.
#[derive(Clone, Debug, PartialEq)]
pub enum WriteOperation {
    /// Puts one item.
    Put(PutItem),
    /// Updates one item.
    Update(UpdateItem),
    /// Deletes one item.
    Delete(DeleteItem),
    /// Changes several items atomically.
    Transact(TransactWriteItems),
    /// Changes several items, each on its own.
    Batch(BatchWriteItem),
}

impl From<WriteOperation> for Operation {
    fn from(operation: WriteOperation) -> Self {
        match operation {
            WriteOperation::Put(put) => put.into(),
            WriteOperation::Update(update) => update.into(),
            WriteOperation::Delete(delete) => delete.into(),
            WriteOperation::Transact(transaction) => transaction.into(),
            WriteOperation::Batch(batch) => batch.into(),
        }
    }
}

/// Assembles the actions into one request; `None` without actions.
///
/// # Errors
///
/// Returns an error for a batch with an action that BatchWriteItem cannot express.
pub(super) fn of(
    write: &Write,
    plan: &WritePlan,
    token: Option<&String>,
    mut actions: Vec<TransactAction>,
) -> Result<Option<WriteOperation>, BindError> {
    Ok(match (plan.request, actions.len()) {
        (_, 0) => None,
        (WriteKind::Batch, _) => Some(batch(actions)?),
        (WriteKind::Put | WriteKind::Update | WriteKind::Delete, 1) => actions.pop().map(|one| single(write, one)),
        (WriteKind::Put | WriteKind::Update | WriteKind::Delete | WriteKind::Transaction, _) => {
            Some(WriteOperation::Transact(TransactWriteItems {
                actions,
                token: write.idempotent.and(token.cloned()),
                ..TransactWriteItems::default()
            }))
        }
    })
}

/// Turns one action into a single-item request.
pub fn single(write: &Write, action: TransactAction) -> WriteOperation {
    let returns_item = write.result.is_some();
    match action {
        TransactAction::Put { table, item, condition, return_item_on_failure } => {
            let options = WriteOptions { return_item_on_failure, ..condition.into() };
            WriteOperation::Put(PutItem { table, item, options })
        }
        TransactAction::Update { table, key, update, condition, return_item_on_failure } => {
            let return_values = if returns_item { ReturnValues::AllNew } else { ReturnValues::None };
            let options = WriteOptions { return_values, return_item_on_failure, ..condition.into() };
            let update = (update != Update::default()).then_some(update);
            WriteOperation::Update(UpdateItem { table, key, update, options })
        }
        TransactAction::Delete { table, key, condition, return_item_on_failure } => {
            let return_values = if returns_item { ReturnValues::AllOld } else { ReturnValues::None };
            let options = WriteOptions { return_values, return_item_on_failure, ..condition.into() };
            WriteOperation::Delete(DeleteItem { table, key, options })
        }
        check @ TransactAction::Check { .. } => {
            WriteOperation::Transact(TransactWriteItems { actions: vec![check], ..TransactWriteItems::default() })
        }
    }
}

/// Rule W20 reports before a model runs what is refused here. It is refused again because sending the action without
/// its condition would overwrite or delete items that the model protects.
fn batch(actions: Vec<TransactAction>) -> Result<WriteOperation, BindError> {
    let mut tables: Vec<(String, Vec<WriteRequest>)> = Vec::new();
    for action in actions {
        let (table, request) = match action {
            TransactAction::Put { table, item, condition: None, .. } => (table, WriteRequest::Put(item)),
            TransactAction::Delete { table, key, condition: None, .. } => (table, WriteRequest::Delete(key)),
            TransactAction::Put { .. } | TransactAction::Delete { .. } => {
                return Err(BindError::Inexpressible("a condition in a `batch`".to_owned()));
            }
            TransactAction::Update { .. } | TransactAction::Check { .. } => {
                return Err(BindError::Inexpressible("an `update` or `check` in a `batch`".to_owned()));
            }
        };
        match tables.iter_mut().find(|(name, _)| *name == table) {
            Some((_, requests)) => requests.push(request),
            None => tables.push((table, vec![request])),
        }
    }
    Ok(WriteOperation::Batch(BatchWriteItem { tables, ..BatchWriteItem::default() }))
}
