//! The changes of a table in order: per item exactly the order in which they happened.
//!
//! ```text
//! shards     ┌── a ──┐┌── b ──────►      a feed reads `a` to its end before it begins `b` and `c`,
//!            │       │└── c ──────►      so that no item's changes change places
//!            └───────┘
//! position   {b: after 17, c: from its beginning}
//! ```
//!
//! 1. [`Feed::open`] finds the table's stream and where to begin ([`From`]); `lineage` knows which shard follows which.
//! 2. [`Feed::read`] asks each shard once (`cursor`), and gives the changes with the [`Position`] behind them.
//! 3. [`Feed::wait`] waits for more: until the store wakes it, or for a while.
//!
//! Data that is gone ([`FeedError::TooOld`]) is said, never skipped.

pub(crate) mod cursor;
mod error;
mod follow;
mod lineage;
mod position;

use keyform_core::operation::ChangeRecord;
use std::sync::Arc;

pub use error::FeedError;
pub use follow::{Feed, From, stream_of};
pub use lineage::Lineage;
pub use position::{Place, Position};

pub(crate) use follow::{POLL, describe};
pub(crate) use position::hash;

/// A change, and the shard that has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The shard.
    pub shard: Arc<str>,
    /// The change.
    pub record: ChangeRecord,
}

/// What one round of reading gave.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The changes, in order per item.
    pub changes: Vec<Change>,
    /// Where the feed is after them.
    pub position: Arc<Position>,
    /// Whether everything that there was when the round began has been read.
    pub caught_up: bool,
}
