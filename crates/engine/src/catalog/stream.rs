//! One stream of a table's changes: its shards and how they follow each other.
//!
//! ```text
//! hashes  ffff… ┌─────────┬──────────────┬───
//!               │         │   shard 1    │  3      a shard covers a range of partition hashes; a full one is closed
//!               │ shard 0 ├──────────────┴───      and followed by two, an old one by one
//!               │         │   shard 2
//!         0000… └─────────┴──────────────────
//! ```
//!
//! All changes of an item go to the one open shard that covers its hash, so that they stay in order from parent to child.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use keyform_core::operation::SequenceNumber;
use keyform_core::table::{KeySchema, StreamView};
use parking_lot::Mutex;

use crate::layout::{self, IndexId, TableId};
use crate::store::SeqNo;

/// A stream as it is at one moment.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The name of its table, which may be gone.
    pub table: String,
    /// The number of its table.
    pub table_id: TableId,
    /// Its number within the table; a stream that is switched on anew gets a new one.
    pub number: u32,
    /// The table's key.
    pub key: KeySchema,
    /// What a record carries.
    pub view: StreamView,
    /// When it began; its label.
    pub created_ms: u64,
    /// When it ended, if it did.
    pub ended_ms: Option<u64>,
    /// Its shards that are not forgotten, oldest first.
    pub shards: Vec<Shard>,
    /// The number that the next shard gets.
    pub next_shard: u32,
}

/// A part of a stream.
#[derive(Clone, Debug)]
pub struct Shard {
    /// Its number within the stream.
    pub number: u32,
    /// The id of the shard it followed on, which may be forgotten.
    pub parent: Option<String>,
    /// When it began.
    pub created_ms: u64,
    /// The partition hashes it covers.
    pub hashes: RangeInclusive<u64>,
    /// The commit after which its records come.
    pub start: SeqNo,
    /// Where and when it was closed.
    pub end: Option<ShardEnd>,
    /// What moves without the catalog.
    pub meter: Arc<ShardMeter>,
}

/// The end of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardEnd {
    /// The last commit whose records it can have.
    pub seqno: SeqNo,
    /// When it was closed.
    pub at_ms: u64,
}

/// How much a shard took, and what of it is gone.
#[derive(Debug, Default)]
pub struct ShardMeter {
    records: AtomicU64,
    trimmed: Mutex<Option<Position>>,
}

/// A record's place: its commit and its place in the commit. Rises with time, is never used twice, survives restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The commit.
    pub seqno: SeqNo,
    /// The place among the records of the commit.
    pub place: u16,
}

/// Added to every position, so that sequence numbers have the service's 21 digits from the first one on.
const SEQUENCE_BASE: u128 = 100_000_000_000_000_000_000;

impl Position {
    /// The place before all records of a commit.
    pub fn before(seqno: SeqNo) -> Self {
        Self { seqno, place: 0 }
    }

    /// The place of the last record that a commit can have.
    pub fn last_of(seqno: SeqNo) -> Self {
        Self { seqno, place: u16::MAX }
    }

    /// The place after this one.
    pub fn next(self) -> Self {
        match self.place.checked_add(1) {
            Some(place) => Self { place, ..self },
            None => Self::before(self.seqno.saturating_add(1)),
        }
    }

    /// As callers see it.
    pub fn sequence(self) -> SequenceNumber {
        SequenceNumber(SEQUENCE_BASE + (u128::from(self.seqno) << 16 | u128::from(self.place)))
    }

    /// The place that a caller means.
    pub fn of_sequence(sequence: SequenceNumber) -> Option<Self> {
        let number = sequence.0.checked_sub(SEQUENCE_BASE)?;
        let seqno = u64::try_from(number >> 16).ok()?;
        Some(Self { seqno, place: (number & 0xffff) as u16 })
    }

    /// The end of the record's key in the store.
    pub fn to_bytes(self) -> [u8; 10] {
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&self.seqno.to_be_bytes());
        bytes[8..].copy_from_slice(&self.place.to_be_bytes());
        bytes
    }

    /// The place in the end of a record's key in the store.
    pub fn of_key(key: &[u8]) -> Option<Self> {
        let (seqno, place) = key.last_chunk::<10>()?.split_first_chunk::<8>()?;
        Some(Self { seqno: u64::from_be_bytes(*seqno), place: u16::from_be_bytes(place.try_into().ok()?) })
    }
}

impl ShardMeter {
    /// A meter that continues an older one.
    pub fn continuing(records: u64, trimmed: Option<Position>) -> Self {
        Self { records: AtomicU64::new(records), trimmed: Mutex::new(trimmed) }
    }

    /// Counts a record.
    pub fn count(&self) {
        self.records.fetch_add(1, Ordering::Relaxed);
    }

    /// How many records the shard took.
    pub fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    /// The newest record that is gone.
    pub fn trimmed(&self) -> Option<Position> {
        *self.trimmed.lock()
    }

    /// Notes that everything up to there is gone.
    pub fn set_trimmed(&self, position: Position) {
        *self.trimmed.lock() = Some(position);
    }
}

impl Stream {
    /// Whether changes are being recorded.
    pub fn is_enabled(&self) -> bool {
        self.ended_ms.is_none()
    }

    /// The open shard for a partition hash.
    pub fn open_shard(&self, hash: u64) -> Option<&Shard> {
        self.open_shards().find(|shard| shard.hashes.contains(&hash))
    }

    /// All open shards.
    pub fn open_shards(&self) -> impl Iterator<Item = &Shard> {
        self.shards.iter().filter(|shard| shard.end.is_none())
    }

    /// What the keys of a shard's records start with.
    pub fn shard_prefix(&self, shard: u32) -> Vec<u8> {
        let mut prefix = self.prefix();
        prefix.extend_from_slice(&shard.to_be_bytes());
        prefix
    }

    /// What the keys of all its records start with.
    pub fn prefix(&self) -> Vec<u8> {
        let mut prefix = layout::index_prefix(self.table_id, IndexId::STREAM);
        prefix.extend_from_slice(&self.number.to_be_bytes());
        prefix
    }

    /// Adds an open shard.
    pub fn add_shard(&mut self, parent: Option<String>, hashes: RangeInclusive<u64>, start: SeqNo, created_ms: u64) {
        let number = self.next_shard;
        self.next_shard += 1;
        let meter = Arc::default();
        self.shards.push(Shard { number, parent, created_ms, hashes, start, end: None, meter });
    }

    /// Closes all open shards.
    pub fn close_shards(&mut self, end: ShardEnd) {
        for shard in self.shards.iter_mut().filter(|shard| shard.end.is_none()) {
            shard.end = Some(end);
        }
    }
}

impl Shard {
    /// Its id, as callers see it.
    ///
    /// Ids sort in the order in which shards are made.
    pub fn id(&self) -> String {
        format!("shardId-{:020}-{:08x}", self.created_ms, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_back_from_their_sequence_numbers() {
        let position = Position { seqno: 7_000_000_000, place: 513 };
        assert_eq!(Position::of_sequence(position.sequence()), Some(position));
        assert_eq!(Position::of_key(&[b"prefix".as_slice(), &position.to_bytes()].concat()), Some(position));
        assert_eq!(Position::before(0).sequence().to_string().len(), 21);
        assert_eq!(Position::of_sequence(SequenceNumber(5)), None);
    }
}
