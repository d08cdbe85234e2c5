//! Write concurrency: short locks on keys, and marks on the items of transactions that are not yet durable.
//!
//! A writer locks its keys from reading the old item until its batch is ordered in the store, a few microseconds (ADR
//! 0003). Keys map to a fixed number of stripes. Locking stripes in ascending order prevents deadlocks between
//! transactions. A transaction also marks its items until it is durable; a write to a marked item fails with
//! `TransactionConflict`, as in DynamoDB.
//!
//! Lock order: the catalog first, then keys, then the store's own locks.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};

const STRIPES: usize = 1024;

/// Striped locks on keys.
#[derive(Debug)]
pub struct KeyLocks {
    stripes: Vec<Mutex<()>>,
}

/// Locked stripes; released on drop.
#[must_use]
pub struct KeyGuard<'a> {
    _guards: Vec<MutexGuard<'a, ()>>,
}

impl Default for KeyLocks {
    fn default() -> Self {
        Self { stripes: (0..STRIPES).map(|_| Mutex::new(())).collect() }
    }
}

impl KeyLocks {
    /// Locks the stripe of one key, which other keys may share.
    pub fn lock(&self, key: &[u8]) -> MutexGuard<'_, ()> {
        self.stripes[stripe(key)].lock()
    }

    /// Locks several keys without deadlock: sorted, each stripe once.
    pub fn lock_all<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> KeyGuard<'_> {
        let mut stripes: Vec<usize> = keys.map(stripe).collect();
        stripes.sort_unstable();
        stripes.dedup();
        KeyGuard { _guards: stripes.into_iter().map(|stripe| self.stripes[stripe].lock()).collect() }
    }

    /// Locks all stripes: waits for all current writers and blocks new ones.
    pub fn lock_everything(&self) -> KeyGuard<'_> {
        KeyGuard { _guards: self.stripes.iter().map(Mutex::lock).collect() }
    }
}

fn stripe(key: &[u8]) -> usize {
    twox_hash::XxHash3_64::oneshot(key) as usize % STRIPES
}

/// Items of transactions that are not yet durable.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    keys: Mutex<HashSet<Vec<u8>>>,
    count: AtomicUsize,
}

/// Marks on the keys of one transaction; removed on drop.
#[derive(Debug)]
pub struct InFlightMarks {
    inner: Arc<Inner>,
    keys: Vec<Vec<u8>>,
}

impl InFlight {
    /// Returns whether a transaction is in flight for the key. The caller holds the key's lock.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.inner.count.load(Ordering::Acquire) > 0 && self.inner.keys.lock().contains(key)
    }

    /// Marks keys. The caller holds their locks and has checked that none is marked.
    pub fn mark(&self, keys: Vec<Vec<u8>>) -> InFlightMarks {
        let mut marked = self.inner.keys.lock();
        marked.extend(keys.iter().cloned());
        self.inner.count.store(marked.len(), Ordering::Release);
        InFlightMarks { inner: Arc::clone(&self.inner), keys }
    }
}

impl Drop for InFlightMarks {
    fn drop(&mut self) {
        let mut marked = self.inner.keys.lock();
        for key in &self.keys {
            marked.remove(key);
        }
        self.inner.count.store(marked.len(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_end_with_their_guard() {
        let in_flight = InFlight::default();
        let marks = in_flight.mark(vec![b"a".to_vec(), b"b".to_vec()]);
        assert!(in_flight.contains(b"a") && in_flight.contains(b"b") && !in_flight.contains(b"c"));
        drop(marks);
        assert!(!in_flight.contains(b"a"));
    }

    #[test]
    fn keys_of_one_stripe_are_locked_once() {
        let locks = KeyLocks::default();
        drop(locks.lock_all([b"a".as_slice(), b"a".as_slice()].into_iter()));
        drop(locks.lock(b"a"));
    }
}
