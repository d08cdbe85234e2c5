//! Ordered key-value store: encrypted files, group commit, snapshots.
//!
//! The store handles byte strings and their order. Tables, items and indexes are concepts of the engine above it.
//!
//! How a write runs:
//! 1. [`Store::commit`] numbers the [`Batch`] and adds it to the memtable and to the next journal frame (`pipeline`).
//! 2. A waiting caller or the journal thread (`group`) seals, writes and syncs the frame (`journal`). Then the
//!    [`Commit`]s in it resolve.
//! 3. When a memtable or its part of the journal is full (`cut`), the memtable becomes a table file (`flush`). Tables
//!    are merged level by level (`compact`).
//!
//! How a read runs:
//! 1. [`Store::snapshot`] pins the durable state: a read never shows data that a power cut could revert (ADR 0003).
//! 2. [`Snapshot::get`] searches the memtables and then the tables, newest first; filters skip most tables.
//! 3. [`Snapshot::range`] merges all of them in key order (`merge`).
//!
//! `docs/format.md` describes the file format. ADR 0001 explains why the store is our own.

mod absorb;
mod background;
mod batch;
mod codec;
mod commit;
mod compact;
mod cut;
pub mod decode;
mod disk;
mod error;
mod flush;
mod group;
mod header;
mod horizon;
mod journal;
mod kv;
mod levels;
mod manifest;
mod memory;
mod memtable;
mod merge;
mod obstacle;
mod open;
mod options;
mod pipeline;
mod pulse;
mod replay;
mod retry;
mod seal;
mod shared;
mod snapshot;
mod sorted_table;
mod tail;
mod weight;

pub use batch::{Batch, SeqNo};
pub use commit::Commit;
pub use disk::{Disk, DiskFile, DiskLock, Holder, RealDisk};
#[cfg(any(test, feature = "testing"))]
pub use disk::{PowerCut, Scarce, SimDisk};
pub use error::StoreError;
pub use kv::Store;
pub use options::{Durability, StoreOptions, StoreStats};
pub use pulse::Changed;
pub use seal::DataKeys;
pub use snapshot::{Range, Snapshot};

use shared::{Counters, Files, Shared};
