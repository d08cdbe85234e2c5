//! Tables of a store, by level.
//!
//! Level 0 holds flushed memtables, newest first; its tables may overlap. Each deeper level is one sorted run that is
//! older than the level above and ten times as large.

use std::sync::Arc;

use bytes::Bytes;

use super::batch::SeqNo;
use super::error::StoreError;
use super::manifest::TableMeta;
use super::memtable::{Span, prefix_end};
use super::merge::Source;
use super::sorted_table::{LevelCursor, Run, Table, TableFiles, key_hash};

/// All tables at one point in time. Immutable; a change creates a new value.
#[derive(Debug, Default)]
pub(super) struct Levels {
    levels: Vec<Vec<Arc<Table>>>,
    /// The same tables as sorted runs, newest first.
    runs: Vec<Run>,
    hash_seed: u64,
}

impl Levels {
    /// Creates the tables that a manifest lists. Their files are opened when they are first read.
    pub(super) fn open(metas: &[Vec<Arc<TableMeta>>], files: &Arc<TableFiles>) -> Self {
        let table = |meta: &Arc<TableMeta>| Arc::new(Table::new(meta.clone(), files.clone()));
        let levels = metas.iter().map(|level| level.iter().map(table).collect()).collect();
        Levels::new(levels, files.hash_seed())
    }

    fn new(levels: Vec<Vec<Arc<Table>>>, hash_seed: u64) -> Self {
        let mut runs: Vec<Run> = Vec::new();
        for (depth, level) in levels.iter().enumerate() {
            if depth == 0 {
                runs.extend(level.iter().map(|table| Run::from([table.clone()])));
            } else if !level.is_empty() {
                runs.push(level.as_slice().into());
            }
        }
        Levels { levels, runs, hash_seed }
    }

    /// Returns the tables of a level; empty for a level that does not exist.
    pub(super) fn level(&self, depth: usize) -> &[Arc<Table>] {
        self.levels.get(depth).map_or(&[], Vec::as_slice)
    }

    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    pub(super) fn bytes(&self, depth: usize) -> u64 {
        self.level(depth).iter().map(|table| table.meta.size).sum()
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.levels.iter().flatten()
    }

    pub(super) fn metas(&self) -> Vec<Vec<Arc<TableMeta>>> {
        self.levels.iter().map(|level| level.iter().map(|table| table.meta.clone()).collect()).collect()
    }

    /// Returns whether all tables with these numbers are present.
    pub(super) fn hold_all(&self, numbers: &[u64]) -> bool {
        numbers.iter().all(|number| self.tables().any(|table| table.meta.number == *number))
    }

    /// Returns the levels without the tables `gone` and with `added` at the front of one level.
    pub(super) fn replace(&self, gone: &[u64], depth: usize, added: Vec<Arc<Table>>) -> Self {
        let mut levels = self.levels.clone();
        for level in &mut levels {
            level.retain(|table| !gone.contains(&table.meta.number));
        }
        if levels.len() <= depth {
            levels.resize(depth + 1, Vec::new());
        }
        levels[depth].splice(0..0, added);
        if depth > 0 {
            levels[depth].sort_by(|left, right| left.meta.smallest.cmp(&right.meta.smallest));
        }
        Levels::new(levels, self.hash_seed)
    }

    /// Returns the newest version of `key` visible at `seqno`: `None` if absent, `Some(None)` if deleted.
    pub(super) fn get(&self, key: &[u8], seqno: SeqNo) -> Result<Option<Option<Bytes>>, StoreError> {
        if self.runs.is_empty() {
            return Ok(None);
        }
        let hash = key_hash(self.hash_seed, key);
        for run in &self.runs {
            let index = run.partition_point(|table| table.meta.largest.as_ref() < key);
            if let Some(table) = run.get(index)
                && table.covers(key)
                && let Some(version) = table.get(key, hash, seqno)?
            {
                return Ok(Some(version));
            }
        }
        Ok(None)
    }

    /// Adds a cursor for each run that has keys in the span.
    pub(super) fn sources(&self, span: &Span, seqno: SeqNo, out: &mut Vec<Source>) -> Result<(), StoreError> {
        for run in &self.runs {
            out.extend(LevelCursor::open(run, span, seqno)?.map(Source::Tables));
        }
        Ok(())
    }

    /// Returns whether a level deeper than `depth` may hold `key`.
    pub(super) fn deeper_may_hold(&self, depth: usize, key: &[u8]) -> bool {
        self.levels.iter().skip(depth + 1).any(|level| {
            let index = level.partition_point(|table| table.meta.largest.as_ref() < key);
            level.get(index).is_some_and(|table| table.covers(key))
        })
    }

    /// Returns the tables of a level that overlap the inclusive key range.
    pub(super) fn overlapping(&self, depth: usize, smallest: &[u8], largest: &[u8]) -> Vec<Arc<Table>> {
        let overlaps =
            |table: &&Arc<Table>| table.meta.smallest.as_ref() <= largest && smallest <= table.meta.largest.as_ref();
        self.level(depth).iter().filter(overlaps).cloned().collect()
    }
}

/// Returns whether a table's key range overlaps the keys that begin with `prefix`.
pub(super) fn touches_prefix(meta: &TableMeta, prefix: &[u8]) -> bool {
    meta.largest.as_ref() >= prefix && prefix_end(prefix).is_none_or(|end| meta.smallest < end)
}

/// Returns whether all keys of a table begin with `prefix`.
pub(super) fn is_within_prefix(meta: &TableMeta, prefix: &[u8]) -> bool {
    meta.smallest.starts_with(prefix) && meta.largest.starts_with(prefix)
}
