//! Requests about many items that may succeed in part.

use std::collections::BTreeMap;

use super::{ItemCollectionMetrics, ReturnItemCollectionMetrics};
use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::expression::Projection;
use crate::value::{Attributes, Item};

/// Reads up to a hundred items of several tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchGetItem {
    /// What to read of each table, in the order of the request.
    pub tables: Vec<(String, BatchGetRequest)>,
    /// How much of the consumption is wanted.
    pub return_capacity: ReturnConsumedCapacity,
}

/// The keys to read of one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchGetRequest {
    /// The keys.
    pub keys: Vec<Attributes>,
    /// Which attributes are wanted.
    pub projection: Option<Projection>,
    /// Whether the newest state is wanted.
    pub consistent: bool,
}

/// The answer of BatchGetItem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchGetItemOutput {
    /// The items found, by table as it was addressed.
    pub responses: BTreeMap<String, Vec<Item>>,
    /// For each table, the places in [`BatchGetRequest::keys`] that were not read because the answer was full.
    pub unprocessed: BTreeMap<String, Vec<usize>>,
    /// What each table consumed.
    pub capacity: Vec<ConsumedCapacity>,
}

/// Puts and deletes up to 25 items in several tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchWriteItem {
    /// What to do in each table, in the order of the request.
    pub tables: Vec<(String, Vec<WriteRequest>)>,
    /// How much of the consumption is wanted.
    pub return_capacity: ReturnConsumedCapacity,
    /// Whether the sizes of item collections are wanted.
    pub return_metrics: ReturnItemCollectionMetrics,
}

/// One write of a batch.
#[derive(Clone, Debug, PartialEq)]
pub enum WriteRequest {
    /// Writes the item.
    Put(Attributes),
    /// Removes the item with the key.
    Delete(Attributes),
}

/// The answer of BatchWriteItem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchWriteItemOutput {
    /// What was not done and should be tried again.
    pub unprocessed: BTreeMap<String, Vec<WriteRequest>>,
    /// What each table consumed.
    pub capacity: Vec<ConsumedCapacity>,
    /// The sizes of item collections by table.
    pub metrics: BTreeMap<String, Vec<ItemCollectionMetrics>>,
}
