//! `GetRecords`.

use std::ops::Bound;
use std::sync::Arc;

use keyform_core::Error;
use keyform_core::error::stream as texts;
use keyform_core::limits::STREAM_RECORDS_MAX;
use keyform_core::operation::{ChangeRecord, GetRecords, GetRecordsOutput};

use super::iterator::ShardIterator;
use super::record;
use crate::catalog::{Position, Shard, Stream};
use crate::engine::{Engine, store_failed};
use crate::key_space;
use crate::store::Snapshot;

/// Maximum size of the records in one response.
const PAGE_BYTES_MAX: u64 = 1 << 20;

/// Records read from a shard.
struct Page {
    records: Vec<ChangeRecord>,
    /// Position after the last of them.
    next: Option<Position>,
    /// True if no record followed.
    ended: bool,
}

impl Engine {
    pub(crate) fn get_records(&self, request: &GetRecords) -> Result<GetRecordsOutput, Error> {
        let now_ms = self.now_ms();
        let iterator = ShardIterator::decode(&request.iterator, now_ms)?;
        // Take the snapshot before the shard: if the shard is closed in between, the snapshot may lack its last
        // records, and the comparison of sequence numbers below shows it.
        let snapshot = self.snapshot();
        let stream = self.stream_of_iterator(&iterator)?;
        let shard = stream.shards.iter().find(|shard| shard.number == iterator.shard).ok_or_else(texts::trimmed)?;
        check_not_trimmed(shard, iterator.from)?;
        let page = read(&snapshot, &stream, shard, iterator.from, request.limit.unwrap_or(STREAM_RECORDS_MAX))?;
        let is_all = page.ended && shard.end.is_some_and(|end| end.seqno <= snapshot.seqno());
        let from = page.next.or(iterator.from);
        let next = (!is_all).then(|| ShardIterator::new(&stream, shard, from, now_ms).encode());
        let region = self.settings.region.clone();
        Ok(GetRecordsOutput { records: page.records, next, region })
    }

    fn stream_of_iterator(&self, iterator: &ShardIterator) -> Result<Arc<Stream>, Error> {
        self.find_stream(&self.catalog.read(), iterator.table, iterator.stream)?.ok_or_else(texts::trimmed)
    }
}

fn check_not_trimmed(shard: &Shard, from: Option<Position>) -> Result<(), Error> {
    let trimmed = shard.meter.trimmed();
    if from.zip(trimmed).is_some_and(|(from, trimmed)| from <= trimmed) { Err(texts::trimmed()) } else { Ok(()) }
}

fn read(
    snapshot: &Snapshot,
    stream: &Stream,
    shard: &Shard,
    from: Option<Position>,
    limit: usize,
) -> Result<Page, Error> {
    let prefix = stream.shard_prefix(shard.number);
    let start = from.or(shard.meter.trimmed().map(Position::next));
    let lower = start.map_or(prefix.clone(), |start| [prefix.as_slice(), &start.to_bytes()].concat());
    let upper = key_space::after_prefix(&prefix);
    let upper = upper.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let mut page = Page { records: Vec::new(), next: None, ended: true };
    let mut bytes = 0;
    for entry in snapshot.range(Bound::Included(&lower), upper) {
        let (key, stored) = entry.map_err(|error| store_failed(&error))?;
        let position = Position::of_key(&key).ok_or_else(texts::stored_record_is_corrupt)?;
        let record = record::decode(stream, position, stored).ok_or_else(texts::stored_record_is_corrupt)?;
        bytes += record.size_bytes;
        let is_full = page.records.len() >= limit || (!page.records.is_empty() && bytes > PAGE_BYTES_MAX);
        if is_full {
            page.ended = false;
            break;
        }
        page.records.push(record);
        page.next = Some(position.next());
    }
    Ok(page)
}
