//! Position of a reader in a stream: one position per shard being read. Its text form survives restarts.
//!
//! ```text
//! version:u8 stream:u64 (length:u8 shard kind:u8 [sequence:u128 | time:u64])*   base64url, all big-endian
//! ```

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use keyform_core::operation::SequenceNumber;
use sha2::{Digest, Sha256};

const VERSION: u8 = 1;
/// Common prefix of shard ids, left out of the encoding.
const PREFIX: &str = "shardId-";

/// Position in a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardOffset {
    /// Before the first record.
    Start,
    /// After the record with this sequence number.
    After(SequenceNumber),
    /// Before the first record at or after this time, in milliseconds since 1970. Used while no record has been seen.
    Since(u64),
}

/// Position in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Hash of the stream's ARN.
    pub stream: u64,
    /// Shards being read. All others have been read to their end, or descend from one of these.
    pub shards: BTreeMap<String, ShardOffset>,
}

impl Position {
    /// Creates a position without shards.
    #[must_use]
    pub fn new(arn: &str) -> Self {
        Self { stream: hash(arn.as_bytes()), shards: BTreeMap::new() }
    }

    /// Encodes the position in a versioned format, which survives restarts.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&self.stream.to_be_bytes());
        for (shard, place) in &self.shards {
            let (has_prefix, name) = shard.strip_prefix(PREFIX).map_or((0, shard.as_str()), |name| (1, name));
            // Shard ids have at most 65 characters.
            bytes.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
            bytes.extend(name.bytes().take(usize::from(u8::MAX)));
            match place {
                ShardOffset::Start => bytes.push(has_prefix),
                ShardOffset::After(sequence) => {
                    bytes.push(2 | has_prefix);
                    bytes.extend_from_slice(&sequence.0.to_be_bytes());
                }
                ShardOffset::Since(millis) => {
                    bytes.push(4 | has_prefix);
                    bytes.extend_from_slice(&millis.to_be_bytes());
                }
            }
        }
        bytes
    }

    /// Decodes a position; `None` if the bytes are invalid.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (&VERSION, bytes) = bytes.split_first()? else { return None };
        let (stream, mut bytes) = bytes.split_first_chunk()?;
        let mut shards = BTreeMap::new();
        while let Some((&length, rest)) = bytes.split_first() {
            let (name, rest) = rest.split_at_checked(usize::from(length))?;
            let (&kind, rest) = rest.split_first()?;
            let name = std::str::from_utf8(name).ok()?;
            let shard = if kind & 1 == 1 { format!("{PREFIX}{name}") } else { name.to_owned() };
            let (place, rest) = place(kind >> 1, rest)?;
            shards.insert(shard, place);
            bytes = rest;
        }
        Some(Self { stream: u64::from_be_bytes(*stream), shards })
    }

    /// Encodes the position as base64url.
    #[must_use]
    pub fn to_text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.to_bytes())
    }

    /// Decodes a position from base64url; `None` if the text is invalid.
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        Self::of_bytes(&URL_SAFE_NO_PAD.decode(text).ok()?)
    }
}

fn place(kind: u8, bytes: &[u8]) -> Option<(ShardOffset, &[u8])> {
    match kind {
        0 => Some((ShardOffset::Start, bytes)),
        1 => bytes
            .split_first_chunk()
            .map(|(sequence, rest)| (ShardOffset::After(SequenceNumber(u128::from_be_bytes(*sequence))), rest)),
        2 => bytes.split_first_chunk().map(|(millis, rest)| (ShardOffset::Since(u64::from_be_bytes(*millis)), rest)),
        _ => None,
    }
}

/// Returns the first eight bytes of the SHA-256.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let digest = Sha256::digest(bytes);
    digest.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_back_from_their_texts() {
        let mut position = Position::new("arn:aws:dynamodb:eu-central-1:1:table/t/stream/x");
        assert_eq!(Position::of_text(&position.to_text()), Some(position.clone()));
        position
            .shards
            .insert("shardId-00000001541626099285-f35f62ef".to_owned(), ShardOffset::After(SequenceNumber(1 << 90)));
        position.shards.insert("other".to_owned(), ShardOffset::Start);
        position.shards.insert("shardId-2".to_owned(), ShardOffset::Since(1_700_000_000_000));
        assert_eq!(Position::of_text(&position.to_text()), Some(position.clone()));
        let text = position.to_text();
        assert_eq!(Position::of_text(&text[..text.len() - 4]), None);
        assert_eq!(Position::of_text("no position"), None);
        assert_eq!(Position::of_text(""), None);
    }
}
