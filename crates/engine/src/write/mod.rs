//! Writes. Each follows the same steps:
//!
//! 1. the request's table and key ([`crate::item_key`]) give an [`action::Action`];
//! 2. the key is locked, the old item read, the condition evaluated, the new item computed;
//! 3. the [`crate::change::Change`] is staged with its effects on indexes, expiry and the stream;
//! 4. the batch is committed, and the response waits until it is durable.

mod action;
mod batch;
mod item;
pub(crate) mod token;
mod transaction;
