//! How many items a table or index has and how large they are: counters that every write moves.

use std::sync::atomic::{AtomicI64, Ordering};

/// Items and bytes of a table or an index.
#[derive(Debug, Default)]
pub struct Statistics {
    items: AtomicI64,
    bytes: AtomicI64,
}

impl Statistics {
    /// Counters that start there.
    pub fn starting_at(items: u64, bytes: u64) -> Self {
        let signed = |count| i64::try_from(count).unwrap_or(i64::MAX);
        Self { items: AtomicI64::new(signed(items)), bytes: AtomicI64::new(signed(bytes)) }
    }

    /// How many items there are.
    pub fn items(&self) -> u64 {
        u64::try_from(self.items.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// How large they are.
    pub fn bytes(&self) -> u64 {
        u64::try_from(self.bytes.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Both counters as they are; they may be below zero while they are not known.
    pub fn counters(&self) -> (i64, i64) {
        (self.items.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// Counts what a write took away and what it brought, as sizes.
    pub fn count(&self, old_bytes: Option<usize>, new_bytes: Option<usize>) {
        let items = i64::from(new_bytes.is_some()) - i64::from(old_bytes.is_some());
        let bytes = new_bytes.unwrap_or(0) as i64 - old_bytes.unwrap_or(0) as i64;
        self.add(items, bytes);
    }

    /// Moves both counters.
    pub fn add(&self, items: i64, bytes: i64) {
        self.items.fetch_add(items, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}
