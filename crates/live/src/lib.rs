//! Follows the changes of any store: feeds, live reads and handlers. Depends on models and operations; knows neither
//! how a store keeps its data nor HTTP.
//!
//! Path of a change through this crate:
//! 1. A store writes the change to the stream of its table: the embedded engine, or DynamoDB Streams through the AWS
//!    SDK.
//! 2. A [`feed::Feed`] reads it: shard by shard, children after parents, woken by stores that support it and by
//!    polling otherwise. Each batch has a [`feed::Position`] from which any reader can resume, also after a restart.
//! 3. [`read::Live`] has one feed per followed table, and sends the subscribers of a read the effect of the change on
//!    its result.
//! 4. [`handle::Handlers`] calls application code on changes.
//! 5. [`message`] defines the JSON messages exchanged with remote clients.

#![warn(unreachable_pub)]

pub mod feed;
pub mod handle;
pub mod message;
pub mod read;
