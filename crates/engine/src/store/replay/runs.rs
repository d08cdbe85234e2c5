//! Merging the sorted runs of all chunks.
//!
//! Only the heads of the keys are sorted: a dense array of runs, which the sort merges. The entries are then moved in
//! that order, which reads each run from front to back.

use super::super::memtable::KeyVersion;
use super::head::{Headed, shared_bytes, sort_newest};
use super::newest::Run;

/// Runs, in the order of commits.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// Beginning that all keys share.
    shared: Vec<u8>,
    /// Heads of the keys without that beginning, with the positions of their entries.
    heads: Vec<Headed>,
    /// Entries of all runs; `None` after they were merged.
    entries: Vec<Option<KeyVersion>>,
}

impl Runs {
    /// Reserves space for `runs` runs like this one.
    pub(super) fn reserve(&mut self, run: &Run, runs: usize) {
        if self.entries.capacity() - self.entries.len() < run.entries.len() {
            self.entries.reserve(run.entries.len().saturating_mul(runs));
            self.heads.reserve(run.entries.len().saturating_mul(runs));
        }
    }

    /// Adds a run whose entries replace earlier ones with the same keys.
    pub(super) fn push(&mut self, run: Run) {
        if run.entries.is_empty() {
            return;
        }
        if self.entries.is_empty() {
            self.shared.clone_from(&run.shared);
        }
        let shared = shared_bytes(&self.shared, &run.shared);
        self.share_only(shared);
        let first = self.entries.len() as u32;
        let heads = (first..).zip(run.heads).map(|(position, head)| head.behind(&run.shared[shared..], position));
        self.heads.extend(heads);
        self.entries.extend(run.entries.into_iter().map(Some));
    }

    /// Shortens the shared beginning.
    fn share_only(&mut self, bytes: usize) {
        let beginning = self.shared.split_off(bytes);
        if !beginning.is_empty() {
            for (position, head) in (0..).zip(&mut self.heads) {
                *head = head.behind(&beginning, position);
            }
        }
    }

    /// Returns the last entry of each key, in ascending order of keys.
    pub(super) fn merge(mut self) -> Vec<KeyVersion> {
        let key = |position: usize| self.entries[position].as_ref().map_or(&[][..], |(key, _)| key);
        sort_newest(&mut self.heads, key);
        let mut merged = Vec::with_capacity(self.heads.len());
        merged.extend(self.heads.iter().filter_map(|last| self.entries[last.position()].take()));
        merged
    }
}
