//! The newest data, in memory: an ordered map from keys to versions, newest version first.
//!
//! ```text
//! "a" → 9:"x" → 4:deleted → 2:"y"      a reader of snapshot 5 sees "a" deleted, of snapshot 3 sees "y"
//! ```
//!
//! The commit lock allows one writer at a time; readers share the map. A version is dropped when a newer one is written
//! and no reader can see it any more: see [`Horizon::needs`].

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::{RwLock, RwLockWriteGuard};

use super::batch::SeqNo;
use super::horizon::Horizon;

/// Approximate memory of a version beside its key and value.
const VERSION_OVERHEAD_BYTES: usize = 96;
/// Maximum number of keys that a range read visits, or a removal deletes, per acquisition of the lock.
const EXAMINED_MAX: usize = 1024;

/// Version of a key returned by a source of a read; the value `None` is a deletion.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) key: Bytes,
    pub(super) value: Option<Bytes>,
}

type Map = BTreeMap<Bytes, Version>;

/// Key and its newest version.
pub(super) type KeyVersion = (Bytes, Version);

#[derive(Debug, Default)]
pub(super) struct Memtable {
    map: RwLock<Map>,
    bytes: AtomicUsize,
    /// Deletions written, including those of one key that replaced each other.
    deletions: AtomicUsize,
}

#[derive(Debug)]
pub(super) struct Version {
    seqno: SeqNo,
    value: Option<Bytes>,
    older: Option<Box<Version>>,
}

/// Remaining part of a key range, and its direction.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) lower: Bound<Bytes>,
    pub(super) upper: Bound<Bytes>,
    pub(super) reverse: bool,
}

impl Memtable {
    /// Creates a memtable of different keys without older versions. Keys in ascending order take little more than one
    /// comparison each.
    pub(super) fn of_newest(entries: Vec<KeyVersion>) -> Self {
        let (mut bytes, mut deletions) = (0, 0);
        let count = |(key, version): &KeyVersion| {
            bytes += version.cost(key.len());
            deletions += usize::from(version.value.is_none());
        };
        // Collecting sorts the entries, which takes advantage of their order, and fills the nodes one by one.
        let map: Map = entries.into_iter().inspect(count).collect();
        Memtable { map: RwLock::new(map), bytes: AtomicUsize::new(bytes), deletions: AtomicUsize::new(deletions) }
    }

    /// Returns the newest version of `key` visible at `seqno`: `None` if absent, `Some(None)` if deleted.
    pub(super) fn get(&self, key: &[u8], seqno: SeqNo) -> Option<Option<Bytes>> {
        self.map.read().get(key)?.visible(seqno).map(|version| version.value.clone())
    }

    /// Returns the approximate memory used.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of deletions written.
    pub(super) fn deletions(&self) -> usize {
        self.deletions.load(Ordering::Relaxed)
    }

    pub(super) fn write(&self) -> Writing<'_> {
        Writing { map: self.map.write(), bytes: &self.bytes, deletions: &self.deletions }
    }

    /// Appends up to `limit` visible versions from the front of `span` to `out` and shortens `span` to the rest.
    /// Returns whether there may be more.
    pub(super) fn read_chunk(&self, span: &mut Span, seqno: SeqNo, limit: usize, out: &mut Vec<Found>) -> bool {
        if span.is_empty() {
            return false;
        }
        let map = self.map.read();
        let entries = map.range::<[u8], _>((borrow(&span.lower), borrow(&span.upper)));
        let last = if span.reverse {
            collect_visible(entries.rev(), seqno, limit, out)
        } else {
            collect_visible(entries, seqno, limit, out)
        };
        match last {
            Some(last) => {
                span.skip_past(last.clone());
                true
            }
            None => false,
        }
    }

    /// Calls `visit` with every version: keys ascending, newest version first. Only for frozen memtables.
    pub(super) fn for_each<E>(
        &self,
        mut visit: impl FnMut(&Bytes, SeqNo, Option<&Bytes>) -> Result<(), E>,
    ) -> Result<(), E> {
        for (key, newest) in self.map.read().iter() {
            let mut version = Some(newest);
            while let Some(current) = version {
                visit(key, current.seqno, current.value.as_ref())?;
                version = current.older.as_deref();
            }
        }
        Ok(())
    }
}

fn collect_visible<'a>(
    entries: impl Iterator<Item = (&'a Bytes, &'a Version)>,
    seqno: SeqNo,
    limit: usize,
    out: &mut Vec<Found>,
) -> Option<&'a Bytes> {
    let end = out.len() + limit;
    for (examined, (key, newest)) in entries.enumerate() {
        if let Some(version) = newest.visible(seqno) {
            out.push(Found { key: key.clone(), value: version.value.clone() });
        }
        if out.len() >= end || examined >= EXAMINED_MAX {
            return Some(key);
        }
    }
    None
}

/// Memtable locked for writing.
pub(super) struct Writing<'a> {
    map: RwLockWriteGuard<'a, Map>,
    bytes: &'a AtomicUsize,
    deletions: &'a AtomicUsize,
}

impl Writing<'_> {
    /// Adds a version and drops older ones that no reader can see.
    pub(super) fn insert(&mut self, key: Bytes, seqno: SeqNo, value: Option<Bytes>, horizon: &Horizon) {
        let added = cost(&key, value.as_ref());
        if value.is_none() {
            self.deletions.fetch_add(1, Ordering::Relaxed);
        }
        let version = Version::new(seqno, value);
        let freed = match self.map.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(version);
                0
            }
            Entry::Occupied(mut entry) => {
                let key_bytes = entry.key().len();
                let replaced = entry.get_mut().supersede(version, key_bytes);
                replaced + entry.get_mut().prune(horizon, key_bytes)
            }
        };
        self.account(added, freed);
    }

    /// Adds a version to a store that has only a memtable: a deletion without older versions removes the key. Returns
    /// the key if older versions had to stay, so that they can be collected later.
    pub(super) fn insert_alone(
        &mut self,
        key: Bytes,
        seqno: SeqNo,
        value: Option<Bytes>,
        horizon: &Horizon,
    ) -> Option<Bytes> {
        let deletes = value.is_none();
        let added = cost(&key, value.as_ref());
        let version = Version::new(seqno, value);
        let (added, freed, kept) = match self.map.entry(key) {
            Entry::Vacant(_) if deletes => (0, 0, None),
            Entry::Vacant(entry) => {
                entry.insert(version);
                (added, 0, None)
            }
            Entry::Occupied(mut entry) => {
                let key_bytes = entry.key().len();
                let replaced = entry.get_mut().supersede(version, key_bytes);
                let freed = replaced + entry.get_mut().prune(horizon, key_bytes);
                match entry.get().older {
                    Some(_) => (added, freed, Some(entry.key().clone())),
                    None if deletes => {
                        entry.remove();
                        (0, freed, None)
                    }
                    None => (added, freed, None),
                }
            }
        };
        self.account(added, freed);
        kept
    }

    /// Drops versions of `key` that no reader can see, and the key itself if only a deletion is left. For a store that
    /// has only a memtable.
    pub(super) fn collect(&mut self, key: &[u8], horizon: &Horizon) {
        let Some(newest) = self.map.get_mut(key) else { return };
        let mut freed = newest.prune(horizon, key.len());
        if newest.value.is_none() && newest.older.is_none() {
            freed += VERSION_OVERHEAD_BYTES + key.len();
            self.map.remove(key);
        }
        self.account(0, freed);
    }

    /// Removes some of the keys that begin with `prefix`; returns whether there may be more.
    pub(super) fn remove_prefix(&mut self, prefix: &[u8]) -> bool {
        let from = Bytes::copy_from_slice(prefix);
        let upto = prefix_end(prefix).map_or(Bound::Unbounded, Bound::Excluded);
        let mut removed = 0;
        let mut freed = 0;
        for (key, version) in self.map.extract_if((Bound::Included(from), upto), |_, _| true).take(EXAMINED_MAX) {
            removed += 1;
            freed += version.cost(key.len());
        }
        self.account(0, freed);
        removed == EXAMINED_MAX
    }

    fn account(&self, added: usize, freed: usize) {
        let bytes = self.bytes.load(Ordering::Relaxed);
        self.bytes.store((bytes + added).saturating_sub(freed), Ordering::Relaxed);
    }
}

fn cost(key: &[u8], value: Option<&Bytes>) -> usize {
    key.len() + value.map_or(0, Bytes::len) + VERSION_OVERHEAD_BYTES
}

impl Version {
    pub(super) fn new(seqno: SeqNo, value: Option<Bytes>) -> Self {
        Version { seqno, value, older: None }
    }

    #[inline]
    fn visible(&self, seqno: SeqNo) -> Option<&Version> {
        let mut version = self;
        while version.seqno > seqno {
            version = version.older.as_deref()?;
        }
        Some(version)
    }

    /// Puts `newer` in front. Of two versions of the same commit only the later one stays. Returns the bytes freed.
    fn supersede(&mut self, newer: Version, key_bytes: usize) -> usize {
        if newer.seqno == self.seqno {
            let value = std::mem::replace(&mut self.value, newer.value);
            return key_bytes + value.map_or(0, |value| value.len()) + VERSION_OVERHEAD_BYTES;
        }
        let older = std::mem::replace(self, newer);
        self.older = Some(Box::new(older));
        0
    }

    /// Drops older versions that no reader can see; returns the bytes freed.
    fn prune(&mut self, horizon: &Horizon, key_bytes: usize) -> usize {
        let mut freed = 0;
        let mut newer = self;
        while let Some(mut older) = newer.older.take() {
            if horizon.needs(older.seqno, newer.seqno) {
                newer = newer.older.insert(older);
            } else {
                newer.older = older.older.take();
                freed += older.cost(key_bytes);
            }
        }
        freed
    }

    fn cost(&self, key_bytes: usize) -> usize {
        let mut total = 0;
        let mut version = Some(self);
        while let Some(current) = version {
            total += key_bytes + current.value.as_ref().map_or(0, Bytes::len) + VERSION_OVERHEAD_BYTES;
            version = current.older.as_deref();
        }
        total
    }
}

impl Span {
    /// Returns whether the range is empty. `BTreeMap::range` panics on such bounds.
    pub(super) fn is_empty(&self) -> bool {
        match (&self.lower, &self.upper) {
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
            (Bound::Included(lower), Bound::Included(upper)) => lower > upper,
            (Bound::Included(lower) | Bound::Excluded(lower), Bound::Included(upper) | Bound::Excluded(upper)) => {
                lower >= upper
            }
        }
    }

    fn skip_past(&mut self, key: Bytes) {
        if self.reverse {
            self.upper = Bound::Excluded(key);
        } else {
            self.lower = Bound::Excluded(key);
        }
    }
}

/// Returns the smallest key after all keys that begin with `prefix`, if there is one.
pub(super) fn prefix_end(prefix: &[u8]) -> Option<Bytes> {
    let kept = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut end = prefix[..=kept].to_vec();
    end[kept] += 1;
    Some(Bytes::from(end))
}

pub(super) fn borrow(bound: &Bound<Bytes>) -> Bound<&[u8]> {
    bound.as_ref().map(Bytes::as_ref)
}
