//! Streams of changes.
//!
//! 1. [`stage`] puts the `record` of a change into the batch of the change itself, under the open shard of its partition.
//! 2. `shards` closes shards that are full or old and opens those that follow; `trim` forgets what is older than a day.
//! 3. `describe` tells streams and shards, `iterator` gives places to read from, `read` the records from there on.

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
use crate::layout;
use crate::store::Batch;

pub use shards::ShardLimits;

/// Puts the record of a change into the batch, if the table has a stream and the item is not as it was.
pub fn stage(batch: &mut Batch, change: &Change<'_>) {
    let Some(stream) = change.table.stream.as_ref().filter(|stream| stream.is_enabled()) else { return };
    if change.old == change.new {
        return;
    }
    let hash = layout::hash_of_key(&change.key.store_key).unwrap_or_default();
    let Some(shard) = stream.open_shard(hash) else { return };
    batch.append(stream.shard_prefix(shard.number), record::encode(stream, change));
    shard.meter.count();
}

/// A stream that ends there: its shards are closed, its records stay.
pub(crate) fn ended(stream: &Stream, end: ShardEnd) -> Stream {
    let mut stream = stream.clone();
    stream.ended_ms = Some(end.at_ms);
    stream.close_shards(end);
    stream
}

impl Engine {
    /// The end of shards that are closed now. The caller holds the catalog's write lock, so that no change is under way.
    pub(crate) fn stream_end(&self) -> ShardEnd {
        ShardEnd { seqno: self.store.stats().latest_seqno, at_ms: self.env.now_ms() }
    }
}
