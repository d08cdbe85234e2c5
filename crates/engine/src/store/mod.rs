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

mod background;
mod batch;
mod codec;
mod commit;
mod compact;
pub mod decode;
mod disk;
mod error;
mod flush;
mod header;
mod horizon;
mod journal;
mod levels;
mod manifest;
mod memtable;
mod merge;
mod open;
mod options;
mod pipeline;
mod seal;
mod snapshot;
mod table;

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

use background::{Background, Work};
use commit::Gate;
use horizon::Readers;
use levels::Levels;
use manifest::{Manifest, Retired};
use memtable::Memtable;
use pipeline::{Pipeline, PipelineState};
use snapshot::View;
use table::{TableFiles, TableStyle};

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
    options: StoreOptions,
    tables: Arc<TableFiles>,
    /// Held while the manifest and the levels are changed.
    manifest: Mutex<Manifest>,
    next_number: AtomicU64,
    background: Background,
    lock: Mutex<Option<Box<dyn DiskLock>>>,
}

#[derive(Debug, Default)]
struct Counters {
    commits: AtomicU64,
    frames: AtomicU64,
    syncs: AtomicU64,
    flushes: AtomicU64,
    compactions: AtomicU64,
}

impl Store {
    /// A store that keeps everything in memory and nothing after it is dropped.
    pub fn in_memory() -> Store {
        let memtable = Arc::new(Memtable::default());
        let view = View { memtables: vec![memtable.clone()], levels: Arc::default(), retired: Vec::new() };
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
            Some(files) => {
                files.background.wait_for_room();
                let limit = files.options.memtable_bytes;
                let freeze = |state: &mut PipelineState| shared.freeze(files, state);
                shared.pipeline.commit(batch, &shared.readers, &shared.gate, limit, freeze)
            }
        }
    }

    /// Drops all keys that begin with `prefix`, for good: durable when this returns. The prefix must not be used again.
    ///
    /// # Errors
    /// When the manifest cannot be written; the store is poisoned then.
    pub fn retire_prefix(&self, prefix: &[u8]) -> Result<(), StoreError> {
        let segment = self.shared.pipeline.lock().segment;
        if let Some(files) = &self.shared.files {
            self.shared.retire(files, prefix, segment)?;
        }
        // Nobody sees the keys any more; this gives their memory back, a few at a time.
        let memtable = self.shared.pipeline.lock().memtable.clone();
        while memtable.write().remove_prefix(prefix) {}
        Ok(())
    }

    /// Writes everything in memory to tables. Commits need not wait for this; it is for tests and for maintenance.
    ///
    /// # Errors
    /// When a file cannot be written; the store is poisoned then.
    pub fn flush(&self) -> Result<(), StoreError> {
        let Some(files) = &self.shared.files else { return Ok(()) };
        let mut state = self.shared.pipeline.lock();
        if !state.memtable.is_empty() {
            self.shared.freeze(files, &mut state);
        }
        drop(state);
        files.background.wait_for(|work| work.frozen.is_empty().then_some(()));
        self.health()
    }

    /// Merges all tables into one level, without what was overwritten or deleted. It takes time in proportion to the
    /// data; reads and writes go on.
    ///
    /// # Errors
    /// When a file cannot be read or written; the store is poisoned then.
    pub fn compact(&self) -> Result<(), StoreError> {
        self.flush()?;
        let Some(files) = &self.shared.files else { return Ok(()) };
        files.update_work(|work| {
            work.full = true;
            work.wanted += 1;
        });
        self.settle()
    }

    /// Waits until nothing is due to be flushed or compacted.
    ///
    /// # Errors
    /// When a file cannot be read or written; the store is poisoned then.
    pub fn settle(&self) -> Result<(), StoreError> {
        if let Some(files) = &self.shared.files {
            let settled = |work: &mut Work| (work.frozen.is_empty() && work.wanted == work.compacted).then_some(());
            files.background.wait_for(settled);
        }
        self.health()
    }

    /// The failure that made the store refuse writes, if there was one.
    pub fn health(&self) -> Result<(), StoreError> {
        self.shared.gate.check()
    }

    /// What the store has done and holds.
    pub fn stats(&self) -> StoreStats {
        let shared = &self.shared;
        let view = shared.readers.view();
        let mut key_ids: Vec<u32> = view.levels.tables().map(|table| table.meta.key_id).collect();
        key_ids.sort_unstable();
        key_ids.dedup();
        let counter = |count: fn(&TableFiles) -> &AtomicU64| {
            shared.files.as_ref().map_or(0, |files| count(&files.tables).load(Ordering::Relaxed))
        };
        StoreStats {
            commits: shared.counters.commits.load(Ordering::Relaxed),
            frames: shared.counters.frames.load(Ordering::Relaxed),
            syncs: shared.counters.syncs.load(Ordering::Relaxed),
            latest_seqno: shared.pipeline.lock().seqno,
            durable_seqno: shared.gate.durable(),
            memtable_bytes: view.memtables.iter().map(|memtable| memtable.bytes() as u64).sum(),
            table_bytes: view.levels.tables().map(|table| table.meta.size).sum(),
            level_files: (0..view.levels.depth()).map(|depth| view.levels.level(depth).len()).collect(),
            cache_hits: counter(|tables| &tables.hits),
            block_reads: counter(|tables| &tables.reads),
            filter_skips: counter(|tables| &tables.skips),
            cache_bytes: shared.files.as_ref().map_or(0, |files| files.tables.cached_bytes()),
            flushes: shared.counters.flushes.load(Ordering::Relaxed),
            compactions: shared.counters.compactions.load(Ordering::Relaxed),
            key_ids,
        }
    }

    /// Makes everything committed durable, stops the threads and lets go of the directory. Dropping does the same.
    ///
    /// # Errors
    /// When an earlier write failed, or the last one does.
    pub fn close(&self) -> Result<(), StoreError> {
        self.shared.pipeline.close();
        if let Some(files) = &self.shared.files {
            files.background.close();
        }
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
    /// Ends everything because of `error`: commits are refused and nobody waits for the threads any more.
    fn stop(&self, error: &StoreError) {
        self.poison(error);
        if let Some(files) = &self.files {
            files.update_work(|work| work.failed = true);
        }
    }

    /// Refuses all further commits because of `error`.
    fn poison(&self, error: &StoreError) {
        let cause = match error {
            StoreError::Poisoned { cause } => cause.clone(),
            other => Arc::from(other.to_string()),
        };
        self.gate.fail(StoreError::Poisoned { cause });
    }

    fn retire(&self, files: &Files, prefix: &[u8], segment: u64) -> Result<(), StoreError> {
        self.gate.check()?;
        let retired = Retired { prefix: bytes::Bytes::copy_from_slice(prefix), segment };
        let without = |levels: &Levels| levels.replace(&compact::tables_within(levels, prefix), 0, Vec::new());
        let outcome = self.install(files, without, |manifest| manifest.retired.push(retired), None);
        outcome.inspect_err(|error| self.poison(error))?;
        files.update_work(|work| work.wanted += 1);
        Ok(())
    }

    /// Changes which tables make up the store: in the manifest, durably, and then for readers.
    fn install(
        &self,
        files: &Files,
        levels: impl FnOnce(&Levels) -> Levels,
        edit: impl FnOnce(&mut Manifest),
        flushed: Option<&Arc<Memtable>>,
    ) -> Result<(), StoreError> {
        let mut manifest = files.manifest.lock();
        let old = self.readers.view().levels.clone();
        let new = Arc::new(levels(&old));
        let mut next = manifest.clone();
        edit(&mut next);
        next.levels = new.metas();
        next.next_number = files.next_number.load(Ordering::Relaxed);
        next.save(files.tables.disk.as_ref(), &files.tables.vault)?;
        *manifest = next;
        files.background.set_level0_files(new.level(0).len());
        self.readers.update_view(|view| {
            let stays = |memtable: &&Arc<Memtable>| flushed.is_none_or(|flushed| !Arc::ptr_eq(flushed, memtable));
            let memtables = view.memtables.iter().filter(stays).cloned().collect();
            Arc::new(View { memtables, levels: new.clone(), retired: manifest.retired_prefixes() })
        });
        for table in old.tables().filter(|table| !new.tables().any(|other| other.meta.number == table.meta.number)) {
            table.make_obsolete();
        }
        Ok(())
    }
}

impl Files {
    /// A number that no file of the store has had.
    fn new_number(&self) -> u64 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }

    fn table_style(&self) -> TableStyle {
        TableStyle { block_bytes: self.options.block_bytes, compression: self.options.compression }
    }

    fn update_work(&self, change: impl FnOnce(&mut Work)) {
        self.background.update(self.options.level0_files, change);
    }

    fn sync_dir(&self) -> Result<(), StoreError> {
        let disk = &self.tables.disk;
        disk.sync_dir().map_err(|error| StoreError::io("sync", &disk.place(), error))
    }
}
