//! Merge of several sorted sources.
//!
//! Sources are ordered newest first. Each yields at most one version per key, the newest visible one. If several
//! sources have a key, the first source wins and the others are skipped. Long runs of keys from one source are common,
//! so the winner stays while its key comes before the runner-up's, which costs one comparison per key.

use std::cmp::Ordering;
use std::sync::Arc;

use super::batch::SeqNo;
use super::error::StoreError;
use super::memtable::{Found, Memtable, Span};
use super::sorted_table::LevelCursor;

/// Size of the first chunk read from a memtable; later chunks double up to `CHUNK_MAX`.
const CHUNK_FIRST: usize = 32;
const CHUNK_MAX: usize = 256;

#[derive(Debug)]
pub(super) enum Source {
    Memory(MemoryCursor),
    Tables(LevelCursor),
}

impl Source {
    fn key(&self) -> Option<&[u8]> {
        match self {
            Source::Memory(cursor) => cursor.key(),
            Source::Tables(cursor) => cursor.key(),
        }
    }

    fn take(&mut self) -> Result<Option<Found>, StoreError> {
        match self {
            Source::Memory(cursor) => Ok(cursor.take()),
            Source::Tables(cursor) => cursor.take(),
        }
    }

    fn skip(&mut self) -> Result<(), StoreError> {
        match self {
            Source::Memory(cursor) => {
                cursor.take();
                Ok(())
            }
            Source::Tables(cursor) => cursor.skip(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Merge {
    sources: Vec<Source>,
    reverse: bool,
    winner: usize,
    runner_up: Option<usize>,
    settled: bool,
}

impl Merge {
    pub(super) fn new(sources: Vec<Source>, reverse: bool) -> Self {
        Merge { sources, reverse, winner: 0, runner_up: None, settled: false }
    }

    /// Returns the next key with its newest visible version, which may be a deletion.
    pub(super) fn next(&mut self) -> Result<Option<Found>, StoreError> {
        if !self.winner_stays() && !self.choose() {
            return Ok(None);
        }
        let found = self.sources[self.winner].take()?;
        if let (Some(found), Some(runner_up)) = (&found, self.runner_up)
            && self.sources[runner_up].key() == Some(found.key.as_ref())
        {
            self.skip_equal(&found.key)?;
        }
        Ok(found)
    }

    fn winner_stays(&self) -> bool {
        self.settled
            && match (self.sources[self.winner].key(), self.runner_up) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(key), Some(other)) => {
                    self.sources[other].key().is_some_and(|other| self.before(key, other) == Ordering::Less)
                }
            }
    }

    /// Finds the sources with the first and the second key in order; of equal keys the newer source is first.
    fn choose(&mut self) -> bool {
        let mut first: Option<(usize, &[u8])> = None;
        let mut second: Option<(usize, &[u8])> = None;
        for (index, source) in self.sources.iter().enumerate() {
            let Some(key) = source.key() else { continue };
            if first.is_none_or(|(_, best)| self.before(key, best) == Ordering::Less) {
                second = first;
                first = Some((index, key));
            } else if second.is_none_or(|(_, best)| self.before(key, best) == Ordering::Less) {
                second = Some((index, key));
            }
        }
        let chosen = first.map(|(index, _)| index);
        let runner_up = second.map(|(index, _)| index);
        self.settled = chosen.is_some();
        self.winner = chosen.unwrap_or(0);
        self.runner_up = runner_up;
        self.settled
    }

    fn skip_equal(&mut self, key: &[u8]) -> Result<(), StoreError> {
        self.settled = false;
        for source in &mut self.sources {
            if source.key() == Some(key) {
                source.skip()?;
            }
        }
        Ok(())
    }

    fn before(&self, left: &[u8], right: &[u8]) -> Ordering {
        if self.reverse { right.cmp(left) } else { left.cmp(right) }
    }
}

/// Cursor that reads a memtable in chunks, so that writers wait a few microseconds at most.
#[derive(Debug)]
pub(super) struct MemoryCursor {
    table: Arc<Memtable>,
    span: Span,
    seqno: SeqNo,
    chunk: Vec<Found>,
    at: usize,
    more: bool,
    limit: usize,
}

impl MemoryCursor {
    pub(super) fn new(table: Arc<Memtable>, span: Span, seqno: SeqNo) -> Self {
        let mut cursor = MemoryCursor { table, span, seqno, chunk: Vec::new(), at: 0, more: true, limit: CHUNK_FIRST };
        cursor.fill();
        cursor
    }

    fn key(&self) -> Option<&[u8]> {
        self.chunk.get(self.at).map(|found| found.key.as_ref())
    }

    fn take(&mut self) -> Option<Found> {
        let found = self.chunk.get_mut(self.at)?;
        let taken = Found { key: std::mem::take(&mut found.key), value: found.value.take() };
        self.at += 1;
        self.fill();
        Some(taken)
    }

    fn fill(&mut self) {
        while self.more && self.at >= self.chunk.len() {
            self.chunk.clear();
            self.at = 0;
            self.more = self.table.read_chunk(&mut self.span, self.seqno, self.limit, &mut self.chunk);
            self.limit = (self.limit * 2).min(CHUNK_MAX);
        }
    }
}
