//! Embedded DynamoDB-compatible database with durable, encrypted, ordered storage.
//!
//! How an operation runs:
//! 1. [`Database::execute`] receives an operation; `engine` dispatches it.
//! 2. The `catalog` looks up the table, and `item_key` encodes the item's store key as `key_space` defines.
//! 3. A read iterates over a snapshot (`read`). A write (`write`) locks its keys (`lock`), evaluates its condition,
//!    and stages a `change` that also updates indexes, `expiry` and `stream` records.
//! 4. The [`store`] orders the batch and makes it durable; then the caller gets its response.
//!
//! [`Options::world`] provides time and randomness, [`encryption_keys`] the master and data keys. [`owner_only`] creates files and
//! directories that other accounts cannot read. The feature `testing` adds a simulated disk.

mod background;
mod calendar;
mod catalog;
mod change;
mod database;
pub mod encryption_keys;
mod engine;
mod expiry;
mod item_key;
mod key_space;
mod lock;
pub mod owner_only;
mod read;
mod statement;
pub mod store;
mod stream;
mod table_operations;
mod write;

pub use database::{Database, Encryption, OpenError, Options};
pub use engine::EngineSettings;
#[cfg(feature = "testing")]
pub use key_space::system_key;
pub use stream::ShardLimits;
