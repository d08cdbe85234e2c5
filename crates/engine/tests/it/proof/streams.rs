//! Reads streams to their end and compares them with the differences that the naive service recorded.

use keyform_core::operation::{
    ChangeRecord, DescribeStream, GetRecords, GetShardIterator, ListStreams, ShardPosition, StreamDescription,
    UserIdentity,
};
use keyform_core::table::StreamView;
use keyform_core::{Error, Item};
use keyform_engine::Database;

use crate::proof::compare::{Mismatch, Outcome};
use crate::proof::naive::{Difference, Service, Stream};
use crate::proof::subject::Subject;

const RETENTION_MS: u64 = 24 * 60 * 60 * 1000;

/// Compares all streams of a table.
pub fn compare(subject: &Subject, service: &Service, table: &str) -> Outcome {
    let expected = &service.tables[table].streams;
    let actual = streams_of(&subject.database, table).map_err(|error| Mismatch(format!("streams: {error}")))?;
    for stream in expected {
        let described = actual.iter().find(|description| description.created_ms / 1000 == stream.created_ms / 1000);
        match described {
            Some(described) => compare_one(subject, service, stream, described)?,
            None if is_forgotten(stream, service.now_ms) => {}
            None => return Err(Mismatch(format!("the stream of {} is not there: {actual:?}", stream.created_ms))),
        }
    }
    Ok(())
}

/// Returns whether a disabled stream may be deleted, because its last record is trimmed.
fn is_forgotten(stream: &Stream, now_ms: u64) -> bool {
    let newest = stream.groups.iter().flatten().map(|difference| difference.at_ms).max();
    !stream.enabled && newest.unwrap_or(stream.created_ms) + RETENTION_MS <= now_ms
}

/// Returns descriptions of a table's streams, oldest first.
pub fn streams_of(database: &Database, table: &str) -> Result<Vec<StreamDescription>, Error> {
    let request = ListStreams { table: Some(table.to_owned()), ..ListStreams::default() };
    let listed = database.call_blocking(request)?;
    let mut streams = Vec::new();
    for listing in listed.streams {
        streams.push(describe(database, &listing.arn)?);
    }
    streams.sort_by_key(|stream| stream.created_ms);
    Ok(streams)
}

fn describe(database: &Database, arn: &str) -> Result<StreamDescription, Error> {
    let mut request = DescribeStream { arn: arn.to_owned(), ..DescribeStream::default() };
    let mut shards = Vec::new();
    loop {
        let page = database.call_blocking(request.clone())?;
        shards.extend(page.shards.clone());
        match &page.last_shard {
            Some(last) => request.start_shard = Some(last.clone()),
            None => return Ok(StreamDescription { shards, ..page }),
        }
    }
}

/// Returns all records of a stream, ordered by sequence number.
pub fn records_of(database: &Database, stream: &StreamDescription) -> Result<Vec<ChangeRecord>, Error> {
    let mut records = Vec::new();
    for shard in &stream.shards {
        let request =
            GetShardIterator { arn: stream.arn.clone(), shard: shard.id.clone(), position: ShardPosition::TrimHorizon };
        let iterator = database.call_blocking(request)?;
        read_shard(database, iterator, &mut records)?;
    }
    records.sort_by_key(|record| record.sequence);
    Ok(records)
}

fn read_shard(database: &Database, iterator: String, records: &mut Vec<ChangeRecord>) -> Result<(), Error> {
    let mut next = Some(iterator);
    while let Some(iterator) = next {
        let page = database.call_blocking(GetRecords { iterator, limit: None })?;
        if page.records.is_empty() {
            return Ok(());
        }
        records.extend(page.records);
        next = page.next;
    }
    Ok(())
}

fn compare_one(subject: &Subject, service: &Service, stream: &Stream, described: &StreamDescription) -> Outcome {
    let records = records_of(&subject.database, described).map_err(|error| Mismatch(format!("records: {error}")))?;
    if let Some(twice) = records.windows(2).find(|pair| pair[0].sequence == pair[1].sequence) {
        return Err(Mismatch(format!("a sequence number comes twice: {twice:?}")));
    }
    let mut rest = records.as_slice();
    for group in &stream.groups {
        let kept = rest.len().min(group.len());
        let (own, further) = rest.split_at(kept);
        if group_is(group, own, stream.view) {
            rest = further;
        } else if group.iter().any(|difference| difference.at_ms + RETENTION_MS > service.now_ms) {
            return Err(Mismatch(format!("the stream has {own:#?}\nwhere the difference is {group:#?}")));
        }
    }
    if rest.is_empty() { Ok(()) } else { Err(Mismatch(format!("the stream has too many records: {rest:#?}"))) }
}

fn group_is(group: &[Difference], records: &[ChangeRecord], view: StreamView) -> bool {
    if group.len() != records.len() {
        return false;
    }
    let by_time = group.iter().any(|difference| difference.identity == Some(UserIdentity::TimeToLive));
    if !by_time {
        return group.iter().zip(records).all(|(difference, record)| is(difference, record, view));
    }
    group.iter().all(|difference| records.iter().any(|record| is(difference, record, view)))
}

fn is(difference: &Difference, record: &ChangeRecord, view: StreamView) -> bool {
    let shows_old = matches!(view, StreamView::OldImage | StreamView::NewAndOldImages);
    let shows_new = matches!(view, StreamView::NewImage | StreamView::NewAndOldImages);
    record.kind == difference.kind
        && record.view == view
        && record.at_ms / 1000 == difference.at_ms / 1000
        && record.identity == difference.identity
        && record.keys == Item::from(&difference.keys)
        && record.old == difference.old.as_ref().filter(|_| shows_old).map(Item::from)
        && record.new == difference.new.as_ref().filter(|_| shows_new).map(Item::from)
}
