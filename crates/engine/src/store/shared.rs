//! State shared by the store's threads, and the only function that changes the set of tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::background::{Background, Work};
use super::commit::Gate;
use super::compact;
use super::cut::Quiet;
use super::disk::DiskLock;
use super::error::StoreError;
use super::horizon::Readers;
use super::journal::JournalWriter;
use super::levels::Levels;
use super::manifest::{Manifest, Retired};
use super::memtable::Memtable;
use super::options::{Durability, StoreOptions};
use super::pipeline::Pipeline;
use super::pulse::Pulse;
use super::snapshot::View;
use super::sorted_table::{TableFiles, TableStyle};
use super::weight::{DeadShare, Weight};

/// State shared by the store's threads.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) readers: Arc<Readers<Arc<View>>>,
    pub(super) pipeline: Pipeline,
    pub(super) gate: Gate,
    pub(super) pulse: Pulse,
    pub(super) files: Option<Files>,
    pub(super) counters: Counters,
}

/// State of a store on disk.
///
/// Lock order: `journal` before `manifest`, because the writer of a new segment records it in the manifest.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) options: StoreOptions,
    /// Held by the thread that has taken a frame from the pipeline.
    pub(super) journal: Mutex<JournalWriter>,
    pub(super) tables: Arc<TableFiles>,
    /// Held while the manifest and the levels are changed.
    pub(super) manifest: Mutex<Manifest>,
    pub(super) next_number: AtomicU64,
    pub(super) background: Background,
    pub(super) quiet: Mutex<Quiet>,
    pub(super) dead_share: DeadShare,
    pub(super) lock: Mutex<Option<Box<dyn DiskLock>>>,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) commits: AtomicU64,
    pub(super) frames: AtomicU64,
    pub(super) syncs: AtomicU64,
    pub(super) flushes: AtomicU64,
    pub(super) replayed_bytes: AtomicU64,
    pub(super) compactions: AtomicU64,
}

impl Shared {
    /// Stops the store because of `error`: rejects commits and releases all threads that wait for background work.
    pub(super) fn stop(&self, error: &StoreError) {
        self.poison(error);
        if let Some(files) = &self.files {
            files.update_work(|work| work.failed = true);
        }
    }

    /// Rejects all further commits because of `error`.
    pub(super) fn poison(&self, error: &StoreError) {
        let cause = error.cause();
        if self.gate.fail(StoreError::Poisoned { cause: cause.clone() }) {
            tracing::error!(%cause, "the store failed: it rejects writes until it is reopened");
        }
    }

    pub(super) fn retire(&self, files: &Files, prefix: &[u8], segment: u64) -> Result<(), StoreError> {
        self.gate.check()?;
        let retired = Retired { prefix: bytes::Bytes::copy_from_slice(prefix), segment };
        let without = |levels: &Levels| levels.replace(&compact::tables_within(levels, prefix), 0, Vec::new());
        let outcome = self.install(files, without, |manifest| manifest.retired.push(retired), None);
        // If a resource is exhausted, the manifest is unchanged and the caller may retry.
        outcome.inspect_err(|error| {
            if !error.is_scarcity() {
                self.poison(error)
            }
        })?;
        files.update_work(|work| work.wanted += 1);
        Ok(())
    }

    /// Changes the set of tables: durably in the manifest first, then for readers.
    pub(super) fn install(
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
        if files.options.durability == Durability::Sync {
            next.reached_seqno = self.gate.durable();
        }
        next.save(files.tables.disk.as_ref(), &files.tables.vault)?;
        *manifest = next;
        files.background.set_weight(&files.weight(&new));
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

    /// Records that a journal segment may contain frames from now on, so that the next opening detects its loss. The
    /// segment is already durable; otherwise a crash in between would leave a manifest with a file that never existed.
    /// All earlier segments are ended and synced, so they contain every durable commit.
    pub(super) fn record_segment(&self, files: &Files, number: u64) -> Result<(), StoreError> {
        let mut manifest = files.manifest.lock();
        let next_number = files.next_number.load(Ordering::Relaxed);
        let reached_seqno = self.gate.durable();
        let next = Manifest { newest_segment: number, next_number, reached_seqno, ..manifest.clone() };
        next.save(files.tables.disk.as_ref(), &files.tables.vault)?;
        *manifest = next;
        Ok(())
    }

    /// Records how far the journal reaches after it was ended in order, so that the next opening detects its loss.
    pub(super) fn record_end(&self, files: &Files) -> Result<(), StoreError> {
        let mut manifest = files.manifest.lock();
        let reached_seqno = self.gate.durable();
        if reached_seqno > manifest.reached_seqno {
            let next_number = files.next_number.load(Ordering::Relaxed);
            let next = Manifest { reached_seqno, next_number, ..manifest.clone() };
            next.save(files.tables.disk.as_ref(), &files.tables.vault)?;
            *manifest = next;
        }
        Ok(())
    }
}

impl Files {
    /// Returns an unused file number.
    pub(super) fn new_number(&self) -> u64 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn table_style(&self) -> TableStyle {
        TableStyle { block_bytes: self.options.block_bytes, compression: self.options.compression }
    }

    pub(super) fn weight<'a>(&'a self, levels: &'a Levels) -> Weight<'a> {
        Weight { levels, options: &self.options, dead_share: &self.dead_share }
    }

    pub(super) fn update_work(&self, change: impl FnOnce(&mut Work)) {
        self.background.update(self.options.level0_files, change);
    }

    pub(super) fn sync_dir(&self) -> Result<(), StoreError> {
        let disk = &self.tables.disk;
        disk.sync_dir().map_err(|error| StoreError::sync(&disk.place(), error))
    }
}
