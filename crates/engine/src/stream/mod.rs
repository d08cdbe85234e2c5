//! Streams of changes.
//!
//! 1. [`stage`] adds the `record` of a change to the batch of the change, under the open shard of its partition.
//! 2. `shards` closes full or old shards and opens their children; `trim` deletes records older than a day.
//! 3. `describe` lists streams and shards, `iterator` creates positions to read from, `read` returns records.

mod describe;
mod iterator;
mod past;
mod read;
mod record;
mod shards;
mod trim;

use crate::catalog::{ShardEnd, Stream};
use crate::change::Change;
use crate::engine::Engine;
use crate::key_space;
use crate::store::Batch;

pub use shards::ShardLimits;

/// Stages the record of a change if the table has a stream and the item changed.
pub fn stage(batch: &mut Batch, change: &Change<'_>) {
    let Some(stream) = change.table.stream.as_ref().filter(|stream| stream.is_enabled()) else { return };
    if change.old == change.new {
        return;
    }
    let hash = key_space::hash_of_key(&change.key.store_key).unwrap_or_default();
    let Some(shard) = stream.open_shard(hash) else { return };
    batch.append(stream.shard_prefix(shard.number), record::encode(stream, change));
    shard.meter.count();
}

/// Returns the stream with all shards closed; its records stay readable until they are trimmed.
pub(crate) fn ended(stream: &Stream, end: ShardEnd) -> Stream {
    let mut stream = stream.clone();
    stream.ended_ms = Some(end.at_ms);
    stream.close_shards(end);
    stream
}

impl Engine {
    /// Returns the end of shards that are closed now. The caller holds the catalog's write lock, so no write is in
    /// progress.
    pub(crate) fn stream_end(&self) -> ShardEnd {
        ShardEnd { seqno: self.store.stats().latest_seqno, at_ms: self.now_ms() }
    }
}
