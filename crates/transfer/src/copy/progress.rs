//! Progress of a copy.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Phase of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Items are scanned and written.
    Copying,
    /// Later changes are applied.
    Following,
    /// Both sides are compared.
    Verifying,
}

/// Progress of copying a table.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Name of the source table.
    pub table: String,
    /// Current phase.
    pub phase: Phase,
    /// Items written so far.
    pub items: u64,
    /// Total size of the items written so far.
    pub bytes: u64,
    /// Approximate number of items in the source.
    pub items_total: u64,
    /// Changes applied so far.
    pub changes: u64,
    /// Set if the last read of the stream returned all changes.
    pub caught_up: bool,
}

/// Adds up the work of all segments and reports it.
pub(crate) struct Tally {
    table: String,
    items: AtomicU64,
    bytes: AtomicU64,
    changes: AtomicU64,
    items_total: u64,
    told: Arc<dyn Fn(&Progress) + Send + Sync>,
}

impl Tally {
    pub(crate) fn new(table: &str, items_total: u64, told: Arc<dyn Fn(&Progress) + Send + Sync>) -> Self {
        let zero = AtomicU64::default;
        Self { table: table.to_owned(), items: zero(), bytes: zero(), changes: zero(), items_total, told }
    }

    pub(crate) fn items(&self, items: u64, bytes: u64) {
        self.items.fetch_add(items, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.tell(Phase::Copying, false);
    }

    pub(crate) fn changes(&self, changes: u64, caught_up: bool) {
        self.changes.fetch_add(changes, Ordering::Relaxed);
        self.tell(Phase::Following, caught_up);
    }

    pub(crate) fn changes_so_far(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    pub(crate) fn phase(&self, phase: Phase) {
        self.tell(phase, false);
    }

    fn tell(&self, phase: Phase, caught_up: bool) {
        (self.told)(&Progress {
            table: self.table.clone(),
            phase,
            items: self.items.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            items_total: self.items_total,
            changes: self.changes.load(Ordering::Relaxed),
            caught_up,
        });
    }
}
