//! What the flush thread, the compaction thread and waiting writers tell each other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex};

use super::batch::SeqNo;
use super::memtable::Memtable;

/// Writers wait while this many memtables wait to become tables.
const FROZEN_MAX: usize = 3;
/// Writers wait while level 0 holds this many times the tables that start a compaction.
const LEVEL0_FACTOR_MAX: usize = 5;

/// A memtable that takes no more writes.
#[derive(Debug, Clone)]
pub(super) struct Frozen {
    pub(super) memtable: Arc<Memtable>,
    pub(super) last_seqno: SeqNo,
    /// The first journal segment that is still needed when this memtable has become a table.
    pub(super) first_segment: u64,
}

/// The work that waits, and who waits for it.
#[derive(Debug, Default)]
pub(super) struct Background {
    state: Mutex<Work>,
    changed: Condvar,
    /// Set while writers should wait, so that they need not take the lock to know.
    crowded: AtomicBool,
    closing: AtomicBool,
    level0_files: AtomicUsize,
}

#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) frozen: VecDeque<Frozen>,
    /// Rises whenever there may be something to compact.
    pub(super) wanted: u64,
    /// What `wanted` was when the compaction thread last found nothing to do.
    pub(super) compacted: u64,
    /// Whether to merge everything, not only what is due.
    pub(super) full: bool,
    /// Whether a thread ended because of a failure, so that nobody waits for it.
    pub(super) failed: bool,
}

impl Background {
    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Tells all threads to end.
    pub(super) fn close(&self) {
        let _work = self.state.lock();
        self.closing.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// Changes the work and wakes whoever waits for that.
    pub(super) fn update(&self, level0_trigger: usize, change: impl FnOnce(&mut Work)) {
        let mut work = self.state.lock();
        change(&mut work);
        let level0 = self.level0_files.load(Ordering::Relaxed);
        let crowded = work.frozen.len() >= FROZEN_MAX || level0 >= level0_trigger * LEVEL0_FACTOR_MAX;
        self.crowded.store(crowded && !work.failed, Ordering::Release);
        self.changed.notify_all();
    }

    pub(super) fn set_level0_files(&self, files: usize) {
        self.level0_files.store(files, Ordering::Relaxed);
    }

    /// Waits until `ready` gives something; `None` when the store is closing or a thread has failed.
    pub(super) fn wait_for<T>(&self, mut ready: impl FnMut(&mut Work) -> Option<T>) -> Option<T> {
        let mut work = self.state.lock();
        loop {
            if self.is_closing() || work.failed {
                return None;
            }
            if let Some(found) = ready(&mut work) {
                return Some(found);
            }
            self.changed.wait(&mut work);
        }
    }

    /// Holds a writer back while files are not written as fast as commits arrive.
    pub(super) fn wait_for_room(&self) {
        if self.crowded.load(Ordering::Acquire) {
            self.wait_for(|_| (!self.crowded.load(Ordering::Acquire)).then_some(()));
        }
    }
}
