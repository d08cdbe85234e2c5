//! Transactions: requests whose items succeed or fail together.

use std::collections::BTreeMap;

use super::{ItemCollectionMetrics, ReturnItemCollectionMetrics};
use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::expression::{Condition, Projection, Update};
use crate::value::{Attributes, Item};

/// Reads up to 100 items from one consistent snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactGetItems {
    /// Reads, in response order.
    pub gets: Vec<TransactGet>,
    /// Level of detail of the reported capacity.
    pub return_capacity: ReturnConsumedCapacity,
}

/// One read of a transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactGet {
    /// Table name or ARN.
    pub table: String,
    /// Primary key of the item.
    pub key: Attributes,
    /// Attributes to return; all without a projection.
    pub projection: Option<Projection>,
}

/// Response of TransactGetItems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactGetItemsOutput {
    /// One item per read, in request order; `None` if no item has the key.
    pub responses: Vec<Option<Item>>,
    /// Consumed capacity of each table.
    pub capacity: Vec<ConsumedCapacity>,
}

/// Writes up to 100 items atomically.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactWriteItems {
    /// Actions; no two may address the same item.
    pub actions: Vec<TransactAction>,
    /// Idempotency token: a repeated request with the same token has no further effect.
    pub token: Option<String>,
    /// Level of detail of the reported capacity.
    pub return_capacity: ReturnConsumedCapacity,
    /// Selects whether to report item collection sizes.
    pub return_metrics: ReturnItemCollectionMetrics,
}

/// One action of a TransactWriteItems.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of PutItem, UpdateItem and DeleteItem")]
pub enum TransactAction {
    /// Writes an item, replacing any item with the same key.
    Put { table: String, item: Attributes, condition: Option<Condition>, return_item_on_failure: bool },
    /// Updates an item, or creates it.
    Update {
        table: String,
        key: Attributes,
        update: Update,
        condition: Option<Condition>,
        return_item_on_failure: bool,
    },
    /// Deletes an item.
    Delete { table: String, key: Attributes, condition: Option<Condition>, return_item_on_failure: bool },
    /// Changes nothing; the transaction fails unless the condition holds.
    Check { table: String, key: Attributes, condition: Condition, return_item_on_failure: bool },
}

/// Response of TransactWriteItems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactWriteItemsOutput {
    /// Consumed capacity of each table.
    pub capacity: Vec<ConsumedCapacity>,
    /// Item collection sizes, by table.
    pub metrics: BTreeMap<String, Vec<ItemCollectionMetrics>>,
}

impl TransactAction {
    /// Returns the table that the action addresses.
    pub fn table(&self) -> &str {
        match self {
            Self::Put { table, .. }
            | Self::Update { table, .. }
            | Self::Delete { table, .. }
            | Self::Check { table, .. } => table,
        }
    }

    pub(super) fn table_mut(&mut self) -> &mut String {
        match self {
            Self::Put { table, .. }
            | Self::Update { table, .. }
            | Self::Delete { table, .. }
            | Self::Check { table, .. } => table,
        }
    }
}
