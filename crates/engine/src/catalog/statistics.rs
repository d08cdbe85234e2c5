//! Number and size of the items of a table or index: counters that every write updates.

use std::sync::atomic::{AtomicI64, Ordering};

/// Item and byte counters of a table or index.
#[derive(Debug, Default)]
pub struct Statistics {
    items: AtomicI64,
    bytes: AtomicI64,
}

impl Statistics {
    /// Returns the number of items; zero while the counter is negative.
    pub fn items(&self) -> u64 {
        u64::try_from(self.items.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Returns the size of all items in bytes; zero while the counter is negative.
    pub fn bytes(&self) -> u64 {
        u64::try_from(self.bytes.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Returns the raw counters, which can be negative while a recount is pending.
    pub fn counters(&self) -> (i64, i64) {
        (self.items.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// Counts a write, given the sizes of the old and the new item.
    pub fn count(&self, old_bytes: Option<usize>, new_bytes: Option<usize>) {
        let items = i64::from(new_bytes.is_some()) - i64::from(old_bytes.is_some());
        let bytes = new_bytes.unwrap_or(0) as i64 - old_bytes.unwrap_or(0) as i64;
        self.add(items, bytes);
    }

    /// Adds to both counters.
    pub fn add(&self, items: i64, bytes: i64) {
        self.items.fetch_add(items, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}
