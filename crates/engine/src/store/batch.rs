//! Set of changes that becomes visible and durable together, and its encoding in the journal.
//!
//! ```text
//! batch  = count:varint op*
//! op     = 0 key:bytes               delete
//!        | 1 key:bytes value:bytes   put
//!        | 2 prefix:bytes value:bytes  append: the key is prefix ‖ sequence number ‖ position in the batch
//! ```
//!
//! The encoding does not contain the batch's sequence number; the journal frame does.

use std::borrow::Cow;

use bytes::Bytes;

use super::codec::{Reader, put_bytes, put_varint};

/// Sequence number of a commit. It increases by one with each commit and is never reused, not even after a restart.
pub type SeqNo = u64;

/// Changes that are applied atomically. A later change of a key replaces an earlier one.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    ops: Vec<Op>,
    bytes: usize,
    appends: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Op {
    Delete(Bytes),
    Put(Bytes, Bytes),
    Append(Bytes, Bytes),
}

impl Batch {
    /// Creates an empty batch.
    pub fn new() -> Self {
        Batch::default()
    }

    /// Sets `key` to `value`. The store keeps both allocations, so they should not be slices of larger buffers.
    pub fn put(&mut self, key: impl Into<Bytes>, value: impl Into<Bytes>) {
        self.push(Op::Put(key.into(), value.into()));
    }

    /// Deletes `key`, which need not exist.
    pub fn delete(&mut self, key: impl Into<Bytes>) {
        self.push(Op::Delete(key.into()));
    }

    /// Adds a record under a key that the store creates at commit time: `prefix` ‖ the commit's sequence number (u64,
    /// big-endian) ‖ the record's position among the batch's appends (u16, big-endian). Keys with the same prefix
    /// therefore sort in commit order.
    pub fn append(&mut self, prefix: impl Into<Bytes>, value: impl Into<Bytes>) {
        self.appends += 1;
        self.push(Op::Append(prefix.into(), value.into()));
    }

    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Returns whether the batch contains no changes.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Returns the total size of all keys and values.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn appends(&self) -> usize {
        self.appends
    }

    pub(super) fn into_changes(self, seqno: SeqNo) -> impl Iterator<Item = (Bytes, Option<Bytes>)> {
        let mut position = 0u16;
        self.ops.into_iter().map(move |op| match op {
            Op::Delete(key) => (key, None),
            Op::Put(key, value) => (key, Some(value)),
            Op::Append(prefix, value) => {
                let key = Bytes::from(appended_key(&prefix, seqno, position));
                position = position.wrapping_add(1);
                (key, Some(value))
            }
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.reserve(self.bytes + self.ops.len() * 12 + 4);
        put_varint(out, self.ops.len() as u64);
        for op in &self.ops {
            op.encode(out);
        }
    }

    fn push(&mut self, op: Op) {
        self.bytes += match &op {
            Op::Delete(key) => key.len(),
            Op::Put(key, value) | Op::Append(key, value) => key.len() + value.len(),
        };
        self.ops.push(op);
    }
}

impl Op {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Op::Delete(key) => {
                out.push(0);
                put_bytes(out, key);
            }
            Op::Put(key, value) => encode_pair(out, 1, key, value),
            Op::Append(prefix, value) => encode_pair(out, 2, prefix, value),
        }
    }
}

fn encode_pair(out: &mut Vec<u8>, tag: u8, key: &[u8], value: &[u8]) {
    out.push(tag);
    put_bytes(out, key);
    put_bytes(out, value);
}

/// Callback for the changes of a batch: sequence number, key, and value or `None` for a deletion.
pub(super) type VisitChange<'v, 'a> = &'v mut dyn FnMut(SeqNo, Cow<'a, [u8]>, Option<&'a [u8]>);

/// Decodes a batch and passes its changes to `visit`, in order. They borrow from the encoding, because a replay copies
/// only the newest change of each key. Returns `None` if the bytes are not valid.
pub(super) fn decode_changes<'a>(reader: &mut Reader<'a>, seqno: SeqNo, visit: VisitChange<'_, 'a>) -> Option<()> {
    let mut position = 0u16;
    for _ in 0..reader.length()? {
        let tag = reader.u8()?;
        let key = reader.bytes()?;
        match tag {
            0 => visit(seqno, Cow::Borrowed(key), None),
            1 => visit(seqno, Cow::Borrowed(key), Some(reader.bytes()?)),
            2 => {
                let value = reader.bytes()?;
                visit(seqno, Cow::Owned(appended_key(key, seqno, position)), Some(value));
                position = position.wrapping_add(1);
            }
            _ => return None,
        }
    }
    Some(())
}

fn appended_key(prefix: &[u8], seqno: SeqNo, position: u16) -> Vec<u8> {
    let mut key = Vec::with_capacity(prefix.len() + 10);
    key.extend_from_slice(prefix);
    key.extend_from_slice(&seqno.to_be_bytes());
    key.extend_from_slice(&position.to_be_bytes());
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_comes_back_from_its_encoding() {
        let mut batch = Batch::new();
        batch.put("a", vec![1u8; 300]);
        batch.delete("b");
        batch.append("s/", "record");
        let mut out = Vec::new();
        batch.encode(&mut out);
        let mut decoded = Vec::new();
        let mut visit = |seqno, key: Cow<'_, [u8]>, value: Option<&[u8]>| {
            assert_eq!(seqno, 258);
            decoded.push((Bytes::from(key.into_owned()), value.map(Bytes::copy_from_slice)));
        };
        decode_changes(&mut Reader::new(&out), 258, &mut visit).unwrap();
        assert_eq!(decoded, batch.into_changes(258).collect::<Vec<_>>());
    }

    #[test]
    fn appended_keys_hold_sequence_number_and_position() {
        let mut batch = Batch::new();
        batch.append("s/", "first");
        batch.append("s/", "second");
        let keys: Vec<Bytes> = batch.into_changes(258).map(|(key, _)| key).collect();
        assert_eq!(keys[0].as_ref(), b"s/\0\0\0\0\0\0\x01\x02\0\0");
        assert_eq!(keys[1].as_ref(), b"s/\0\0\0\0\0\0\x01\x02\0\x01");
    }
}
