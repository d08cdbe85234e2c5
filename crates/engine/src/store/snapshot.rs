//! Snapshots of the store, and range reads.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;

use super::batch::SeqNo;
use super::error::StoreError;
use super::horizon::Readers;
use super::levels::Levels;
use super::memtable::{Found, Memtable, Span};
use super::merge::{MemoryCursor, Merge, Source};

/// Everything that a read searches, newest first. Immutable, except that the first memtable grows.
#[derive(Debug)]
pub(super) struct View {
    pub(super) memtables: Vec<Arc<Memtable>>,
    pub(super) levels: Arc<Levels>,
    pub(super) retired: Vec<Bytes>,
}

impl View {
    fn is_retired(&self, key: &[u8]) -> bool {
        self.retired.iter().any(|prefix| key.starts_with(prefix))
    }
}

/// State of the store at one point in time. Cheap to create and to clone. While it lives, it keeps old files and
/// versions from being removed.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pinned: Arc<Pinned>,
}

#[derive(Debug)]
struct Pinned {
    seqno: SeqNo,
    view: Arc<View>,
    readers: Arc<Readers<Arc<View>>>,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.readers.release(self.seqno);
    }
}

impl Snapshot {
    pub(super) fn durable(readers: &Arc<Readers<Arc<View>>>) -> Self {
        let (seqno, view) = readers.hold_durable();
        Snapshot { pinned: Arc::new(Pinned { seqno, view, readers: readers.clone() }) }
    }

    pub(super) fn latest(readers: &Arc<Readers<Arc<View>>>) -> Self {
        let (seqno, view) = readers.hold_latest();
        Snapshot { pinned: Arc::new(Pinned { seqno, view, readers: readers.clone() }) }
    }

    /// Returns the sequence number of the last visible commit.
    pub fn seqno(&self) -> SeqNo {
        self.pinned.seqno
    }

    /// Returns the value of `key`, or `None` if it does not exist.
    ///
    /// # Errors
    /// When a file cannot be read or is damaged.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let Pinned { seqno, view, .. } = self.pinned.as_ref();
        if view.is_retired(key) {
            return Ok(None);
        }
        for memtable in &view.memtables {
            if let Some(version) = memtable.get(key, *seqno) {
                return Ok(version);
            }
        }
        Ok(view.levels.get(key, *seqno)?.flatten())
    }

    /// Returns the entries between the bounds, in ascending order.
    pub fn range(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Range {
        self.read(lower, upper, false)
    }

    /// Returns the entries between the bounds, in descending order.
    pub fn range_rev(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Range {
        self.read(lower, upper, true)
    }

    fn read(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>, reverse: bool) -> Range {
        let own = |bound: Bound<&[u8]>| bound.map(Bytes::copy_from_slice);
        let span = Span { lower: own(lower), upper: own(upper), reverse };
        match self.sources(&span) {
            Ok(sources) => Range { snapshot: self.clone(), merge: Merge::new(sources, reverse), state: State::Going },
            Err(error) => {
                Range { snapshot: self.clone(), merge: Merge::new(Vec::new(), reverse), state: State::Failed(error) }
            }
        }
    }

    fn sources(&self, span: &Span) -> Result<Vec<Source>, StoreError> {
        let Pinned { seqno, view, .. } = self.pinned.as_ref();
        if span.is_empty() {
            return Ok(Vec::new());
        }
        let memory = |table: &Arc<Memtable>| Source::Memory(MemoryCursor::new(table.clone(), span.clone(), *seqno));
        let mut sources: Vec<Source> = view.memtables.iter().map(memory).collect();
        view.levels.sources(span, *seqno, &mut sources)?;
        Ok(sources)
    }
}

/// Iterator over a range. Owns its snapshot, so it can be stored and sent to another thread.
#[derive(Debug)]
pub struct Range {
    snapshot: Snapshot,
    merge: Merge,
    state: State,
}

#[derive(Debug)]
enum State {
    Going,
    /// The next call returns the error; then the iterator ends.
    Failed(StoreError),
    Done,
}

impl Iterator for Range {
    type Item = Result<(Bytes, Bytes), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Done => None,
            State::Failed(error) => Some(Err(error)),
            State::Going => {
                let next = self.next_value().transpose();
                if matches!(next, Some(Ok(_))) {
                    self.state = State::Going;
                }
                next
            }
        }
    }
}

impl Range {
    fn next_value(&mut self) -> Result<Option<(Bytes, Bytes)>, StoreError> {
        while let Some(Found { key, value }) = self.merge.next()? {
            if let Some(value) = value
                && !self.snapshot.pinned.view.is_retired(&key)
            {
                return Ok(Some((key, value)));
            }
        }
        Ok(None)
    }
}
