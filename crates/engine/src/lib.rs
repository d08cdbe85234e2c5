//! The embedded database: durable, encrypted, ordered.
//!
//! The life of an operation:
//! 1. [`Database::execute`] takes an operation; [`engine`] decides which way it goes.
//! 2. The [`catalog`] knows the table, [`key`] makes the item's place of its attributes, [`layout`] says where that is.
//! 3. A read walks a snapshot (`read`); a write (`write`) locks its keys ([`lock`]), decides, and stages a [`change`] with all
//!    that follows from it: indexes, [`expiry`], [`stream`].
//! 4. The [`store`] puts the batch in order, makes it durable, and the answer is given.
//!
//! Time and chance come from [`env`](mod@env); master and data keys from [`keys`]. Files are [`owner_only`].

mod background;
mod calendar;
pub mod catalog;
pub mod change;
pub mod database;
pub mod engine;
pub mod env;
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
