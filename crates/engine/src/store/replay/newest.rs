//! The newest change of each key in a chunk, sorted by key.

use std::borrow::Cow;

use bytes::Bytes;

use super::super::batch::SeqNo;
use super::super::memtable::{KeyVersion, Version};
use super::head::{Headed, shared_bytes, sort_newest};

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

/// Newest change of each key, in ascending order of keys.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// Beginning that all keys share.
    pub(super) shared: Vec<u8>,
    /// Heads of the keys without that beginning, in the order of the entries.
    pub(super) heads: Vec<Headed>,
    pub(super) entries: Vec<KeyVersion>,
}

impl Run {
    /// Copies the last change of each key.
    pub(super) fn of(changes: &[Change<'_>]) -> Self {
        let Some((first, others)) = changes.split_first() else { return Run::default() };
        let shared =
            others.iter().fold(first.key.len(), |shared, change| shared_bytes(&first.key[..shared], &change.key));
        let headed = |(position, change): (u32, &Change<'_>)| Headed::new(&change.key[shared..], position);
        let mut heads: Vec<Headed> = (0..).zip(changes).map(headed).collect();
        sort_newest(&mut heads, |position| &changes[position].key);
        let newest: Vec<&Change<'_>> = heads.iter().map(|last| &changes[last.position()]).collect();
        Run { shared: first.key[..shared].to_vec(), entries: copies(&newest), heads }
    }
}

fn copies(changes: &[&Change<'_>]) -> Vec<KeyVersion> {
    let mut copies = Vec::with_capacity(changes.len());
    let mut rest = changes;
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

/// Copies changes out of the journal into one allocation: all keys, then all values. Building the map compares
/// neighbouring keys, which share cache lines this way.
fn copy(group: &[&Change<'_>], copies: &mut Vec<KeyVersion>) {
    let mut content = Vec::with_capacity(group.iter().map(|change| change.bytes()).sum());
    group.iter().for_each(|change| content.extend_from_slice(&change.key));
    let (mut key_at, mut value_at) = (0, content.len());
    group.iter().for_each(|change| content.extend_from_slice(change.value.unwrap_or_default()));
    let content = Bytes::from(content);
    let take = |at: &mut usize, length: usize| {
        *at += length;
        content.slice(*at - length..*at)
    };
    for change in group {
        let key = take(&mut key_at, change.key.len());
        let value = change.value.map(|value| take(&mut value_at, value.len()));
        copies.push((key, Version::new(change.seqno, value)));
    }
}
