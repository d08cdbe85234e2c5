//! Requests that address one item by its key.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::expression::{Condition, Projection, Update};
use crate::value::{Attributes, Item};

/// Item image that a write returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnValues {
    /// No attributes.
    #[default]
    None,
    /// The whole item before the write.
    AllOld,
    /// The attributes that the update changed, before the update.
    UpdatedOld,
    /// The whole item after the update.
    AllNew,
    /// The attributes that the update changed, after the update.
    UpdatedNew,
}

/// Selects whether a write reports the size of the item collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnItemCollectionMetrics {
    /// No size.
    #[default]
    None,
    /// The size, for tables with local secondary indexes.
    Size,
}

/// Condition of a PutItem, UpdateItem or DeleteItem, and the parts of the response that it asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteOptions {
    /// Condition that the existing item must meet.
    pub condition: Option<Condition>,
    /// Item image to return; PutItem and DeleteItem accept only `None` and `AllOld`.
    pub return_values: ReturnValues,
    /// Returns the existing item if the condition fails.
    pub return_item_on_failure: bool,
    /// Level of detail of the reported capacity.
    pub return_capacity: ReturnConsumedCapacity,
    /// Selects whether to report the item collection size.
    pub return_metrics: ReturnItemCollectionMetrics,
}

impl From<Option<Condition>> for WriteOptions {
    /// Returns options with this condition that ask for nothing.
    fn from(condition: Option<Condition>) -> Self {
        Self { condition, ..Self::default() }
    }
}

impl From<Condition> for WriteOptions {
    /// Returns options with this condition that ask for nothing.
    fn from(condition: Condition) -> Self {
        Some(condition).into()
    }
}

/// Writes an item, replacing any item with the same key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PutItem {
    /// Table name or ARN.
    pub table: String,
    /// Item to write, with its key.
    pub item: Attributes,
    /// Condition and requested parts of the response.
    pub options: WriteOptions,
}

/// Deletes an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteItem {
    /// Table name or ARN.
    pub table: String,
    /// Primary key of the item.
    pub key: Attributes,
    /// Condition and requested parts of the response.
    pub options: WriteOptions,
}

/// Updates an item, or creates it if it does not exist.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateItem {
    /// Table name or ARN.
    pub table: String,
    /// Primary key of the item.
    pub key: Attributes,
    /// Changes to apply; without them the request only ensures that the item exists.
    pub update: Option<Update>,
    /// Condition and requested parts of the response.
    pub options: WriteOptions,
}

/// Reads an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GetItem {
    /// Table name or ARN.
    pub table: String,
    /// Primary key of the item.
    pub key: Attributes,
    /// Attributes to return; all without a projection.
    pub projection: Option<Projection>,
    /// Strongly consistent read. The embedded engine always reads consistently (ADR 0003); there the flag only sets
    /// the price.
    pub consistent: bool,
    /// Level of detail of the reported capacity.
    pub return_capacity: ReturnConsumedCapacity,
}

/// Size of an item collection: all items of one partition key.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemCollectionMetrics {
    /// Partition key shared by the collection.
    pub key: Attributes,
    /// Lower and upper estimate in gigabytes.
    pub size_gigabytes: [f64; 2],
}

/// Response of PutItem, UpdateItem and DeleteItem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteItemOutput {
    /// Item image selected by [`ReturnValues`].
    pub attributes: Option<Item>,
    /// Consumed capacity, if the request asked for it.
    pub capacity: Option<ConsumedCapacity>,
    /// Item collection size, if the request asked for it.
    pub metrics: Option<ItemCollectionMetrics>,
}

/// Response of GetItem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GetItemOutput {
    /// The item, or `None` if no item has the key.
    pub item: Option<Item>,
    /// Consumed capacity, if the request asked for it.
    pub capacity: Option<ConsumedCapacity>,
}
