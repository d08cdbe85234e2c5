//! Encoding of a stream as a catalog record. The trim positions of its shards are separate records.

use std::sync::Arc;

use bytes::Bytes;
use keyform_core::Error;
use keyform_core::table::StreamView;

use super::fields::{Fields, Record, wrong};
use super::table_record::{read_schema, schema};
use super::{Shard, ShardEnd, Stream};
use crate::key_space::TableId;

/// Newest record version that this program reads; the one it writes.
const VERSION: u64 = 1;

pub fn encode(stream: &Stream) -> Bytes {
    Record::default()
        .number("version", VERSION)
        .set("table", stream.table.as_str())
        .number("table_id", stream.table_id.0)
        .number("number", stream.number)
        .set("key", schema(&stream.key).into_value())
        .set("view", stream.view.name())
        .number("created_ms", stream.created_ms)
        .maybe_number("ended_ms", stream.ended_ms)
        .list("shards", stream.shards.iter().map(|one| shard(one).into_value()))
        .number("next_shard", stream.next_shard)
        .into_bytes()
}

pub fn decode(bytes: Bytes) -> Result<Stream, Error> {
    let fields = Fields::decode(bytes)?;
    fields.check_version(VERSION)?;
    Ok(Stream {
        table: fields.text("table")?.to_owned(),
        table_id: TableId(fields.number("table_id")?),
        number: fields.number("number")?,
        key: read_schema(&fields.record("key")?)?,
        view: StreamView::from_name(fields.text("view")?).ok_or_else(|| wrong("view"))?,
        created_ms: fields.number("created_ms")?,
        ended_ms: fields.maybe_number("ended_ms")?,
        shards: fields.records("shards")?.iter().map(read_shard).collect::<Result<_, _>>()?,
        next_shard: fields.number("next_shard")?,
    })
}

fn shard(shard: &Shard) -> Record {
    Record::default()
        .number("number", shard.number)
        .maybe(shard.parent.as_deref(), |record, parent| record.set("parent", parent))
        .number("created_ms", shard.created_ms)
        .bytes("first_hash", &shard.hashes.start().to_be_bytes())
        .bytes("last_hash", &shard.hashes.end().to_be_bytes())
        .number("start", shard.start)
        .maybe(shard.end, |record, end| record.number("end", end.seqno).number("end_ms", end.at_ms))
}

fn read_shard(fields: &Fields) -> Result<Shard, Error> {
    let end = |seqno| Ok::<_, Error>(ShardEnd { seqno, at_ms: fields.number("end_ms")? });
    Ok(Shard {
        number: fields.number("number")?,
        parent: fields.maybe_text("parent")?.map(str::to_owned),
        created_ms: fields.number("created_ms")?,
        hashes: fields.word("first_hash")?..=fields.word("last_hash")?,
        start: fields.number("start")?,
        end: fields.maybe_number("end")?.map(end).transpose()?,
        meter: Arc::default(),
    })
}
