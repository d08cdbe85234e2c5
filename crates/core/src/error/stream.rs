//! Errors about streams, shards and shard iterators.

use super::{Error, ErrorCode};

/// The stream does not exist.
pub fn stream_not_found(arn: &str) -> Error {
    Error::new(ErrorCode::ResourceNotFound, format!("Requested resource not found: Stream: {arn} not found"))
}

/// The stream has no shard with this id.
pub fn shard_not_found(shard: &str, arn: &str) -> Error {
    Error::new(
        ErrorCode::ResourceNotFound,
        format!("Requested resource not found: Shard: {shard} in Stream: {arn} not found"),
    )
}

/// The sequence number is outside the shard.
pub fn sequence_outside_shard() -> Error {
    Error::validation("Invalid SequenceNumber for the shard")
}

/// The iterator is malformed.
pub fn invalid_iterator() -> Error {
    Error::validation("Invalid ShardIterator")
}

/// The iterator is older than 15 minutes.
pub fn expired_iterator() -> Error {
    Error::new(
        ErrorCode::ExpiredIterator,
        "Iterator expired. The iterator was created at an earlier time and is older than 15 minutes.",
    )
}

/// The requested records are older than the stream's retention and were trimmed.
pub fn trimmed() -> Error {
    Error::new(
        ErrorCode::TrimmedDataAccess,
        "The operation attempted to read past the oldest stream record in a shard.",
    )
}

/// A stored stream record does not decode.
pub fn stored_record_is_corrupt() -> Error {
    Error::internal("a stored stream record cannot be read; restore the data directory from a backup")
}
