//! Public interface of the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;

use super::background::Work;
use super::batch::{Batch, SeqNo};
use super::commit::{Commit, Gate};
use super::cut::CutLimits;
use super::disk::Disk;
use super::error::StoreError;
use super::horizon::Readers;
use super::memtable::Memtable;
use super::open;
use super::options::{StoreOptions, StoreStats};
use super::pipeline::{Pipeline, PipelineState};
use super::pulse::{Changed, Pulse};
use super::seal::DataKeys;
use super::snapshot::{Snapshot, View};
use super::sorted_table::TableFiles;
use super::{Counters, Files, Shared};

/// Ordered map from byte strings to byte strings, in memory or on disk.
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
    pub(super) shared: Arc<Shared>,
    pub(super) threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Store {
    /// Creates a store in memory; its data is lost when it is dropped.
    pub fn in_memory() -> Store {
        let memtable = Arc::new(Memtable::default());
        let view = View { memtables: vec![memtable.clone()], levels: Arc::default(), retired: Vec::new() };
        let shared = Shared {
            readers: Arc::new(Readers::new(0, Arc::new(view))),
            pipeline: Pipeline::new(0, memtable, 0, 0, keyform_world::system()),
            gate: Gate::new(0),
            pulse: Pulse::default(),
            files: None,
            counters: Counters::default(),
        };
        Store { shared: Arc::new(shared), threads: Mutex::default() }
    }

    /// Opens the store in a directory, or creates one in an empty directory. `None` for `keys` means no encryption.
    ///
    /// # Errors
    /// When the directory is in use, foreign, newer, damaged, or encrypted with other keys; see [`StoreError`].
    pub fn open(disk: Arc<dyn Disk>, keys: Option<DataKeys>, options: StoreOptions) -> Result<Store, StoreError> {
        open::open(disk, keys, options)
    }

    /// Returns a snapshot of the durable state. With `Durability::Sync`, no power cut can revert what it shows.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::durable(&self.shared.readers)
    }

    /// Returns a snapshot of all commits, durable or not. For writers that hold the locks of the keys they read.
    pub fn latest(&self) -> Snapshot {
        Snapshot::latest(&self.shared.readers)
    }

    /// Returns the last commit that [`Store::snapshot`] shows.
    pub fn durable(&self) -> SeqNo {
        self.shared.readers.durable()
    }

    /// Returns a future that resolves when [`Store::snapshot`] shows a commit after `since`.
    pub fn changed(&self, since: SeqNo) -> Changed {
        Changed::new(self.shared.clone(), since)
    }

    /// Applies a batch. [`Store::latest`] shows it when this returns, [`Store::snapshot`] when the returned [`Commit`]
    /// resolves.
    pub fn commit(&self, batch: Batch) -> Commit {
        let shared = &self.shared;
        shared.counters.commits.fetch_add(1, Ordering::Relaxed);
        match &shared.files {
            None => {
                let applied = shared.pipeline.commit_in_memory(batch, &shared.readers);
                shared.pulse.beat();
                Commit::decided(applied)
            }
            Some(files) => {
                if let Err(refused) = files.background.wait_for_room(batch.bytes()) {
                    return Commit::decided(Err(refused));
                }
                let limits = CutLimits::of(&files.options, files.background.deletions_max());
                let freeze = |state: &mut PipelineState| shared.freeze(files, state);
                match shared.pipeline.commit(batch, &shared.readers, &shared.gate, limits, freeze) {
                    Ok(queued) => Commit::waiting(queued, shared.clone()),
                    Err(refused) => Commit::decided(Err(refused)),
                }
            }
        }
    }

    /// Deletes all keys that begin with `prefix`, durably when this returns. The prefix must not be used again.
    ///
    /// # Errors
    /// When the manifest cannot be written. Unless a resource is exhausted, the store is then poisoned.
    pub fn retire_prefix(&self, prefix: &[u8]) -> Result<(), StoreError> {
        let segment = self.shared.pipeline.lock().segment;
        if let Some(files) = &self.shared.files {
            self.shared.retire(files, prefix, segment)?;
        }
        // The keys are already invisible. This frees their memory, in small steps so that other writers are not blocked
        // long.
        let memtable = self.shared.pipeline.lock().memtable.clone();
        while memtable.write().remove_prefix(prefix) {}
        Ok(())
    }

    /// Writes all data in memory to tables and waits for it. Commits do not need this; it is for tests and maintenance.
    ///
    /// # Errors
    /// When a file cannot be written: [`StoreError::Paused`] while the store retries, another error when it has failed.
    pub fn flush(&self) -> Result<(), StoreError> {
        let Some(files) = &self.shared.files else { return Ok(()) };
        let mut state = self.shared.pipeline.lock();
        if state.journal_bytes > 0 {
            self.shared.freeze(files, &mut state);
        }
        drop(state);
        self.wait_for(files, |work| work.frozen.is_empty(), |work| work.obstacles.of_flush())
    }

    /// Waits until `done`, or until the threads are blocked.
    fn wait_for(
        &self,
        files: &Files,
        done: impl Fn(&Work) -> bool,
        obstacle: impl Fn(&Work) -> Option<StoreError>,
    ) -> Result<(), StoreError> {
        let outcome = files.background.wait_for(|work| match obstacle(work) {
            _ if done(work) => Some(Ok(())),
            obstacle => obstacle.map(Err),
        });
        outcome.unwrap_or(Ok(())).and(self.health())
    }

    /// Merges all tables into one level and drops overwritten and deleted data. The time it takes is proportional to
    /// the data; reads and writes continue.
    ///
    /// # Errors
    /// When a file cannot be read or written: [`StoreError::Paused`] while the store retries, another error otherwise.
    pub fn compact(&self) -> Result<(), StoreError> {
        self.flush()?;
        let Some(files) = &self.shared.files else { return Ok(()) };
        files.update_work(|work| {
            work.full = true;
            work.wanted += 1;
        });
        self.settle()
    }

    /// Waits until no flush or compaction is due.
    ///
    /// # Errors
    /// When a file cannot be read or written: [`StoreError::Paused`] while the store retries, another error otherwise.
    pub fn settle(&self) -> Result<(), StoreError> {
        match &self.shared.files {
            Some(files) => {
                let settled = |work: &Work| work.frozen.is_empty() && work.wanted == work.compacted;
                self.wait_for(files, settled, |work| work.obstacles.refusal())
            }
            None => self.health(),
        }
    }

    /// Checks that the store accepts commits.
    ///
    /// # Errors
    /// The error that a commit would get: final after a failure, temporary while a resource is exhausted.
    pub fn health(&self) -> Result<(), StoreError> {
        self.shared.gate.check()?;
        self.shared.files.as_ref().map_or(Ok(()), |files| files.background.check())
    }

    /// Returns counters and sizes.
    pub fn stats(&self) -> StoreStats {
        let shared = &self.shared;
        let view = shared.readers.view();
        let current = shared.files.as_ref().map(|files| files.tables.vault.current_key_id());
        let mut key_ids: Vec<u32> = view.levels.tables().map(|table| table.meta.key_id).chain(current).collect();
        key_ids.sort_unstable();
        key_ids.dedup();
        let counter = |count: fn(&TableFiles) -> &AtomicU64| {
            shared.files.as_ref().map_or(0, |files| count(&files.tables).load(Ordering::Relaxed))
        };
        let journal_bytes = self.journal_bytes();
        let latest_seqno = shared.pipeline.lock().seqno;
        StoreStats {
            commits: shared.counters.commits.load(Ordering::Relaxed),
            frames: shared.counters.frames.load(Ordering::Relaxed),
            syncs: shared.counters.syncs.load(Ordering::Relaxed),
            latest_seqno,
            durable_seqno: shared.gate.durable(),
            memtable_bytes: view.memtables.iter().map(|memtable| memtable.bytes() as u64).sum(),
            journal_bytes,
            replayed_bytes: self.replayed_bytes(),
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

    /// Makes all commits durable, writes them to tables, stops the threads and releases the directory. Dropping the
    /// store does the same.
    ///
    /// # Errors
    /// When an earlier write failed, or the last one does.
    pub fn close(&self) -> Result<(), StoreError> {
        self.shared.pipeline.close();
        if let Some(files) = &self.shared.files {
            self.shared.flush_to_close(files);
            files.background.close();
        }
        for thread in self.threads.lock().drain(..) {
            if thread.join().is_err() {
                self.shared.poison(&StoreError::Closed);
            }
        }
        if let Some(files) = &self.shared.files {
            let mut lock = files.lock.lock();
            if lock.is_some() && self.health().is_ok() {
                self.shared.record_end(files).unwrap_or_else(|error| match error.is_scarcity() {
                    // The manifest is unchanged, and the journal is complete. Only its loss would not be detected.
                    true => tracing::warn!(%error, "the end of the journal is not recorded"),
                    false => self.shared.poison(&error),
                });
            }
            // Last: the threads are joined, so nothing writes to the directory any more.
            lock.take();
        }
        self.health()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // `drop` cannot return the error. Callers that need it call `close`.
        drop(self.close());
    }
}
