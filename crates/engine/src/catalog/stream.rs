//! Stream of a table's changes: its shards and their succession.
//!
//! ```text
//! hashes  ffff… ┌─────────┬──────────────┬───
//!               │         │   shard 1    │  3      a shard covers a range of partition hashes; a full shard is closed
//!               │ shard 0 ├──────────────┴───      and split into two, an old one is replaced by one
//!               │         │   shard 2
//!         0000… └─────────┴──────────────────
//! ```
//!
//! All changes of an item go to the one open shard that covers its hash, so they stay ordered from parent to child.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use keyform_core::operation::SequenceNumber;
use keyform_core::table::{KeySchema, StreamView};
use parking_lot::Mutex;

use crate::key_space::{self, IndexId, TableId};
use crate::store::SeqNo;

/// Stream at one point in time; a change replaces it.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Name of the table, which may have been deleted.
    pub table: String,
    /// Number of the table.
    pub table_id: TableId,
    /// Number within the table; a stream that is enabled again gets a new one.
    pub number: u32,
    /// Key of the table, for records that outlive it.
    pub key: KeySchema,
    /// Item images in a record (keys, old, new).
    pub view: StreamView,
    /// Creation time, which is also the stream's label.
    pub created_ms: u64,
    /// Time at which the stream was disabled.
    pub ended_ms: Option<u64>,
    /// Shards that are not yet trimmed completely, oldest first.
    pub shards: Vec<Shard>,
    /// Number of the next shard.
    pub next_shard: u32,
}

/// Ordered part of a stream.
#[derive(Clone, Debug)]
pub struct Shard {
    /// Number within the stream.
    pub number: u32,
    /// Id of the parent shard, which may have been trimmed.
    pub parent: Option<String>,
    /// Creation time, in milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// Range of partition hashes that the shard covers.
    pub hashes: RangeInclusive<u64>,
    /// Commit before the shard's first record.
    pub start: SeqNo,
    /// Position and time at which the shard was closed; `None` while it is open.
    pub end: Option<ShardEnd>,
    /// Counters that change without a new version of the stream.
    pub meter: Arc<ShardMeter>,
}

/// End of a closed shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardEnd {
    /// Last commit that can have records in the shard.
    pub seqno: SeqNo,
    /// Time of closing, in milliseconds since the Unix epoch.
    pub at_ms: u64,
}

/// Number of records written to a shard, and its trim position.
#[derive(Debug, Default)]
pub struct ShardMeter {
    records: AtomicU64,
    trimmed: Mutex<Option<Position>>,
}

/// Position of a record. Positions increase with time, are never reused, and persist across restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Sequence number of the commit.
    pub seqno: SeqNo,
    /// Index among the records of the commit.
    pub place: u16,
}

/// Offset of sequence numbers, so that they have 21 digits from the first on, as in DynamoDB.
const SEQUENCE_BASE: u128 = 100_000_000_000_000_000_000;

impl Position {
    /// Returns the position of the first record that a commit can have.
    pub fn before(seqno: SeqNo) -> Self {
        Self { seqno, place: 0 }
    }

    /// Returns the position of the last record that a commit can have.
    pub fn last_of(seqno: SeqNo) -> Self {
        Self { seqno, place: u16::MAX }
    }

    /// Returns the next position.
    pub fn next(self) -> Self {
        match self.place.checked_add(1) {
            Some(place) => Self { place, ..self },
            None => Self::before(self.seqno.saturating_add(1)),
        }
    }

    /// Returns the sequence number that callers see.
    pub fn sequence(self) -> SequenceNumber {
        SequenceNumber(SEQUENCE_BASE + (u128::from(self.seqno) << 16 | u128::from(self.place)))
    }

    /// Returns the position of a sequence number, or `None` if it is out of range.
    pub fn of_sequence(sequence: SequenceNumber) -> Option<Self> {
        let number = sequence.0.checked_sub(SEQUENCE_BASE)?;
        let seqno = u64::try_from(number >> 16).ok()?;
        Some(Self { seqno, place: (number & 0xffff) as u16 })
    }

    /// Encodes the position as the suffix of a record's store key.
    pub fn to_bytes(self) -> [u8; 10] {
        let mut bytes = [0; 10];
        bytes[..8].copy_from_slice(&self.seqno.to_be_bytes());
        bytes[8..].copy_from_slice(&self.place.to_be_bytes());
        bytes
    }

    /// Decodes the position from the suffix of a record's store key.
    pub fn of_key(key: &[u8]) -> Option<Self> {
        let (seqno, place) = key.last_chunk::<10>()?.split_first_chunk::<8>()?;
        Some(Self { seqno: u64::from_be_bytes(*seqno), place: u16::from_be_bytes(place.try_into().ok()?) })
    }
}

impl ShardMeter {
    /// Creates a meter with values restored from the store.
    pub fn continuing(records: u64, trimmed: Option<Position>) -> Self {
        Self { records: AtomicU64::new(records), trimmed: Mutex::new(trimmed) }
    }

    /// Counts one record that was written to the shard.
    pub fn count(&self) {
        self.records.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of records counted.
    pub fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    /// Returns the position of the newest trimmed record.
    pub fn trimmed(&self) -> Option<Position> {
        *self.trimmed.lock()
    }

    /// Records that everything up to `position` is trimmed.
    pub fn set_trimmed(&self, position: Position) {
        *self.trimmed.lock() = Some(position);
    }
}

impl Stream {
    /// Returns whether changes are being recorded.
    pub fn is_enabled(&self) -> bool {
        self.ended_ms.is_none()
    }

    /// Returns the open shard that covers a partition hash.
    pub fn open_shard(&self, hash: u64) -> Option<&Shard> {
        self.open_shards().find(|shard| shard.hashes.contains(&hash))
    }

    /// Returns all open shards.
    pub fn open_shards(&self) -> impl Iterator<Item = &Shard> {
        self.shards.iter().filter(|shard| shard.end.is_none())
    }

    /// Returns the common key prefix of a shard's records.
    pub fn shard_prefix(&self, shard: u32) -> Vec<u8> {
        let mut prefix = self.prefix();
        prefix.extend_from_slice(&shard.to_be_bytes());
        prefix
    }

    /// Returns the common key prefix of all records of the stream.
    pub fn prefix(&self) -> Vec<u8> {
        let mut prefix = key_space::index_prefix(self.table_id, IndexId::STREAM);
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
    /// Returns the shard id that callers see.
    ///
    /// Ids sort in the order of creation.
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
