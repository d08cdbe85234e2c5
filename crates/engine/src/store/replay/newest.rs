//! The newest change of each key, sorted by key.
//!
//! The keys lie scattered over the journal, and comparing two of them reads both. The sort therefore compares 12 bytes
//! of each key that it keeps in a dense array, and the keys themselves only if those are equal:
//!
//! ```text
//! table-1/00017 ─► skip the beginning that all keys share ─► "00017" and zeros, as a number
//! ```

use std::borrow::Cow;

use bytes::Bytes;

use super::super::batch::SeqNo;
use super::super::memtable::{KeyVersion, Version};

/// Bytes of a key that the sort compares first.
const HEAD_BYTES: usize = 12;

/// Keys and values up to this size share an allocation, which costs less than two for each change. A reader that keeps
/// one of them keeps all of them, so the size is small; the memtable as a whole is dropped by its flush.
const GROUP_BYTES_MAX: usize = 16 << 10;

/// Change in the journal.
#[derive(Debug)]
pub(super) struct Change<'a> {
    pub(super) key: Cow<'a, [u8]>,
    pub(super) seqno: SeqNo,
    pub(super) value: Option<&'a [u8]>,
}

impl Change<'_> {
    fn bytes(&self) -> usize {
        self.key.len() + self.value.map_or(0, <[u8]>::len)
    }
}

/// Beginning of a change's key, and the change's position below it, as one number. Sorting plain numbers takes less
/// than half the time of sorting with a comparison that may look at the keys.
///
/// Shorter keys are filled with zeros, so equal heads do not mean equal keys, but unequal heads are in the order of
/// the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Headed(u128);

impl Headed {
    fn new(key: &[u8], position: u32) -> Self {
        let mut bytes = [0; size_of::<u128>()];
        let length = key.len().min(HEAD_BYTES);
        bytes[..length].copy_from_slice(&key[..length]);
        Headed(u128::from_be_bytes(bytes) | u128::from(position))
    }

    fn head(self) -> u128 {
        self.0 >> u32::BITS
    }

    fn of<'c, 'a>(self, changes: &'c [Change<'a>]) -> &'c Change<'a> {
        let position = self.0 & u128::from(u32::MAX);
        &changes[position as usize]
    }
}

/// Copies the last change of each key, in ascending order of keys.
pub(super) fn newest(changes: &[Change<'_>]) -> Vec<KeyVersion> {
    let order = sorted(changes);
    let is_same_key =
        |left: &Headed, right: &Headed| left.head() == right.head() && left.of(changes).key == right.of(changes).key;
    let last_of_key = |same: &[Headed]| same.last().map(|last| last.of(changes));
    let newest: Vec<&Change<'_>> = order.chunk_by(is_same_key).filter_map(last_of_key).collect();
    let mut copies = Vec::with_capacity(newest.len());
    let mut rest = newest.as_slice();
    while !rest.is_empty() {
        let (group, after) = rest.split_at(group_length(rest));
        copy(group, &mut copies);
        rest = after;
    }
    copies
}

/// Returns the number of changes that are copied into one allocation: at least one.
fn group_length(changes: &[&Change<'_>]) -> usize {
    let mut bytes = 0;
    let fits = |change: &&&Change<'_>| {
        bytes += change.bytes();
        bytes <= GROUP_BYTES_MAX
    };
    changes.iter().take_while(fits).count().max(1)
}

/// Copies changes out of the journal into one allocation.
fn copy(group: &[&Change<'_>], copies: &mut Vec<KeyVersion>) {
    let mut content = Vec::with_capacity(group.iter().map(|change| change.bytes()).sum());
    for change in group {
        content.extend_from_slice(&change.key);
        content.extend_from_slice(change.value.unwrap_or_default());
    }
    let content = Bytes::from(content);
    let mut at = 0;
    let mut take = |length: usize| {
        at += length;
        content.slice(at - length..at)
    };
    for change in group {
        let key = take(change.key.len());
        copies.push((key, Version::new(change.seqno, change.value.map(|value| take(value.len())))));
    }
}

/// Returns the changes in ascending order of keys. Changes of one key stay in their order.
fn sorted(changes: &[Change<'_>]) -> Vec<Headed> {
    let shared = shared_bytes(changes);
    let headed = |(position, change): (u32, &Change<'_>)| Headed::new(&change.key[shared..], position);
    let mut order: Vec<Headed> = (0..).zip(changes).map(headed).collect();
    order.sort_unstable();
    for same_head in order.chunk_by_mut(|left, right| left.head() == right.head()) {
        same_head.sort_by(|left, right| left.of(changes).key.cmp(&right.of(changes).key));
    }
    order
}

/// Returns the length of the longest common prefix of all keys.
fn shared_bytes(changes: &[Change<'_>]) -> usize {
    let Some((first, others)) = changes.split_first() else { return 0 };
    others.iter().fold(first.key.len(), |shared, change| {
        first.key[..shared].iter().zip(change.key.iter()).take_while(|(left, right)| left == right).count()
    })
}
