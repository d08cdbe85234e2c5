//! The newest change of each key, sorted by key.
//!
//! The keys lie scattered over the journal, and comparing two of them reads both. The sort therefore compares 16 bytes
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
const HEAD_BYTES: usize = size_of::<u128>();

/// Change in the journal.
#[derive(Debug)]
pub(super) struct Change<'a> {
    pub(super) key: Cow<'a, [u8]>,
    pub(super) seqno: SeqNo,
    pub(super) value: Option<&'a [u8]>,
}

/// Copies the last change of each key, in ascending order of keys.
pub(super) fn newest(mut changes: Vec<Change<'_>>) -> Vec<KeyVersion> {
    let order = sorted(&changes);
    let is_same_key = |(left_head, left): (u128, usize), (right_head, right): (u128, usize)| {
        left_head == right_head && changes[left].key == changes[right].key
    };
    let last_of_key = |same: &[(u128, usize)]| same.last().map(|(_, at)| *at);
    let newest: Vec<usize> = order.chunk_by(|left, right| is_same_key(*left, *right)).filter_map(last_of_key).collect();
    newest.into_iter().map(|at| copy(&mut changes[at])).collect()
}

/// Copies a change out of the journal, so that it does not keep the memory of the whole segment.
fn copy(change: &mut Change<'_>) -> KeyVersion {
    let key = match std::mem::take(&mut change.key) {
        Cow::Borrowed(key) => Bytes::copy_from_slice(key),
        Cow::Owned(key) => Bytes::from(key),
    };
    (key, Version::new(change.seqno, change.value.map(Bytes::copy_from_slice)))
}

/// Returns the heads and positions of the changes in ascending order of keys. Changes of one key stay in their order.
fn sorted(changes: &[Change<'_>]) -> Vec<(u128, usize)> {
    let shared = shared_bytes(changes);
    let headed = |(at, change): (usize, &Change<'_>)| (head(&change.key[shared..]), at);
    let mut order: Vec<(u128, usize)> = changes.iter().enumerate().map(headed).collect();
    order.sort_by(|(left_head, left), (right_head, right)| {
        left_head.cmp(right_head).then_with(|| changes[*left].key.cmp(&changes[*right].key))
    });
    order
}

/// Returns the length of the longest common prefix of all keys.
fn shared_bytes(changes: &[Change<'_>]) -> usize {
    let Some((first, others)) = changes.split_first() else { return 0 };
    others.iter().fold(first.key.len(), |shared, change| {
        first.key[..shared].iter().zip(change.key.iter()).take_while(|(left, right)| left == right).count()
    })
}

/// Returns the first bytes of a key as a number. Shorter keys are filled with zeros, so equal heads do not mean equal
/// keys, but unequal heads are in the order of the keys.
fn head(key: &[u8]) -> u128 {
    let mut head = [0; HEAD_BYTES];
    let length = key.len().min(HEAD_BYTES);
    head[..length].copy_from_slice(&key[..length]);
    u128::from_be_bytes(head)
}
