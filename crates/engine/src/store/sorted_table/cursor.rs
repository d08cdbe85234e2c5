//! Cursors over a sorted run of tables: [`LevelCursor`] for readers, [`RawCursor`] for compaction.
//!
//! A run is a list of tables in ascending order that do not overlap: one table of level 0, or a whole deeper level.

use std::sync::Arc;

use bytes::Bytes;

use super::super::batch::SeqNo;
use super::super::error::StoreError;
use super::super::memtable::{Found, Span, borrow};
use super::block::{Block, Entry};
use super::reader::{BlockAt, Table};

/// Tables in ascending order that do not overlap.
pub(crate) type Run = Arc<[Arc<Table>]>;

/// Cursor over the visible versions, one per key, in either direction.
#[derive(Debug)]
pub(crate) struct LevelCursor {
    run: Run,
    /// Indexes of the tables that are not yet read.
    rest: std::ops::Range<usize>,
    span: Span,
    seqno: SeqNo,
    table: Option<TableCursor>,
}

impl LevelCursor {
    /// Opens a cursor on the first entry; returns `None` if no table of the run has keys in the span.
    pub(crate) fn open(run: &Run, span: &Span, seqno: SeqNo) -> Result<Option<Self>, StoreError> {
        let rest = overlapping(run, span);
        if rest.is_empty() {
            return Ok(None);
        }
        let mut cursor = LevelCursor { run: run.clone(), rest, span: span.clone(), seqno, table: None };
        cursor.settle()?;
        Ok(Some(cursor))
    }

    pub(crate) fn key(&self) -> Option<&[u8]> {
        self.table.as_ref().and_then(TableCursor::key)
    }

    pub(crate) fn take(&mut self) -> Result<Option<Found>, StoreError> {
        let found = match &mut self.table {
            Some(table) => table.take(&self.span, self.seqno)?,
            None => None,
        };
        self.settle()?;
        Ok(found)
    }

    pub(crate) fn skip(&mut self) -> Result<(), StoreError> {
        if let Some(table) = &mut self.table {
            table.step(&self.span, self.seqno)?;
        }
        self.settle()
    }

    /// Moves to the next table while the current one is exhausted.
    fn settle(&mut self) -> Result<(), StoreError> {
        while self.key().is_none() {
            let next = if self.span.reverse { self.rest.next_back() } else { self.rest.next() };
            let Some(next) = next else {
                self.table = None;
                return Ok(());
            };
            self.table = Some(TableCursor::open(&self.run[next], &self.span, self.seqno)?);
        }
        Ok(())
    }
}

/// Returns the tables of a run that may have keys in the span.
fn overlapping(run: &Run, span: &Span) -> std::ops::Range<usize> {
    use std::ops::Bound;
    let start = match borrow(&span.lower) {
        Bound::Unbounded => 0,
        Bound::Included(key) => run.partition_point(|table| table.meta.largest.as_ref() < key),
        Bound::Excluded(key) => run.partition_point(|table| table.meta.largest.as_ref() <= key),
    };
    let end = match borrow(&span.upper) {
        Bound::Unbounded => run.len(),
        Bound::Included(key) => run.partition_point(|table| table.meta.smallest.as_ref() <= key),
        Bound::Excluded(key) => run.partition_point(|table| table.meta.smallest.as_ref() < key),
    };
    start..end
}

/// Cursor over the visible versions of one table.
#[derive(Debug)]
struct TableCursor {
    table: Arc<Table>,
    at: Option<BlockAt>,
    block: Option<Arc<Block>>,
    /// Indexes of the block's entries in the span that are not yet visited.
    rest: std::ops::Range<usize>,
    /// True if the span ends in this block.
    ends_here: bool,
    /// True if a version of the current key was already returned.
    taken: bool,
    current: Current,
}

#[derive(Debug)]
enum Current {
    Nothing,
    /// Entry of the current block.
    At(Entry),
    /// Entry of a previous block: a reverse step left that block before it knew that this version is the result.
    Carried(Found),
}

impl TableCursor {
    fn open(table: &Arc<Table>, span: &Span, seqno: SeqNo) -> Result<Self, StoreError> {
        let at = if span.reverse {
            Some(table.last_block(borrow(&span.upper))?)
        } else {
            table.first_block(borrow(&span.lower))?
        };
        let mut cursor = TableCursor {
            table: table.clone(),
            at: None,
            block: None,
            rest: 0..0,
            ends_here: false,
            taken: false,
            current: Current::Nothing,
        };
        cursor.enter(at, span)?;
        cursor.step(span, seqno)?;
        Ok(cursor)
    }

    fn key(&self) -> Option<&[u8]> {
        match (&self.current, &self.block) {
            (Current::At(entry), Some(block)) => Some(block.key_of(entry)),
            (Current::Carried(found), _) => Some(&found.key),
            _ => None,
        }
    }

    fn take(&mut self, span: &Span, seqno: SeqNo) -> Result<Option<Found>, StoreError> {
        let found = match (std::mem::replace(&mut self.current, Current::Nothing), &self.block) {
            (Current::At(entry), Some(block)) => Some(found(block, &entry)),
            (Current::Carried(found), _) => Some(found),
            _ => None,
        };
        self.step(span, seqno)?;
        Ok(found)
    }

    fn step(&mut self, span: &Span, seqno: SeqNo) -> Result<(), StoreError> {
        if span.reverse { self.step_back(span, seqno) } else { self.step_forward(span, seqno) }
    }

    /// Moves to the first version of the next key that is not too new.
    fn step_forward(&mut self, span: &Span, seqno: SeqNo) -> Result<(), StoreError> {
        self.current = Current::Nothing;
        while let Some(block) = &self.block {
            for index in self.rest.by_ref() {
                let entry = block.entry(index);
                self.taken &= entry.older;
                if !self.taken && entry.seqno <= seqno {
                    self.taken = true;
                    self.current = Current::At(entry);
                    return Ok(());
                }
            }
            let next = match (self.ends_here, self.at.take()) {
                (false, Some(at)) => self.table.next_block(at)?,
                _ => None,
            };
            self.enter(next, span)?;
        }
        Ok(())
    }

    /// Moves back to the newest version of the previous key that is not too new. Versions come oldest first in this
    /// direction, so the key's first entry ends the search.
    fn step_back(&mut self, span: &Span, seqno: SeqNo) -> Result<(), StoreError> {
        self.current = Current::Nothing;
        while let Some(block) = &self.block {
            while let Some(index) = self.rest.next_back() {
                let entry = block.entry(index);
                if entry.seqno <= seqno {
                    self.current = Current::At(entry);
                }
                if !entry.older && !matches!(self.current, Current::Nothing) {
                    return Ok(());
                }
            }
            if let Current::At(entry) = &self.current {
                self.current = Current::Carried(found(block, entry));
            }
            let previous = match (self.ends_here, self.at.take()) {
                (false, Some(at)) => self.table.previous_block(at)?,
                _ => None,
            };
            self.enter(previous, span)?;
        }
        Ok(())
    }

    fn enter(&mut self, at: Option<BlockAt>, span: &Span) -> Result<(), StoreError> {
        self.block = match &at {
            Some(at) => Some(self.table.data_block(at, true)?),
            None => None,
        };
        self.at = at;
        if let Some(block) = &self.block {
            let (lower, upper) = (borrow(&span.lower), borrow(&span.upper));
            let start = if block.starts_within(lower) { 0 } else { block.lower(lower) };
            let end = if block.ends_within(upper) { block.count() } else { block.upper(upper) };
            self.ends_here = if span.reverse { start > 0 } else { end < block.count() };
            self.rest = start..end;
        }
        Ok(())
    }
}

fn found(block: &Block, entry: &Entry) -> Found {
    Found { key: block.key_bytes(entry), value: block.value_bytes(entry) }
}

/// Cursor over every version in a run, ascending, for compaction. Blocks that it reads are not added to the cache.
#[derive(Debug)]
pub(crate) struct RawCursor {
    tables: std::vec::IntoIter<Arc<Table>>,
    table: Option<Arc<Table>>,
    at: Option<BlockAt>,
    block: Option<Arc<Block>>,
    next: usize,
    current: Option<RawEntry>,
}

#[derive(Debug, Clone)]
pub(crate) struct RawEntry {
    pub(crate) key: Bytes,
    pub(crate) seqno: SeqNo,
    pub(crate) value: Option<Bytes>,
}

impl RawCursor {
    pub(crate) fn open(tables: Vec<Arc<Table>>) -> Result<Self, StoreError> {
        let tables = tables.into_iter();
        let mut cursor = RawCursor { tables, table: None, at: None, block: None, next: 0, current: None };
        cursor.step()?;
        Ok(cursor)
    }

    pub(crate) fn current(&self) -> Option<&RawEntry> {
        self.current.as_ref()
    }

    pub(crate) fn take(&mut self) -> Result<Option<RawEntry>, StoreError> {
        let taken = self.current.take();
        self.step()?;
        Ok(taken)
    }

    fn step(&mut self) -> Result<(), StoreError> {
        loop {
            if let Some(block) = &self.block
                && self.next < block.count()
            {
                let entry = block.entry(self.next);
                self.next += 1;
                let (key, value) = (block.key_bytes(&entry), block.value_bytes(&entry));
                self.current = Some(RawEntry { key, seqno: entry.seqno, value });
                return Ok(());
            }
            if !self.next_block()? {
                self.current = None;
                return Ok(());
            }
        }
    }

    fn next_block(&mut self) -> Result<bool, StoreError> {
        let mut at = match (&self.table, self.at.take()) {
            (Some(table), Some(at)) => table.next_block(at)?,
            _ => None,
        };
        if at.is_none() {
            self.table = self.tables.next();
            if let Some(table) = &self.table {
                at = table.first_block(std::ops::Bound::Unbounded)?;
            }
        }
        self.next = 0;
        self.block = match (&self.table, &at) {
            (Some(table), Some(at)) => Some(table.data_block(at, false)?),
            _ => None,
        };
        self.at = at;
        Ok(self.block.is_some())
    }
}
