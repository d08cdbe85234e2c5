//! Block: sorted entries with a table of offsets for binary search. Keys are stored without prefix compression, so that
//! keys and values can be returned as slices of the block; LZ4 removes what neighbouring keys have in common.
//!
//! ```text
//! block = entry* (offset of entry:u32)* count:u32
//! entry = key:bytes  kind:varint  seqno:varint  value
//! kind  = (0 for a deletion, value length + 1 otherwise) * 2 + (1 when the entry before has the same key)
//! ```
//!
//! Entries are sorted by key, versions of one key newest first. [`Block::parse`] checks the structure once; after that
//! reading cannot fail.

use std::ops::Bound;

use bytes::Bytes;

use super::super::batch::SeqNo;
use super::super::codec::{Reader, put_bytes, put_varint, varint_at};

const OFFSET_BYTES: usize = 4;

/// Block whose structure has been checked.
#[derive(Debug)]
pub(crate) struct Block {
    data: Bytes,
    count: usize,
    offsets_at: usize,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    key_start: usize,
    key_end: usize,
    value_start: usize,
    value_end: usize,
    pub(crate) seqno: SeqNo,
    pub(crate) deleted: bool,
    /// True if the previous entry is a newer version of the same key.
    pub(crate) older: bool,
}

impl Block {
    /// Checks the structure of a block; returns `None` if it is not valid.
    pub(crate) fn parse(data: Bytes) -> Option<Block> {
        let count_at = data.len().checked_sub(OFFSET_BYTES)?;
        let count = Reader::new(&data[count_at..]).u32()? as usize;
        let offsets_at = count_at.checked_sub(count.checked_mul(OFFSET_BYTES)?)?;
        let block = Block { data, count, offsets_at };
        let mut expected = 0;
        for index in 0..count {
            if block.offset(index) != expected {
                return None;
            }
            expected = block.parse_entry(expected)?.value_end;
        }
        (expected == offsets_at && count > 0).then_some(block)
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the memory used.
    pub(crate) fn bytes(&self) -> usize {
        self.data.len()
    }

    /// Returns the entry at `index`, which must be less than the count.
    pub(crate) fn entry(&self, index: usize) -> Entry {
        self.parse_entry(self.offset(index)).expect("parse has checked every entry")
    }

    pub(crate) fn key(&self, index: usize) -> &[u8] {
        let mut at = self.offset(index);
        let length = varint_at(&self.data, &mut at).expect("parse has checked every entry") as usize;
        &self.data[at..at + length]
    }

    pub(crate) fn key_of(&self, entry: &Entry) -> &[u8] {
        &self.data[entry.key_start..entry.key_end]
    }

    pub(crate) fn key_bytes(&self, entry: &Entry) -> Bytes {
        self.data.slice(entry.key_start..entry.key_end)
    }

    pub(crate) fn value_bytes(&self, entry: &Entry) -> Option<Bytes> {
        (!entry.deleted).then(|| self.data.slice(entry.value_start..entry.value_end))
    }

    pub(crate) fn value_of(&self, entry: &Entry) -> &[u8] {
        &self.data[entry.value_start..entry.value_end]
    }

    /// Returns the index of the first entry that is not before `bound`.
    pub(crate) fn lower(&self, bound: Bound<&[u8]>) -> usize {
        match bound {
            Bound::Unbounded => 0,
            Bound::Included(key) => self.partition(|found| found < key),
            Bound::Excluded(key) => self.partition(|found| found <= key),
        }
    }

    /// Returns the index after the last entry that is not after `bound`.
    pub(crate) fn upper(&self, bound: Bound<&[u8]>) -> usize {
        match bound {
            Bound::Unbounded => self.count,
            Bound::Included(key) => self.partition(|found| found <= key),
            Bound::Excluded(key) => self.partition(|found| found < key),
        }
    }

    /// Returns whether no entry is before `bound`: one comparison instead of a search.
    pub(crate) fn starts_within(&self, bound: Bound<&[u8]>) -> bool {
        match bound {
            Bound::Unbounded => true,
            Bound::Included(key) => self.key(0) >= key,
            Bound::Excluded(key) => self.key(0) > key,
        }
    }

    /// Returns whether no entry is after `bound`.
    pub(crate) fn ends_within(&self, bound: Bound<&[u8]>) -> bool {
        match bound {
            Bound::Unbounded => true,
            Bound::Included(key) => self.key(self.count - 1) <= key,
            Bound::Excluded(key) => self.key(self.count - 1) < key,
        }
    }

    fn partition(&self, before: impl Fn(&[u8]) -> bool) -> usize {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = (low + high) / 2;
            if before(self.key(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    #[inline]
    fn offset(&self, index: usize) -> usize {
        let at = self.offsets_at + index * OFFSET_BYTES;
        let bytes = &self.data[at..at + OFFSET_BYTES];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize
    }

    #[inline]
    fn parse_entry(&self, offset: usize) -> Option<Entry> {
        let data = self.data.get(..self.offsets_at)?;
        let mut at = offset;
        let key_length = usize::try_from(varint_at(data, &mut at)?).ok()?;
        let key_start = at;
        let key_end = key_start.checked_add(key_length)?;
        at = key_end;
        let kind = varint_at(data, &mut at)?;
        let seqno = varint_at(data, &mut at)?;
        let value_length = usize::try_from((kind >> 1).saturating_sub(1)).ok()?;
        let value_end = at.checked_add(value_length)?;
        (value_end <= data.len()).then_some(Entry {
            key_start,
            key_end,
            value_start: at,
            value_end,
            seqno,
            deleted: kind >> 1 == 0,
            older: kind & 1 == 1,
        })
    }
}

#[derive(Debug, Default)]
pub(crate) struct BlockBuilder {
    data: Vec<u8>,
    offsets: Vec<u32>,
}

impl BlockBuilder {
    pub(crate) fn add(&mut self, key: &[u8], seqno: SeqNo, value: Option<&[u8]>, older: bool) {
        self.offsets.push(self.data.len() as u32);
        put_bytes(&mut self.data, key);
        let length = value.map_or(0, |value| value.len() as u64 + 1);
        put_varint(&mut self.data, length << 1 | u64::from(older));
        put_varint(&mut self.data, seqno);
        self.data.extend_from_slice(value.unwrap_or_default());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.data.len() + (self.offsets.len() + 1) * OFFSET_BYTES
    }

    /// Returns the encoded block. Call [`BlockBuilder::clear`] before the next block.
    pub(crate) fn finish(&mut self) -> &[u8] {
        for offset in &self.offsets {
            self.data.extend_from_slice(&offset.to_le_bytes());
        }
        self.data.extend_from_slice(&(self.offsets.len() as u32).to_le_bytes());
        &self.data
    }

    pub(crate) fn clear(&mut self) {
        self.data.clear();
        self.offsets.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Block {
        let mut builder = BlockBuilder::default();
        builder.add(b"a", 3, Some(b"one"), false);
        builder.add(b"b", 9, None, false);
        builder.add(b"b", 4, Some(b""), true);
        builder.add(b"d", 700, Some(&[5; 300]), false);
        Block::parse(Bytes::copy_from_slice(builder.finish())).unwrap()
    }

    #[test]
    fn entries_come_back() {
        let block = sample();
        let entry = block.entry(2);
        assert_eq!((block.key_of(&entry), entry.seqno, entry.deleted, entry.older), (b"b".as_slice(), 4, false, true));
        assert_eq!(block.value_bytes(&entry).unwrap().len(), 0);
        assert!(block.entry(1).deleted);
        assert_eq!(block.value_bytes(&block.entry(3)).unwrap(), vec![5; 300]);
    }

    #[test]
    fn bounds_are_found() {
        let block = sample();
        assert_eq!(block.lower(Bound::Included(b"b")), 1);
        assert_eq!(block.lower(Bound::Excluded(b"b")), 3);
        assert_eq!(block.upper(Bound::Included(b"b")), 3);
        assert_eq!(block.upper(Bound::Excluded(b"b")), 1);
        assert_eq!(block.lower(Bound::Included(b"z")), 4);
    }

    #[test]
    fn damaged_blocks_are_refused() {
        let whole = sample().data.to_vec();
        for length in 0..whole.len() {
            assert!(Block::parse(Bytes::copy_from_slice(&whole[..length])).is_none(), "cut at {length}");
        }
    }
}
