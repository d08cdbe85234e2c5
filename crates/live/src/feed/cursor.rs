//! Reader of one shard.

use std::sync::Arc;

use keyform_core::operation::{ChangeRecord, GetRecords, GetRecordsOutput, GetShardIterator, ShardPosition};
use keyform_core::{Error, ErrorCode, Execute, ExecuteExt};

use super::{FeedError, ShardOffset};

/// Limit of GetRecords.
const RECORDS_MAX: usize = 1000;
/// A response of this size may have been cut off by the size limit.
const PAGE_BYTES: u64 = 900_000;
/// Attempts with a new iterator after one expired.
const TRIES_MAX: u32 = 3;

/// Reader of one shard.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    pub(crate) shard: Arc<str>,
    /// Position after the last record read.
    pub(crate) place: ShardOffset,
    iterator: Option<String>,
    /// Records before this time are skipped.
    skip_before_ms: Option<u64>,
    /// Set after a closed shard was read to its end.
    pub(crate) is_finished: bool,
}

/// Result of one request.
pub(crate) struct Page {
    pub(crate) records: Vec<ChangeRecord>,
    /// Set if more records may be available immediately.
    pub(crate) is_full: bool,
}

impl Cursor {
    pub(crate) fn new(shard: &str, place: ShardOffset) -> Self {
        let skip_before_ms = if let ShardOffset::Since(millis) = place { Some(millis) } else { None };
        Self { shard: shard.into(), place, iterator: None, skip_before_ms, is_finished: false }
    }

    /// Creates a reader of new records, for stores that cannot report their latest sequence number.
    pub(crate) async fn latest(store: &dyn Execute, arn: &str, shard: &str, now_ms: u64) -> Result<Self, FeedError> {
        let mut cursor = Self::new(shard, ShardOffset::Since(now_ms));
        cursor.skip_before_ms = None;
        cursor.iterator = Some(iterator(store, arn, shard, ShardPosition::Latest).await?);
        Ok(cursor)
    }

    /// Reads the next page.
    pub(crate) async fn read(&mut self, store: &dyn Execute, arn: &str) -> Result<Page, FeedError> {
        let mut tries = 0;
        let output = loop {
            match self.ask(store, arn).await {
                Ok(output) => break output,
                Err(error) => {
                    self.iterator = None;
                    tries += 1;
                    self.check(error, tries)?;
                }
            }
        };
        self.is_finished = output.next.is_none();
        self.iterator = output.next;
        let bytes: u64 = output.records.iter().map(|record| record.size_bytes).sum();
        let is_full = output.records.len() >= RECORDS_MAX || bytes >= PAGE_BYTES;
        if let Some(last) = output.records.last() {
            self.place = ShardOffset::After(last.sequence);
        }
        let mut records = output.records;
        if let Some(millis) = self.skip_before_ms {
            records.retain(|record| record.at_ms >= millis);
        }
        Ok(Page { records, is_full })
    }

    async fn ask(&mut self, store: &dyn Execute, arn: &str) -> Result<GetRecordsOutput, Error> {
        let iterator = match self.iterator.clone() {
            Some(iterator) => iterator,
            None => {
                let position = match self.place {
                    ShardOffset::Start | ShardOffset::Since(_) => ShardPosition::TrimHorizon,
                    ShardOffset::After(sequence) => ShardPosition::After(sequence),
                };
                if let ShardOffset::Since(millis) = self.place {
                    self.skip_before_ms = Some(millis);
                }
                iterator(store, arn, &self.shard, position).await?
            }
        };
        let get = GetRecords { iterator, limit: Some(RECORDS_MAX) };
        store.call(get).await
    }

    /// Returns the error unless another attempt may succeed.
    fn check(&self, error: Error, tries: u32) -> Result<(), FeedError> {
        let again = tries < TRIES_MAX;
        match error.code() {
            ErrorCode::ExpiredIterator if again => Ok(()),
            // The oldest records were trimmed: the shard now starts later.
            ErrorCode::TrimmedDataAccess if again && !matches!(self.place, ShardOffset::After(_)) => Ok(()),
            ErrorCode::TrimmedDataAccess | ErrorCode::ResourceNotFound => Err(FeedError::TooOld),
            // The shard cannot have this sequence number: it comes from another store.
            ErrorCode::Validation if matches!(self.place, ShardOffset::After(_)) => Err(FeedError::TooOld),
            _ => Err(FeedError::Store(error)),
        }
    }
}

async fn iterator(store: &dyn Execute, arn: &str, shard: &str, position: ShardPosition) -> Result<String, Error> {
    let get = GetShardIterator { arn: arn.to_owned(), shard: shard.to_owned(), position };
    store.call(get).await
}
