//! Succession of shards: a full shard is split into two halves of its partitions, an old one is replaced by one.

use std::sync::Arc;

use keyform_core::Error;

use crate::background::for_all;
use crate::catalog::{Shard, ShardEnd, Stream, load};
use crate::engine::{Engine, store_failed};
use crate::store::Batch;

/// Limits at which a shard is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardLimits {
    /// Number of records after which a shard is split.
    pub records: u64,
    /// Age at which a shard is replaced by a new one.
    pub age_ms: u64,
    /// Maximum number of open shards per stream; a full shard beyond it is replaced instead of split.
    pub open: usize,
}

impl Default for ShardLimits {
    fn default() -> Self {
        Self { records: 200_000, age_ms: 4 * 60 * 60 * 1000, open: 16 }
    }
}

impl Engine {
    /// Closes the shards that have reached a limit and opens their children.
    pub(crate) fn follow_shards(&self) -> Result<(), Error> {
        let now_ms = self.now_ms();
        let is_due = |shard: &Shard| self.is_full(shard) || self.is_old(shard, now_ms);
        let streams: Vec<Arc<Stream>> = self.catalog.read().streams().cloned().collect();
        for_all(streams.iter().filter(|stream| stream.open_shards().any(is_due)), |stream| {
            let mut catalog = self.catalog.write();
            let Some(stream) = catalog.stream(stream.table_id, stream.number) else { return Ok(()) };
            let mut followed = Stream::clone(stream);
            self.follow(&mut followed, self.stream_end());
            let mut batch = Batch::new();
            load::stage_stream(&mut batch, &followed);
            let commit = self.accepted(batch)?;
            catalog.insert_stream(followed);
            drop(catalog);
            commit.wait().map(drop).map_err(|error| store_failed(&error))
        })
    }

    fn is_full(&self, shard: &Shard) -> bool {
        shard.meter.records() >= self.settings.shards.records
    }

    /// An empty shard never becomes old: replacing it by another empty one would achieve nothing.
    fn is_old(&self, shard: &Shard, now_ms: u64) -> bool {
        shard.meter.records() > 0 && now_ms >= shard.created_ms.saturating_add(self.settings.shards.age_ms)
    }

    fn follow(&self, stream: &mut Stream, end: ShardEnd) {
        let mut open = stream.open_shards().count();
        for place in 0..stream.shards.len() {
            let shard = &mut stream.shards[place];
            if shard.end.is_some() || !(self.is_full(shard) || self.is_old(shard, end.at_ms)) {
                continue;
            }
            shard.end = Some(end);
            let (id, first, last) = (shard.id(), *shard.hashes.start(), *shard.hashes.end());
            let middle = first + (last - first) / 2;
            if self.is_full(&stream.shards[place]) && open < self.settings.shards.open && middle < last {
                stream.add_shard(Some(id.clone()), first..=middle, end.seqno, end.at_ms);
                stream.add_shard(Some(id), middle + 1..=last, end.seqno, end.at_ms);
                open += 1;
            } else {
                stream.add_shard(Some(id), first..=last, end.seqno, end.at_ms);
            }
        }
    }
}
