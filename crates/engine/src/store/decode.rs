//! Decoders of the store's files, exposed for fuzzing: they accept arbitrary bytes without panicking.
//!
//! Except for the header, they decode pieces after their seal was verified, so only a bug in the writer, or tampering
//! with an unencrypted store, can make the input arbitrary.

use std::ops::Bound;

use bytes::Bytes;

use super::header::{FileHeader, FileKind};
use super::manifest;
use super::replay::Payload;
use super::sorted_table::{Block, unpack};

/// Decodes the payload of a journal frame; returns the number of batches.
pub fn journal_payload(bytes: &[u8]) -> Option<usize> {
    let payload = Payload::parse(bytes)?;
    let count = payload.count();
    payload.decode(&mut |_, _, _| {})?;
    usize::try_from(count).ok()
}

/// Decodes a piece of a table as a block and visits all entries; returns their number.
pub fn table_block(bytes: &[u8]) -> Option<usize> {
    let block = Block::parse(unpack(bytes.to_vec())?)?;
    for index in 0..block.count() {
        let entry = block.entry(index);
        let key: Bytes = block.key_bytes(&entry);
        block.value_bytes(&entry);
        block.lower(Bound::Excluded(&key));
        block.upper(Bound::Included(&key));
    }
    Some(block.count())
}

/// Decodes the body of a manifest; returns the number of tables.
pub fn manifest_body(bytes: &[u8]) -> Option<usize> {
    manifest::decode(bytes, [0; 16]).map(|manifest| manifest.levels.iter().map(Vec::len).sum())
}

/// Decodes a file header; returns whether it is valid.
pub fn file_header(bytes: &[u8]) -> bool {
    FileHeader::decode(bytes, "a file", FileKind::Journal, 1).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::batch::Batch;
    use super::*;

    fn payload() -> Vec<u8> {
        let mut batch = Batch::new();
        batch.put("key", "value");
        batch.append("prefix", "record");
        let mut out = [1u64.to_le_bytes().as_slice(), &1u32.to_le_bytes()].concat();
        batch.encode(&mut out);
        out
    }

    #[test]
    fn a_payload_is_decoded() {
        assert_eq!(journal_payload(&payload()), Some(1));
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), flip in any::<usize>()) {
            journal_payload(&bytes);
            table_block(&bytes);
            manifest_body(&bytes);
            file_header(&bytes);
            let mut damaged = payload();
            let at = flip % damaged.len();
            damaged[at] ^= 1 << (flip % 8);
            journal_payload(&damaged);
        }
    }
}
