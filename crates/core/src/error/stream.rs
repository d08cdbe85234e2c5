//! Texts about streams, shards and iterators.

use super::{Error, ErrorCode};

/// There is no such stream.
pub fn stream_not_found(arn: &str) -> Error {
    Error::new(ErrorCode::ResourceNotFound, format!("Requested resource not found: Stream: {arn} not found"))
}

/// The stream has no such shard.
pub fn shard_not_found(shard: &str, arn: &str) -> Error {
    Error::new(
        ErrorCode::ResourceNotFound,
        format!("Requested resource not found: Shard: {shard} in Stream: {arn} not found"),
    )
}

/// The sequence number is none of the shard's.
pub fn sequence_outside_shard() -> Error {
    Error::validation("Invalid SequenceNumber for the shard")
}

/// The iterator was not made here.
pub fn invalid_iterator() -> Error {
    Error::validation("Invalid ShardIterator")
}

/// The iterator is older than fifteen minutes.
pub fn expired_iterator() -> Error {
    Error::new(
        ErrorCode::ExpiredIterator,
        "Iterator expired. The iterator was created at an earlier time and is older than 15 minutes.",
    )
}

/// The records asked for are older than the stream keeps them.
pub fn trimmed() -> Error {
    Error::new(
        ErrorCode::TrimmedDataAccess,
        "The operation attempted to read past the oldest stream record in a shard.",
    )
}

/// A stored record cannot be read.
pub fn stored_record_is_corrupt() -> Error {
    Error::internal("a stored stream record cannot be read; restore the data directory from a backup")
}
