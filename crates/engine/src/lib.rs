//! Embedded DynamoDB-compatible database with durable, encrypted, ordered storage.
//!
//! How an operation runs:
//! 1. [`Database::execute`] receives an operation; [`engine`] dispatches it.
//! 2. The [`catalog`] looks up the table, and [`key`] encodes the item's store key as [`layout`] defines.
//! 3. A read iterates over a snapshot (`read`). A write (`write`) locks its keys ([`lock`]), evaluates its condition,
//!    and stages a [`change`] that also updates indexes, [`expiry`] and [`stream`] records.
//! 4. The [`store`] orders the batch and makes it durable; then the caller gets its response.
//!
//! [`Options::world`] provides time and randomness, [`keys`] the master and data keys. [`owner_only`] creates files and
//! directories that other accounts cannot read.

mod background;
mod calendar;
pub mod catalog;
pub mod change;
pub mod database;
pub mod engine;
pub mod expiry;
pub mod key;
pub mod keys;
pub mod layout;
pub mod lock;
pub mod owner_only;
mod read;
pub mod statement;
pub mod store;
pub mod stream;
mod table;
mod write;

pub use database::{Database, Encryption, OpenError, Options};
