//! `GetShardIterator`, and the encoding of iterators: a position in a shard and the time of issue, with a checksum that
//! detects invalid input.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use keyform_core::Error;
use keyform_core::error::stream as texts;
use keyform_core::limits::SHARD_ITERATOR_SECS;
use keyform_core::operation::{GetShardIterator, SequenceNumber, ShardPosition};
use twox_hash::XxHash3_64;

use crate::catalog::{Position, Shard, Stream};
use crate::engine::Engine;
use crate::key_space::TableId;

/// Position to read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardIterator {
    /// Number of the stream's table.
    pub table: TableId,
    /// Number of the stream within the table.
    pub stream: u32,
    /// Number of the shard within the stream.
    pub shard: u32,
    /// First record that may be returned; `None` means the oldest one available.
    pub from: Option<Position>,
    /// Time of issue; iterators expire.
    pub issued_ms: u64,
}

const VERSION: u8 = 1;
const BODY_BYTES: usize = 1 + 4 + 4 + 4 + 1 + 10 + 8;

impl Engine {
    pub(crate) fn get_shard_iterator(&self, request: &GetShardIterator) -> Result<String, Error> {
        // Read the durable position before the shard, so that no record that becomes durable in between is skipped.
        let durable = self.snapshot().seqno();
        let stream = self.stream_of_arn(&request.arn)?;
        let shard = stream.shards.iter().find(|shard| shard.id() == request.shard);
        let shard = shard.ok_or_else(|| texts::shard_not_found(&request.shard, &request.arn))?;
        let from = match request.position {
            ShardPosition::TrimHorizon => None,
            ShardPosition::Latest => Some(Position::before(durable + 1)),
            ShardPosition::At(sequence) => Some(checked(shard, sequence)?),
            ShardPosition::After(sequence) => Some(checked(shard, sequence)?.next()),
        };
        let iterator = ShardIterator::new(&stream, shard, from, self.now_ms());
        Ok(iterator.encode())
    }
}

fn checked(shard: &Shard, sequence: SequenceNumber) -> Result<Position, Error> {
    let position = Position::of_sequence(sequence).ok_or_else(texts::sequence_outside_shard)?;
    let is_before = position.seqno <= shard.start;
    let is_after = shard.end.is_some_and(|end| position.seqno > end.seqno);
    if is_before || is_after {
        return Err(texts::sequence_outside_shard());
    }
    if shard.meter.trimmed().is_some_and(|trimmed| position <= trimmed) {
        return Err(texts::trimmed());
    }
    Ok(position)
}

impl ShardIterator {
    pub fn new(stream: &Stream, shard: &Shard, from: Option<Position>, issued_ms: u64) -> Self {
        Self { table: stream.table_id, stream: stream.number, shard: shard.number, from, issued_ms }
    }

    /// Encodes the iterator for callers.
    pub fn encode(self) -> String {
        let mut bytes = Vec::with_capacity(BODY_BYTES + 8);
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.table.0.to_be_bytes());
        bytes.extend_from_slice(&self.stream.to_be_bytes());
        bytes.extend_from_slice(&self.shard.to_be_bytes());
        bytes.push(u8::from(self.from.is_some()));
        bytes.extend_from_slice(&self.from.unwrap_or(Position::before(0)).to_bytes());
        bytes.extend_from_slice(&self.issued_ms.to_be_bytes());
        bytes.extend_from_slice(&XxHash3_64::oneshot(&bytes).to_be_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Decodes an iterator.
    ///
    /// # Errors
    /// When the iterator is invalid or has expired.
    pub fn decode(text: &str, now_ms: u64) -> Result<Self, Error> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok();
        let iterator = bytes.as_deref().and_then(Self::of_bytes).ok_or_else(texts::invalid_iterator)?;
        if now_ms > iterator.issued_ms.saturating_add(SHARD_ITERATOR_SECS * 1000) {
            return Err(texts::expired_iterator());
        }
        Ok(iterator)
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk::<8>()?;
        if body.len() != BODY_BYTES || XxHash3_64::oneshot(body) != u64::from_be_bytes(*sum) {
            return None;
        }
        let (version, rest) = body.split_first()?;
        let (table, rest) = rest.split_first_chunk::<4>()?;
        let (stream, rest) = rest.split_first_chunk::<4>()?;
        let (shard, rest) = rest.split_first_chunk::<4>()?;
        let (placed, rest) = rest.split_first()?;
        let (position, issued_ms) = rest.split_first_chunk::<10>()?;
        (*version == VERSION).then_some(Self {
            table: TableId(u32::from_be_bytes(*table)),
            stream: u32::from_be_bytes(*stream),
            shard: u32::from_be_bytes(*shard),
            from: if *placed == 1 { Position::of_key(position) } else { None },
            issued_ms: u64::from_be_bytes(issued_ms.try_into().ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use keyform_core::ErrorCode;

    use super::*;

    #[test]
    fn iterators_come_back_until_they_are_too_old() {
        let from = Some(Position { seqno: 77, place: 3 });
        let iterator = ShardIterator { table: TableId(1), stream: 2, shard: 3, from, issued_ms: 5_000 };
        let text = iterator.encode();
        assert_eq!(ShardIterator::decode(&text, 905_000), Ok(iterator));
        let code = |result: Result<ShardIterator, Error>| result.map_err(|error| error.code());
        assert_eq!(code(ShardIterator::decode(&text, 905_001)), Err(ErrorCode::ExpiredIterator));
        assert_eq!(code(ShardIterator::decode(&text[1..], 0)), Err(ErrorCode::Validation));
        assert_eq!(code(ShardIterator::decode("x", 0)), Err(ErrorCode::Validation));
    }
}
