//! Requests about many items that succeed or fail as one.

use std::collections::BTreeMap;

use super::{ItemCollectionMetrics, ReturnItemCollectionMetrics};
use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::expression::{Condition, Projection, Update};
use crate::value::{Attributes, Item};

/// Reads up to a hundred items as they were at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactGetItems {
    /// What to read.
    pub gets: Vec<TransactGet>,
    /// How much of the consumption is wanted.
    pub return_capacity: ReturnConsumedCapacity,
}

/// One read of a transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactGet {
    /// From which table.
    pub table: String,
    /// The item's key.
    pub key: Attributes,
    /// Which attributes are wanted.
    pub projection: Option<Projection>,
}

/// The answer of TransactGetItems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactGetItemsOutput {
    /// One answer for each read, in order.
    pub responses: Vec<Option<Item>>,
    /// What each table consumed.
    pub capacity: Vec<ConsumedCapacity>,
}

/// Writes up to a hundred items, all or none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactWriteItems {
    /// What to do.
    pub actions: Vec<TransactAction>,
    /// The idempotency token.
    pub token: Option<String>,
    /// How much of the consumption is wanted.
    pub return_capacity: ReturnConsumedCapacity,
    /// Whether the sizes of item collections are wanted.
    pub return_metrics: ReturnItemCollectionMetrics,
}

/// One action of a transaction.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of PutItem, UpdateItem and DeleteItem")]
pub enum TransactAction {
    /// Writes an item.
    Put { table: String, item: Attributes, condition: Option<Condition>, return_item_on_failure: bool },
    /// Changes an item.
    Update {
        table: String,
        key: Attributes,
        update: Update,
        condition: Option<Condition>,
        return_item_on_failure: bool,
    },
    /// Removes an item.
    Delete { table: String, key: Attributes, condition: Option<Condition>, return_item_on_failure: bool },
    /// Changes nothing, but the condition must hold.
    Check { table: String, key: Attributes, condition: Condition, return_item_on_failure: bool },
}

/// The answer of TransactWriteItems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransactWriteItemsOutput {
    /// What each table consumed.
    pub capacity: Vec<ConsumedCapacity>,
    /// The sizes of item collections by table.
    pub metrics: BTreeMap<String, Vec<ItemCollectionMetrics>>,
}

impl TransactAction {
    /// The table it is about.
    pub fn table(&self) -> &str {
        match self {
            Self::Put { table, .. }
            | Self::Update { table, .. }
            | Self::Delete { table, .. }
            | Self::Check { table, .. } => table,
        }
    }
}
