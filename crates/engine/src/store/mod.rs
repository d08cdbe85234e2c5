//! The ordered key-value store under the engine: encrypted files, group commit, snapshots.
//!
//! It knows bytes and their order; it does not know tables, items or indexes.
//!
//! The life of a write:
//! 1. [`Store::commit`] numbers the [`Batch`], puts it into the memtable and into the frame for the journal (`pipeline`).
//! 2. Somebody who waits, or the journal thread (`group`), seals the frame, writes and syncs it (`journal`), and the
//!    [`Commit`]s in it resolve.
//! 3. A memtable that is full, or whose journal is long (`cut`), becomes a table file (`flush`), and tables are merged
//!    level by level (`compact`).
//!
//! The life of a read:
//! 1. [`Store::snapshot`] pins what is durable at this moment: a read never shows what a power cut could take back.
//! 2. [`Snapshot::get`] asks the memtables and then the tables, newest first; filters spare most of them.
//! 3. [`Snapshot::range`] merges all of them in order (`merge`).
//!
//! The format of the files is described in `docs/format.md`.

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
mod retry;
mod seal;
mod shared;
mod snapshot;
mod table;
mod tail;
mod weight;

pub use batch::{Batch, SeqNo};
pub use commit::Commit;
pub use disk::{Disk, DiskFile, DiskLock, Holder, PowerCut, RealDisk, Scarce, SimDisk};
pub use error::StoreError;
pub use kv::Store;
pub use options::{Durability, StoreOptions, StoreStats};
pub use pulse::Changed;
pub use seal::DataKeys;
pub use snapshot::{Range, Snapshot};

use shared::{Counters, Files, Shared};
