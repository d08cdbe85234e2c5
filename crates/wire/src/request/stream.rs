//! Stream requests: ListStreams, DescribeStream, GetShardIterator, GetRecords.

use keyform_core::Error;
use keyform_core::error::constraint::Violations;
use keyform_core::error::request;
use keyform_core::operation::{
    DescribeStream, GetRecords, GetShardIterator, ListStreams, SequenceNumber, ShardPosition,
};

use super::{Body, choice, table_name};
use crate::Echo;
use crate::json::Reader;

const LISTED_MAX: i64 = 100;
const RECORDS_MAX: i64 = 1000;
const SEQUENCE_NUMBER_LENGTH_MIN: usize = 21;
const POSITIONS: &[&str] = &["AFTER_SEQUENCE_NUMBER", "LATEST", "AT_SEQUENCE_NUMBER", "TRIM_HORIZON"];

/// Members of stream requests before they are checked.
#[derive(Default)]
struct Raw {
    arn: Option<String>,
    table: Option<String>,
    start_stream: Option<String>,
    start_shard: Option<String>,
    shard: Option<String>,
    position: Option<String>,
    sequence: Option<String>,
    iterator: Option<String>,
    limit: Option<i64>,
    filter: Option<ShardFilter>,
}

/// A ShardFilter before it is checked.
#[derive(Default)]
struct ShardFilter {
    kind: Option<String>,
    shard: Option<String>,
}

/// Reads a ListStreams.
pub(super) fn list(body: Body<'_>) -> Result<(ListStreams, Echo), Error> {
    let (raw, echo) = body.read(|reader| read(reader, "ListStreamsInput"))?;
    check_limit(&raw, LISTED_MAX)?;
    let request = ListStreams {
        limit: limit(&raw),
        table: raw.table.map(|table| table_name::resolve(Some(table))),
        start: raw.start_stream,
    };
    Ok((request, echo))
}

/// Reads a DescribeStream.
pub(super) fn describe(body: Body<'_>) -> Result<(DescribeStream, Echo), Error> {
    let (raw, echo) = body.read(|reader| read(reader, "DescribeStreamInput"))?;
    let mut violations = Violations::new();
    check_given(&mut violations, raw.arn.as_deref(), "streamArn");
    if let Some(filter) = &raw.filter {
        choice::check(&mut violations, filter.kind.as_deref(), "shardFilter.type", &["CHILD_SHARDS"]);
    }
    violations.finish()?;
    check_limit(&raw, LISTED_MAX)?;
    let request = DescribeStream {
        limit: limit(&raw),
        arn: raw.arn.unwrap_or_default(),
        start_shard: raw.start_shard,
        children_of: raw.filter.and_then(|filter| filter.shard),
    };
    Ok((request, echo))
}

/// Reads a GetShardIterator.
pub(super) fn iterator(body: Body<'_>) -> Result<(GetShardIterator, Echo), Error> {
    let (raw, echo) = body.read(|reader| read(reader, "GetShardIteratorInput"))?;
    if raw.position.as_deref() == Some("AT_TIMESTAMP") {
        return Err(request::member_not_supported("ShardIteratorType AT_TIMESTAMP"));
    }
    let mut violations = Violations::new();
    check_given(&mut violations, raw.arn.as_deref(), "streamArn");
    check_given(&mut violations, raw.shard.as_deref(), "shardId");
    check_given(&mut violations, raw.position.as_deref(), "shardIteratorType");
    choice::check(&mut violations, raw.position.as_deref(), "shardIteratorType", POSITIONS);
    if raw.sequence.as_ref().is_some_and(|sequence| sequence.len() < SEQUENCE_NUMBER_LENGTH_MIN) {
        violations.few("sequenceNumber", SEQUENCE_NUMBER_LENGTH_MIN);
    }
    violations.finish()?;
    let position = position(raw.position.as_deref(), raw.sequence.as_deref())?;
    let (arn, shard) = (raw.arn.unwrap_or_default(), raw.shard.unwrap_or_default());
    Ok((GetShardIterator { arn, shard, position }, echo))
}

/// Reads a GetRecords.
pub(super) fn records(body: Body<'_>) -> Result<(GetRecords, Echo), Error> {
    let (raw, echo) = body.read(|reader| read(reader, "GetRecordsInput"))?;
    let mut violations = Violations::new();
    check_given(&mut violations, raw.iterator.as_deref(), "shardIterator");
    violations.finish()?;
    check_limit(&raw, RECORDS_MAX)?;
    let request = GetRecords { limit: limit(&raw), iterator: raw.iterator.unwrap_or_default() };
    Ok((request, echo))
}

fn read(reader: &mut Reader<'_>, class: &str) -> Result<Raw, Error> {
    let mut raw = Raw::default();
    reader.opt_structure(class, |reader, name| {
        match name {
            "StreamArn" => raw.arn = reader.opt_string()?,
            "TableName" => raw.table = reader.opt_string()?,
            "ExclusiveStartStreamArn" => raw.start_stream = reader.opt_string()?,
            "ExclusiveStartShardId" => raw.start_shard = reader.opt_string()?,
            "ShardId" => raw.shard = reader.opt_string()?,
            "ShardIteratorType" => raw.position = reader.opt_string()?,
            "SequenceNumber" => raw.sequence = reader.opt_string()?,
            "ShardIterator" => raw.iterator = reader.opt_string()?,
            "Limit" => raw.limit = reader.opt_integer()?,
            "ShardFilter" => raw.filter = shard_filter(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(raw)
}

fn shard_filter(reader: &mut Reader<'_>) -> Result<Option<ShardFilter>, Error> {
    let mut filter = ShardFilter::default();
    let present = reader.opt_structure("ShardFilter", |reader, name| {
        match name {
            "Type" => filter.kind = reader.opt_string()?,
            "ShardId" => filter.shard = reader.opt_string()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(present.then_some(filter))
}

fn check_given(violations: &mut Violations, value: Option<&str>, member: &str) {
    if value.is_none() {
        violations.null(member);
    }
}

fn check_limit(raw: &Raw, most: i64) -> Result<(), Error> {
    let mut violations = Violations::new();
    match raw.limit {
        Some(limit) if limit < 1 => violations.low(limit, "limit", 1),
        Some(limit) if limit > most => violations.high(limit, "limit", most),
        _ => {}
    }
    violations.finish()
}

fn limit(raw: &Raw) -> Option<usize> {
    raw.limit.and_then(|limit| usize::try_from(limit).ok())
}

fn position(kind: Option<&str>, sequence: Option<&str>) -> Result<ShardPosition, Error> {
    let at = match kind {
        Some("AT_SEQUENCE_NUMBER") => ShardPosition::At,
        Some("AFTER_SEQUENCE_NUMBER") => ShardPosition::After,
        _ if sequence.is_some() => return Err(request::sequence_number_not_wanted()),
        Some("TRIM_HORIZON") => return Ok(ShardPosition::TrimHorizon),
        _ => return Ok(ShardPosition::Latest),
    };
    let sequence = sequence.ok_or_else(request::sequence_number_missing)?;
    let sequence: SequenceNumber = sequence.parse().map_err(|_| request::sequence_number_invalid())?;
    Ok(at(sequence))
}
