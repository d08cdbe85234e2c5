//! Batch requests. Each item succeeds or fails on its own.

use std::collections::BTreeMap;

use super::{ItemCollectionMetrics, ReturnItemCollectionMetrics};
use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::expression::Projection;
use crate::value::{Attributes, Item};

/// Reads up to 100 items from one or more tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchGetItem {
    /// Reads per table, in request order.
    pub tables: Vec<(String, BatchGetRequest)>,
    /// Level of detail of the reported capacity.
    pub return_capacity: ReturnConsumedCapacity,
}

/// Keys to read from one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchGetRequest {
    /// Primary keys of the items.
    pub keys: Vec<Attributes>,
    /// Attributes to return; all without a projection.
    pub projection: Option<Projection>,
    /// Strongly consistent read.
    pub consistent: bool,
}

/// Response of BatchGetItem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchGetItemOutput {
    /// Items found, by table name or ARN as in the request.
    pub responses: BTreeMap<String, Vec<Item>>,
    /// Indexes into [`BatchGetRequest::keys`] of the keys not read because the response was full, by table.
    pub unprocessed: BTreeMap<String, Vec<usize>>,
    /// Consumed capacity of each table.
    pub capacity: Vec<ConsumedCapacity>,
}

/// Puts and deletes up to 25 items in one or more tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchWriteItem {
    /// Writes per table, in request order.
    pub tables: Vec<(String, Vec<WriteRequest>)>,
    /// Level of detail of the reported capacity.
    pub return_capacity: ReturnConsumedCapacity,
    /// Selects whether to report item collection sizes.
    pub return_metrics: ReturnItemCollectionMetrics,
}

/// One write of a BatchWriteItem.
#[derive(Clone, Debug, PartialEq)]
pub enum WriteRequest {
    /// Writes the item, replacing any item with the same key.
    Put(Attributes),
    /// Deletes the item with this key.
    Delete(Attributes),
}

/// Response of BatchWriteItem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchWriteItemOutput {
    /// Writes that were not executed and should be retried, by table.
    pub unprocessed: BTreeMap<String, Vec<WriteRequest>>,
    /// Consumed capacity of each table.
    pub capacity: Vec<ConsumedCapacity>,
    /// Item collection sizes, by table.
    pub metrics: BTreeMap<String, Vec<ItemCollectionMetrics>>,
}
