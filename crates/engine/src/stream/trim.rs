//! Trimming: deletes records older than a day, then their shards, then streams that have ended.

use std::ops::Bound;
use std::sync::Arc;

use keyform_core::Error;
use keyform_core::error::stream::stored_record_is_corrupt;
use keyform_core::limits::STREAM_RETENTION_SECS;

use super::record;
use crate::background::for_all;
use crate::catalog::{Position, Shard, Stream, load};
use crate::engine::{Engine, store_failed};
use crate::key_space;
use crate::store::Batch;

/// Records deleted per commit.
const CHUNK: usize = 1000;

impl Engine {
    pub(crate) fn trim_streams(&self) -> Result<(), Error> {
        let horizon_ms = self.now_ms().saturating_sub(STREAM_RETENTION_SECS * 1000);
        let current: Vec<Arc<Stream>> = self.catalog.read().streams().cloned().collect();
        // A stream created after the horizon has no record that is old enough.
        let past = self.past_streams(|stream| stream.created_ms <= horizon_ms)?;
        let trimmed = for_all(current, |stream| self.trim_stream(&stream, horizon_ms));
        let past_trimmed = for_all(past, |past| self.trim_past_stream(&past, horizon_ms));
        trimmed.and(past_trimmed)
    }

    fn trim_past_stream(&self, past: &Stream, horizon_ms: u64) -> Result<(), Error> {
        if self.work.is_stopping() {
            return Ok(());
        }
        let stream = self.find_stream(&self.catalog.read(), past.table_id, past.number)?;
        stream.map_or(Ok(()), |stream| self.trim_stream(&stream, horizon_ms))
    }

    fn trim_stream(&self, stream: &Stream, horizon_ms: u64) -> Result<(), Error> {
        if stream.shards.iter().any(|shard| is_over(shard, horizon_ms)) {
            self.forget_shards(stream, horizon_ms)?;
        }
        for_all(stream.shards.iter().filter(|shard| !is_over(shard, horizon_ms)), |shard| {
            while !self.work.is_stopping() && self.trim_chunk(stream, shard, horizon_ms)? {}
            Ok(())
        })
    }

    /// Deletes the oldest records of a shard; returns whether there may be more.
    fn trim_chunk(&self, stream: &Stream, shard: &Shard, horizon_ms: u64) -> Result<bool, Error> {
        let mut batch = Batch::new();
        let mut last = None;
        let prefix = stream.shard_prefix(shard.number);
        let lower =
            shard.meter.trimmed().map_or(prefix.clone(), |position| [&prefix[..], &position.to_bytes()].concat());
        let upper = key_space::after_prefix(&prefix);
        let upper = upper.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        for entry in self.store.snapshot().range(Bound::Included(&lower), upper).take(CHUNK) {
            let (key, stored) = entry.map_err(|error| store_failed(&error))?;
            if record::at_ms(&stored).ok_or_else(stored_record_is_corrupt)? > horizon_ms {
                break;
            }
            last = Position::of_key(&key);
            batch.delete(key);
        }
        let Some(last) = last else { return Ok(false) };
        let more = batch.len() == CHUNK;
        load::stage_trimmed(&mut batch, stream, shard.number, last);
        // Readers must see the trim position before the deletion is durable. If the store rejects the commit after all,
        // the records stay, but are no longer returned, until their shard is deleted.
        self.admit()?;
        shard.meter.set_trimmed(last);
        self.store.commit(batch).wait().map_err(|error| store_failed(&error))?;
        Ok(more)
    }

    /// Deletes shards that were closed more than a day ago, with all their records, and the stream if none is left.
    fn forget_shards(&self, stream: &Stream, horizon_ms: u64) -> Result<(), Error> {
        let mut catalog = self.catalog.write();
        let stream = self.find_stream(&catalog, stream.table_id, stream.number)?;
        let Some(mut kept) = stream.map(Arc::unwrap_or_clone) else { return Ok(()) };
        let mut batch = Batch::new();
        for shard in kept.shards.iter().filter(|shard| is_over(shard, horizon_ms)) {
            load::stage_garbage(&mut batch, &kept.shard_prefix(shard.number));
            load::stage_trimmed_removal(&mut batch, &kept, shard.number);
        }
        kept.shards.retain(|shard| !is_over(shard, horizon_ms));
        let is_gone = kept.shards.is_empty() && !kept.is_enabled();
        if is_gone {
            load::stage_stream_removal(&mut batch, &kept);
        } else {
            load::stage_stream(&mut batch, &kept);
        }
        let commit = self.accepted(batch)?;
        if is_gone {
            catalog.remove_stream(&kept);
        } else {
            catalog.insert_stream(kept);
        }
        drop(catalog);
        commit.wait().map(drop).map_err(|error| store_failed(&error))
    }
}

fn is_over(shard: &Shard, horizon_ms: u64) -> bool {
    shard.end.is_some_and(|end| end.at_ms <= horizon_ms)
}
