//! Who may write what at a moment: short locks on keys, and the items of transactions that are not yet durable.
//!
//! A writer locks the keys it touches from reading the old item until its batch is in the store's order, some microseconds.
//! Keys share a fixed number of stripes, locked in rising order, so that transactions cannot wait for each other in a ring.
//! A transaction also marks its items until it is durable; whoever meets a mark is told of the conflict, as the service does.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};

const STRIPES: usize = 1024;

/// The locks on keys.
#[derive(Debug)]
pub struct KeyLocks {
    stripes: Vec<Mutex<()>>,
}

/// Locks that end when this is dropped.
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
    /// Locks one key.
    pub fn lock(&self, key: &[u8]) -> MutexGuard<'_, ()> {
        self.stripes[stripe(key)].lock()
    }

    /// Locks several keys.
    pub fn lock_all<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> KeyGuard<'_> {
        let mut stripes: Vec<usize> = keys.map(stripe).collect();
        stripes.sort_unstable();
        stripes.dedup();
        KeyGuard { _guards: stripes.into_iter().map(|stripe| self.stripes[stripe].lock()).collect() }
    }

    /// Waits for all writers and keeps new ones out.
    pub fn lock_everything(&self) -> KeyGuard<'_> {
        KeyGuard { _guards: self.stripes.iter().map(Mutex::lock).collect() }
    }
}

fn stripe(key: &[u8]) -> usize {
    twox_hash::XxHash3_64::oneshot(key) as usize % STRIPES
}

/// The items of transactions that are under way.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    keys: Mutex<HashSet<Vec<u8>>>,
    count: AtomicUsize,
}

/// Marks that end when this is dropped.
#[derive(Debug)]
pub struct InFlightMarks {
    inner: Arc<Inner>,
    keys: Vec<Vec<u8>>,
}

impl InFlight {
    /// Whether a transaction is under way for the key. The caller holds the key's lock.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.inner.count.load(Ordering::Acquire) > 0 && self.inner.keys.lock().contains(key)
    }

    /// Marks keys. The caller holds their locks and has seen that none is marked.
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
