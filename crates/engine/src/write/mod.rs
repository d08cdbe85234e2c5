//! Writes. Each goes the same way:
//!
//! 1. the request names a table and a key ([`crate::key`]), which makes an [`action::Action`];
//! 2. the key is locked, the old item read, the condition evaluated, the new item made;
//! 3. the [`crate::change::Change`] is staged with all that follows from it;
//! 4. the batch is committed, and the answer waits until it is durable.

mod action;
mod batch;
mod item;
pub(crate) mod token;
mod transaction;
