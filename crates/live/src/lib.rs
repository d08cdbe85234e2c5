//! What follows the changes of a store, wherever it is: feeds, live reads and handlers. It knows models and operations; it does not know how
//! a store keeps its data, nor HTTP.
//!
//! The life of a change through this crate:
//! 1. A store writes the change into the stream of its table: the embedded engine, or DynamoDB Streams through the AWS SDK.
//! 2. A [`feed::Feed`] reads it: shard by shard, children after parents, woken by a store that can wake and else by asking again. Each
//!    batch has a [`feed::Position`] from which anyone can read on, after a restart too.
//! 3. [`read::Live`] has one feed for each table that somebody follows, and tells subscribers of a read what the change is to its answer.
//! 4. [`handle::Handlers`] runs code on changes.
//! 5. [`message`] is what clients elsewhere send and are sent.

pub mod feed;
pub mod handle;
pub mod message;
pub mod read;
