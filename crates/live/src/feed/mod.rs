//! Feeds: the changes of a table, for each item in the exact order in which they happened.
//!
//! ```text
//! shards     ┌── a ──┐┌── b ──────►      a feed reads `a` to its end before it begins `b` and `c`,
//!            │       │└── c ──────►      so that the changes of an item stay in order
//!            └───────┘
//! position   {b: after 17, c: from its beginning}
//! ```
//!
//! 1. [`Feed::open`] finds the table's stream and the start position ([`From`]); `lineage` holds the order of shards.
//! 2. [`Feed::read`] reads each shard once (`cursor`), and returns the changes with the [`Position`] after them.
//! 3. [`Feed::wait`] waits for more: until the store wakes it, or for the polling interval.
//!
//! A trimmed position is an error ([`FeedError::TooOld`]), never a silent gap.

pub(crate) mod cursor;
mod error;
mod follow;
mod lineage;
mod position;

use keyform_core::operation::ChangeRecord;
use std::sync::Arc;

pub use error::FeedError;
pub use follow::{Feed, From};
pub use position::{Position, ShardOffset};

pub(crate) use follow::{POLL, describe, stream_of};
pub(crate) use lineage::Lineage;
pub(crate) use position::hash;

/// Change, with the shard that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Id of the shard.
    pub shard: Arc<str>,
    /// Record of the change.
    pub record: ChangeRecord,
}

/// Result of one round of reading.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Changes, in order per item.
    pub changes: Vec<Change>,
    /// Position after all changes of the batch.
    pub position: Arc<Position>,
    /// Set if everything that existed when the round began has been read.
    pub caught_up: bool,
}
