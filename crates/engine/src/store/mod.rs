//! The ordered key-value store under the engine: encrypted files, group commit, snapshots.
//!
//! It knows bytes and their order; it does not know tables, items or indexes.
//!
//! The life of a write:
//! 1. [`Store::commit`] numbers the [`Batch`], puts it into the memtable and into the frame for the journal (`pipeline`).
//! 2. The journal thread seals the frame, writes and syncs it (`journal`), and the [`Commit`] resolves.
//! 3. A full memtable becomes a table file (`flush`), and tables are merged level by level (`compact`).
//!
//! The life of a read:
//! 1. [`Store::snapshot`] pins what is durable at this moment: a read never shows what a power cut could take back.
//! 2. [`Snapshot::get`] asks the memtables and then the tables, newest first; filters spare most of them.
//! 3. [`Snapshot::range`] merges all of them in order (`merge`).
//!
//! The format of the files is described in `docs/format.md`.

mod batch;
mod codec;
mod commit;
mod disk;
mod error;
mod header;
mod horizon;
mod journal;
mod manifest;
mod memtable;
mod merge;
mod open;
mod options;
mod pipeline;
mod seal;
mod snapshot;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;

pub use batch::{Batch, SeqNo};
pub use commit::Commit;
pub use disk::{Disk, DiskFile, DiskLock, PowerCut, RealDisk, SimDisk};
pub use error::StoreError;
pub use options::{Durability, StoreOptions, StoreStats};
pub use seal::DataKeys;
pub use snapshot::{Range, Snapshot};

use commit::Gate;
use horizon::Readers;
use manifest::Manifest;
use memtable::Memtable;
use pipeline::Pipeline;
use seal::Vault;
use snapshot::View;

/// An ordered map from byte strings to byte strings, in memory or on disk.
///
/// ```
/// use keyform_engine::store::{Batch, Store};
///
/// let store = Store::in_memory();
/// let mut batch = Batch::new();
/// batch.put("key", "value");
/// store.commit(batch).wait()?;
/// assert_eq!(store.snapshot().get(b"key")?.as_deref(), Some(b"value".as_slice()));
/// # Ok::<(), keyform_engine::store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct Store {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What the store's threads share.
#[derive(Debug)]
struct Shared {
    readers: Arc<Readers<Arc<View>>>,
    pipeline: Pipeline,
    gate: Arc<Gate>,
    files: Option<Files>,
    counters: Counters,
}

/// What only a store on disk has.
#[derive(Debug)]
struct Files {
    disk: Arc<dyn Disk>,
    vault: Vault,
    #[expect(dead_code, reason = "used when memtables are written to tables")]
    options: StoreOptions,
    manifest: Mutex<Manifest>,
    lock: Mutex<Option<Box<dyn DiskLock>>>,
}

#[derive(Debug, Default)]
struct Counters {
    commits: AtomicU64,
    frames: AtomicU64,
    syncs: AtomicU64,
}

impl Store {
    /// A store that keeps everything in memory and nothing after it is dropped.
    pub fn in_memory() -> Store {
        let memtable = Arc::new(Memtable::default());
        let view = View { memtables: vec![memtable.clone()], retired: Vec::new() };
        let shared = Shared {
            readers: Arc::new(Readers::new(0, Arc::new(view))),
            pipeline: Pipeline::new(0, memtable, 0),
            gate: Arc::new(Gate::new(0)),
            files: None,
            counters: Counters::default(),
        };
        Store { shared: Arc::new(shared), threads: Mutex::default() }
    }

    /// Opens the store in a directory, or makes one in an empty directory. `keys` of `None` keeps files readable.
    ///
    /// # Errors
    /// When the directory is in use, foreign, newer, damaged, or sealed with other keys; see [`StoreError`].
    pub fn open(disk: Arc<dyn Disk>, keys: Option<DataKeys>, options: StoreOptions) -> Result<Store, StoreError> {
        open::open(disk, keys, options)
    }

    /// What is durable now. No power cut can take back what it shows.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::durable(&self.shared.readers)
    }

    /// Everything committed, durable or not. For writers that hold the locks of the keys they read.
    pub fn latest(&self) -> Snapshot {
        Snapshot::latest(&self.shared.readers)
    }

    /// Applies a batch: visible to [`Store::latest`] when this returns, and to [`Store::snapshot`] when the returned
    /// [`Commit`] resolves.
    pub fn commit(&self, batch: Batch) -> Commit {
        let shared = &self.shared;
        shared.counters.commits.fetch_add(1, Ordering::Relaxed);
        match &shared.files {
            None => shared.pipeline.commit_in_memory(batch, &shared.readers),
            Some(_) => shared.pipeline.commit(batch, &shared.readers, &shared.gate),
        }
    }

    /// Drops all keys that begin with `prefix`, for good: durable when this returns. The prefix must not be used again.
    ///
    /// # Errors
    /// When the manifest cannot be written; the store is poisoned then.
    pub fn retire_prefix(&self, prefix: &[u8]) -> Result<(), StoreError> {
        let state = self.shared.pipeline.lock();
        state.memtable.write().remove_prefix(prefix);
        drop(state);
        match &self.shared.files {
            None => Ok(()),
            Some(files) => self.shared.retire(files, prefix),
        }
    }

    /// The failure that made the store refuse writes, if there was one.
    pub fn health(&self) -> Result<(), StoreError> {
        self.shared.gate.failure().map_or(Ok(()), Err)
    }

    /// What the store has done and holds.
    pub fn stats(&self) -> StoreStats {
        let shared = &self.shared;
        let view = shared.readers.view();
        StoreStats {
            commits: shared.counters.commits.load(Ordering::Relaxed),
            frames: shared.counters.frames.load(Ordering::Relaxed),
            syncs: shared.counters.syncs.load(Ordering::Relaxed),
            latest_seqno: shared.pipeline.lock().seqno,
            durable_seqno: shared.gate.durable(),
            memtable_bytes: view.memtables.iter().map(|memtable| memtable.bytes() as u64).sum(),
            ..StoreStats::default()
        }
    }

    /// Makes everything committed durable, stops the threads and lets go of the directory. Dropping does the same.
    ///
    /// # Errors
    /// When an earlier write failed, or the last one does.
    pub fn close(&self) -> Result<(), StoreError> {
        self.shared.pipeline.close();
        for thread in self.threads.lock().drain(..) {
            if thread.join().is_err() {
                self.shared.poison(&StoreError::Closed);
            }
        }
        if let Some(files) = &self.shared.files {
            files.lock.lock().take();
        }
        self.health()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Whoever cares about the outcome calls `close`; here is nobody to tell.
        drop(self.close());
    }
}

impl Shared {
    /// Refuses all further commits because of `error`.
    fn poison(&self, error: &StoreError) {
        let cause = match error {
            StoreError::Poisoned { cause } => cause.clone(),
            other => Arc::from(other.to_string()),
        };
        self.gate.fail(StoreError::Poisoned { cause });
    }

    fn retire(&self, files: &Files, prefix: &[u8]) -> Result<(), StoreError> {
        self.gate.failure().map_or(Ok(()), Err)?;
        let mut manifest = files.manifest.lock();
        manifest.retired.push(bytes::Bytes::copy_from_slice(prefix));
        if let Err(error) = manifest.save(files.disk.as_ref(), &files.vault) {
            self.poison(&error);
            return Err(error);
        }
        let old = self.readers.view();
        let view = View { memtables: old.memtables.clone(), retired: manifest.retired.clone() };
        self.readers.set_view(Arc::new(view));
        Ok(())
    }
}
