//! Catalog records in the store, and loading them when the database is opened.
//!
//! ```text
//! c name                 a table
//! s table number         a stream
//! h table number shard   trim position of a shard
//! n                      number of the next table
//! z                      all statistics; present only while the database is closed, after a clean shutdown
//! g prefix               prefix of obsolete keys
//! ```

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use keyform_core::Error;

use super::fields::wrong;
use super::{Catalog, Position, Shard, ShardMeter, Stream, Table, statistics_record, stream_record, table_record};
use crate::engine::store_failed;
use crate::key_space::{self, TableId};
use crate::store::{Batch, Snapshot};

const TABLES: u8 = b'c';
const STREAMS: u8 = b's';
const TRIMMED: u8 = b'h';
const NEXT_ID: u8 = b'n';
const STATISTICS: u8 = b'z';
const GARBAGE: u8 = b'g';

/// Stages the records of a table and of its stream.
pub fn stage_table(batch: &mut Batch, table: &Table) {
    batch.put(key_space::system_key(TABLES, table.name.as_bytes()), table_record::encode(table));
    if let Some(stream) = &table.stream {
        stage_stream(batch, stream);
    }
}

/// Stages the deletion of a table's record.
pub fn stage_table_removal(batch: &mut Batch, table: &Table) {
    batch.delete(key_space::system_key(TABLES, table.name.as_bytes()));
}

/// Stages the number of the next table.
pub fn stage_next_id(batch: &mut Batch, next_id: u32) {
    batch.put(key_space::system_key(NEXT_ID, b""), next_id.to_be_bytes().to_vec());
}

/// Stages a stream's record.
pub fn stage_stream(batch: &mut Batch, stream: &Stream) {
    batch.put(stream_key(stream.table_id, stream.number), stream_record::encode(stream));
}

/// Stages the deletion of a stream's record.
pub fn stage_stream_removal(batch: &mut Batch, stream: &Stream) {
    batch.delete(stream_key(stream.table_id, stream.number));
}

/// Stages the trim position of a shard.
pub fn stage_trimmed(batch: &mut Batch, stream: &Stream, shard: u32, position: Position) {
    batch.put(trimmed_key(stream, shard), position.to_bytes().to_vec());
}

/// Stages the deletion of a shard's trim position.
pub fn stage_trimmed_removal(batch: &mut Batch, stream: &Stream, shard: u32) {
    batch.delete(trimmed_key(stream, shard));
}

/// Stages the record that all keys with the prefix are obsolete.
pub fn stage_garbage(batch: &mut Batch, prefix: &[u8]) {
    batch.put(key_space::system_key(GARBAGE, prefix), Bytes::new());
}

/// Stages the deletion of that record, after the keys are deleted.
pub fn stage_garbage_removal(batch: &mut Batch, prefix: &[u8]) {
    batch.delete(key_space::system_key(GARBAGE, prefix));
}

/// Returns the prefixes of obsolete keys.
pub fn garbage(snapshot: &Snapshot) -> Result<Vec<Vec<u8>>, Error> {
    Ok(records(snapshot, GARBAGE)?.into_iter().map(|(prefix, _)| prefix).collect())
}

/// Stages the statistics of all tables.
pub fn stage_statistics(batch: &mut Batch, catalog: &Catalog) {
    batch.put(key_space::system_key(STATISTICS, b""), statistics_record::encode(catalog));
}

/// Stages the deletion of the statistics: from now on they are in memory only.
pub fn stage_statistics_removal(batch: &mut Batch) {
    batch.delete(key_space::system_key(STATISTICS, b""));
}

/// Catalog as read from the store when the database is opened.
pub struct Loaded {
    pub catalog: Catalog,
    /// State of the statistics of the catalog's tables.
    pub statistics: Statistics,
}

/// State of a catalog's statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistics {
    /// Restored as they were at the last clean shutdown.
    Restored,
    /// To be counted: the database is new, or was not shut down cleanly.
    Unknown,
}

/// Loads the catalog.
///
/// # Errors
/// When the store fails or a record cannot be decoded.
pub fn load(snapshot: &Snapshot, arn_prefix: String) -> Result<Loaded, Error> {
    let mut catalog = Catalog::new(arn_prefix);
    for (_, bytes) in records(snapshot, TABLES)? {
        let (table, number) = table_record::decode(bytes)?;
        let stream = number.map(|number| self::stream(snapshot, table.id, number)).transpose()?.flatten();
        catalog.insert(Table { stream: stream.map(Arc::new), ..table });
    }
    for stream in streams(snapshot) {
        let stream = stream?;
        if catalog.stream(stream.table_id, stream.number).is_none() {
            catalog.note_past_stream(&stream);
        }
    }
    if let Some(bytes) = get(snapshot, &key_space::system_key(NEXT_ID, b""))? {
        catalog.reserve_ids(bytes.as_ref().try_into().map(u32::from_be_bytes).map_err(|_| wrong("next table"))?);
    }
    let statistics = match get(snapshot, &key_space::system_key(STATISTICS, b""))? {
        Some(bytes) => {
            statistics_record::restore(bytes, &catalog)?;
            Statistics::Restored
        }
        None => Statistics::Unknown,
    };
    Ok(Loaded { catalog, statistics })
}

/// Returns all streams, including those of deleted tables, with empty meters.
pub fn streams(snapshot: &Snapshot) -> impl Iterator<Item = Result<Stream, Error>> + use<> {
    let entries = prefixed(snapshot, &key_space::system_key(STREAMS, b""));
    entries.map(|entry| stream_record::decode(entry.map_err(|error| store_failed(&error))?.1))
}

/// Returns the stream with that number, with meters restored from the store.
pub fn stream(snapshot: &Snapshot, table: TableId, number: u32) -> Result<Option<Stream>, Error> {
    let bytes = get(snapshot, &stream_key(table, number))?;
    bytes.map(|bytes| measured(snapshot, stream_record::decode(bytes)?)).transpose()
}

/// Restores the meters of the stream's shards.
fn measured(snapshot: &Snapshot, mut stream: Stream) -> Result<Stream, Error> {
    let meters = stream.shards.iter().map(|shard| meter(snapshot, &stream, shard)).collect::<Result<Vec<_>, _>>()?;
    for (shard, meter) in stream.shards.iter_mut().zip(meters) {
        shard.meter = Arc::new(meter);
    }
    Ok(stream)
}

/// Restores a shard's meter. Does not count the records: an old shard only needs to know whether it has any.
fn meter(snapshot: &Snapshot, stream: &Stream, shard: &Shard) -> Result<ShardMeter, Error> {
    let trimmed = get(snapshot, &trimmed_key(stream, shard.number))?.and_then(|bytes| Position::of_key(&bytes));
    let first = prefixed(snapshot, &stream.shard_prefix(shard.number)).next().transpose();
    let first = first.map_err(|error| store_failed(&error))?;
    Ok(ShardMeter::continuing(first.is_some().into(), trimmed))
}

fn stream_key(table: TableId, number: u32) -> Vec<u8> {
    let mut key = key_space::system_key(STREAMS, &table.0.to_be_bytes());
    key.extend_from_slice(&number.to_be_bytes());
    key
}

fn trimmed_key(stream: &Stream, shard: u32) -> Vec<u8> {
    let mut key = key_space::system_key(TRIMMED, &stream.table_id.0.to_be_bytes());
    key.extend_from_slice(&stream.number.to_be_bytes());
    key.extend_from_slice(&shard.to_be_bytes());
    key
}

fn get(snapshot: &Snapshot, key: &[u8]) -> Result<Option<Bytes>, Error> {
    snapshot.get(key).map_err(|error| store_failed(&error))
}

/// Returns all records of a kind, with the part of the key after the kind.
fn records(snapshot: &Snapshot, kind: u8) -> Result<Vec<(Vec<u8>, Bytes)>, Error> {
    let prefix = key_space::system_key(kind, b"");
    let entries = prefixed(snapshot, &prefix).map(|entry| {
        let (key, value) = entry.map_err(|error| store_failed(&error))?;
        Ok((key[prefix.len()..].to_vec(), value))
    });
    entries.collect()
}

/// Returns an iterator over all keys with the prefix, and their values.
pub fn prefixed(snapshot: &Snapshot, prefix: &[u8]) -> crate::store::Range {
    let upper = key_space::after_prefix(prefix);
    snapshot.range(Bound::Included(prefix), upper.as_deref().map_or(Bound::Unbounded, Bound::Excluded))
}
