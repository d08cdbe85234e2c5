//! Requests about one item.

use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::expression::{Condition, Projection, Update};
use crate::value::{Attributes, Item};

/// What a write answers of the item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnValues {
    /// Nothing.
    #[default]
    None,
    /// The whole item before the write.
    AllOld,
    /// What an update touched, before it.
    UpdatedOld,
    /// The whole item after an update.
    AllNew,
    /// What an update touched, after it.
    UpdatedNew,
}

/// Whether the size of the item collection is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnItemCollectionMetrics {
    /// No.
    #[default]
    None,
    /// Yes, for tables with local secondary indexes.
    Size,
}

/// Writes an item, replacing the one with its key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PutItem {
    /// Into which table, by name or ARN.
    pub table: String,
    /// The item.
    pub item: Attributes,
    /// Only if this holds for the item that is there.
    pub condition: Option<Condition>,
    /// `None` or `AllOld`.
    pub return_values: ReturnValues,
    /// Whether a failed condition carries the item that is there.
    pub return_item_on_failure: bool,
    /// How much of the consumption is wanted.
    pub return_capacity: ReturnConsumedCapacity,
    /// Whether the collection's size is wanted.
    pub return_metrics: ReturnItemCollectionMetrics,
}

/// Removes an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeleteItem {
    /// From which table, by name or ARN.
    pub table: String,
    /// The item's key.
    pub key: Attributes,
    /// Only if this holds for the item that is there.
    pub condition: Option<Condition>,
    /// `None` or `AllOld`.
    pub return_values: ReturnValues,
    /// Whether a failed condition carries the item that is there.
    pub return_item_on_failure: bool,
    /// How much of the consumption is wanted.
    pub return_capacity: ReturnConsumedCapacity,
    /// Whether the collection's size is wanted.
    pub return_metrics: ReturnItemCollectionMetrics,
}

/// Changes an item, or makes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateItem {
    /// In which table, by name or ARN.
    pub table: String,
    /// The item's key.
    pub key: Attributes,
    /// What to change; without it only the key is made sure to exist.
    pub update: Option<Update>,
    /// Only if this holds for the item that is there.
    pub condition: Option<Condition>,
    /// What to answer.
    pub return_values: ReturnValues,
    /// Whether a failed condition carries the item that is there.
    pub return_item_on_failure: bool,
    /// How much of the consumption is wanted.
    pub return_capacity: ReturnConsumedCapacity,
    /// Whether the collection's size is wanted.
    pub return_metrics: ReturnItemCollectionMetrics,
}

/// Reads an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GetItem {
    /// From which table, by name or ARN.
    pub table: String,
    /// The item's key.
    pub key: Attributes,
    /// Which attributes are wanted; all without it.
    pub projection: Option<Projection>,
    /// Whether the newest state is wanted. Reads are always consistent here; it decides the price.
    pub consistent: bool,
    /// How much of the consumption is wanted.
    pub return_capacity: ReturnConsumedCapacity,
}

/// The size of an item collection.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemCollectionMetrics {
    /// The partition key that all items of the collection have.
    pub key: Attributes,
    /// A range in gigabytes.
    pub size_gigabytes: [f64; 2],
}

/// The answer of PutItem, UpdateItem and DeleteItem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteItemOutput {
    /// What the request wanted of the item.
    pub attributes: Option<Item>,
    /// What it consumed.
    pub capacity: Option<ConsumedCapacity>,
    /// The size of the item collection.
    pub metrics: Option<ItemCollectionMetrics>,
}

/// The answer of GetItem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GetItemOutput {
    /// The item, if there is one.
    pub item: Option<Item>,
    /// What it consumed.
    pub capacity: Option<ConsumedCapacity>,
}
