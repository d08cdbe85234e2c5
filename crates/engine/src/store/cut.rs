//! Cutting the journal: the memtable is frozen and written as a table, and its journal segments are removed.
//!
//! ```text
//! the memtable is full ───────────────┐
//! its journal is a quarter of the max ┤
//! it deletes much data in tables ─────┤
//! no commit for a while ──────────────┼─► freeze ─► table ─► manifest ─► segments removed    (flush)
//! the store closes ───────────────────┘
//! ```
//!
//! Overwrites grow the journal but not the memtable, so a limit on the memtable alone would never cut it (ADR 0028). A
//! deletion takes little space itself, but compaction frees what it deletes only when it is in a table.

use std::sync::atomic::Ordering;

use super::batch::SeqNo;
use super::memtable::Memtable;
use super::options::StoreOptions;
use super::{Files, Shared, Store};

/// Parts of the journal's maximum size: one for the active memtable, the others for frozen ones.
const JOURNAL_PARTS: u64 = 4;

/// Sizes at which the memtable is frozen.
#[derive(Debug, Clone, Copy)]
pub(super) struct CutLimits {
    memtable_bytes: usize,
    journal_bytes: u64,
    deletions: usize,
}

impl CutLimits {
    /// Returns the limits of a store's options, and a limit on deletions (see `Weight::deletions_max`).
    pub(super) fn of(options: &StoreOptions, deletions: usize) -> Self {
        let journal_bytes = options.journal_bytes / JOURNAL_PARTS;
        CutLimits { memtable_bytes: options.memtable_bytes, journal_bytes, deletions }
    }

    pub(super) fn are_reached(&self, memtable: &Memtable, journal_bytes: u64) -> bool {
        memtable.bytes() >= self.memtable_bytes
            || journal_bytes >= self.journal_bytes
            || memtable.deletions() >= self.deletions
    }
}

/// Returns the size of the frozen memtables' journal at which writers wait for the flush.
pub(super) fn frozen_journal_bytes_max(options: &StoreOptions) -> u64 {
    options.journal_bytes / JOURNAL_PARTS * (JOURNAL_PARTS - 1)
}

/// Last commit seen, and the time since when there was no other.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    seqno: SeqNo,
    since_ms: u64,
}

impl Quiet {
    /// Records the newest commit; returns whether it has been the newest for `idle_ms`.
    fn has_lasted(&mut self, seqno: SeqNo, now_ms: u64, idle_ms: u64) -> bool {
        // If the clock is set back, the wait starts again.
        if self.seqno != seqno || now_ms < self.since_ms {
            *self = Quiet { seqno, since_ms: now_ms };
        }
        now_ms - self.since_ms >= idle_ms
    }
}

impl Store {
    /// Starts a flush if there was no commit for [`StoreOptions::idle_ms`] and the journal is large enough. Does not
    /// wait for it. The caller calls this regularly and passes its clock, which tests can control.
    pub fn flush_if_idle(&self, now_ms: u64) {
        let Some(files) = &self.shared.files else { return };
        // A retired prefix that waits for the end of its segment slows every read, so it justifies a cut of a short
        // journal.
        let retired = !files.manifest.lock().retired.is_empty();
        let mut state = self.shared.pipeline.lock();
        let options = &files.options;
        let lasted = files.quiet.lock().has_lasted(state.seqno, now_ms, options.idle_ms);
        let worth = state.journal_bytes >= options.idle_journal_bytes || (retired && state.journal_bytes > 0);
        if lasted && worth && !state.is_closing() {
            self.shared.freeze(files, &mut state);
        }
    }

    /// Returns the size of the journal that a restart would replay.
    pub(super) fn journal_bytes(&self) -> u64 {
        let active = self.shared.pipeline.lock().journal_bytes;
        active + self.shared.files.as_ref().map_or(0, |files| files.background.frozen_journal_bytes())
    }

    pub(super) fn replayed_bytes(&self) -> u64 {
        self.shared.counters.replayed_bytes.load(Ordering::Relaxed)
    }
}

impl Shared {
    /// Writes everything to tables. The pipeline is closed, so no commit can follow. Data that cannot be written stays
    /// in the journal.
    pub(super) fn flush_to_close(&self, files: &Files) {
        if !files.options.flush_at_close || self.gate.check().is_err() {
            return;
        }
        let mut state = self.pipeline.lock();
        if state.journal_bytes > 0 {
            self.freeze(files, &mut state);
        }
        drop(state);
        // Do not wait when the flush is blocked: it would retry for ever on a full disk, and the journal has the data.
        files.background.wait_for(|work| (work.frozen.is_empty() || work.obstacles.of_flush().is_some()).then_some(()));
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::horizon::Horizon;
    use super::*;

    #[test]
    fn overwrites_reach_the_limit_of_the_journal_before_that_of_the_memtable() {
        let options = StoreOptions { memtable_bytes: 1000, journal_bytes: 400, ..StoreOptions::default() };
        let limits = CutLimits::of(&options, 3);
        let nobody_reads = Horizon { durable: SeqNo::MAX, live: Vec::new() };
        let memtable = Memtable::default();
        let insert = |key: &'static str, value: Option<Bytes>| {
            memtable.write().insert(Bytes::from(key), 1, value, &nobody_reads);
        };
        insert("a", Some(Bytes::from(vec![0; 400])));
        assert!(!limits.are_reached(&memtable, 99));
        assert!(limits.are_reached(&memtable, 100));
        insert("b", Some(Bytes::from(vec![0; 600])));
        assert!(limits.are_reached(&memtable, 10), "the memtable is full");
        let memtable = Memtable::default();
        for key in ["a", "b", "c"] {
            assert!(!limits.are_reached(&memtable, 10));
            memtable.write().insert(Bytes::from(key), 1, None, &nobody_reads);
        }
        assert!(limits.are_reached(&memtable, 10), "there are three deletions");
        assert_eq!(frozen_journal_bytes_max(&options), 300);
    }

    #[test]
    fn a_commit_and_a_clock_set_back_start_the_wait_again() {
        let mut quiet = Quiet::default();
        assert!(!quiet.has_lasted(1, 1000, 50));
        assert!(!quiet.has_lasted(1, 1049, 50));
        assert!(quiet.has_lasted(1, 1050, 50));
        assert!(!quiet.has_lasted(2, 1051, 50));
        assert!(!quiet.has_lasted(2, 500, 50));
        assert!(quiet.has_lasted(2, 550, 50));
    }
}
