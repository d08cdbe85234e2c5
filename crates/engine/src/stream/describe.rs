//! `ListStreams` and `DescribeStream`.

use std::sync::Arc;

use keyform_core::Error;
use keyform_core::error::stream as texts;
use keyform_core::operation::{
    DescribeStream, ListStreams, ListStreamsOutput, Shard as ShardDescription, StreamDescription, StreamListing,
};
use keyform_core::table::Status;

use crate::catalog::{Position, Shard, Stream};
use crate::engine::{Engine, Started};
use crate::table_operations::{stream_arn, stream_label};

/// Default number of streams or shards per page.
const PAGE_MAX: usize = 100;

impl Engine {
    pub(crate) fn list_streams(&self, request: &ListStreams) -> Result<Started<ListStreamsOutput>, Error> {
        let limit = request.limit.unwrap_or(PAGE_MAX);
        let mut streams = self.listings(request.table.as_deref())?;
        streams.sort_by(|a, b| a.arn.cmp(&b.arn));
        streams.dedup_by(|a, b| a.arn == b.arn);
        let is_after = |stream: &StreamListing| request.start.as_ref().is_none_or(|start| stream.arn > *start);
        streams.retain(is_after);
        let more = streams.len() > limit;
        streams.truncate(limit);
        let last = streams.last().filter(|_| more).map(|stream| stream.arn.clone());
        Ok(self.told(ListStreamsOutput { streams, last }))
    }

    fn listings(&self, table: Option<&str>) -> Result<Vec<StreamListing>, Error> {
        let is_wanted = |stream: &Stream| table.is_none_or(|table| stream.table == table);
        let listing = |stream: &Stream| StreamListing {
            arn: stream_arn(&self.settings, stream),
            table: stream.table.clone(),
            label: stream_label(stream.created_ms),
        };
        let catalog = self.catalog.read();
        let mut listed: Vec<StreamListing> =
            catalog.streams().filter(|stream| is_wanted(stream)).map(|stream| listing(stream)).collect();
        drop(catalog);
        // A stream that ends at this moment may be found twice (duplicates are removed later), but never missed.
        listed.extend(self.past_streams(is_wanted)?.iter().map(listing));
        Ok(listed)
    }

    pub(crate) fn describe_stream(&self, request: &DescribeStream) -> Result<Started<StreamDescription>, Error> {
        let stream = self.stream_of_arn(&request.arn)?;
        let mut shards = shards_after(&stream, request.start_shard.as_deref());
        if let Some(parent) = &request.children_of {
            shards.retain(|shard| shard.parent.as_ref() == Some(parent));
        }
        let limit = request.limit.unwrap_or(PAGE_MAX);
        let more = shards.len() > limit;
        shards.truncate(limit);
        let last_shard = shards.last().filter(|_| more).map(|shard| shard.id());
        Ok(self.told(StreamDescription {
            arn: request.arn.clone(),
            label: stream_label(stream.created_ms),
            status: if stream.is_enabled() { Status::Active } else { Status::Deleting },
            view: stream.view,
            created_ms: stream.created_ms,
            table: stream.table.clone(),
            key: stream.key.clone(),
            shards: shards.into_iter().map(shard_description).collect(),
            last_shard,
        }))
    }

    /// Returns the stream with that ARN.
    pub(super) fn stream_of_arn(&self, arn: &str) -> Result<Arc<Stream>, Error> {
        let is_it = |stream: &Stream| stream_arn(&self.settings, stream) == arn;
        let current = self.catalog.read().streams().find(|stream| is_it(stream)).cloned();
        if let Some(stream) = current {
            return Ok(stream);
        }
        let past = self.past_streams(is_it)?.pop();
        let found = past.map(|stream| self.find_stream(&self.catalog.read(), stream.table_id, stream.number));
        found.transpose()?.flatten().ok_or_else(|| texts::stream_not_found(arn))
    }
}

/// Returns the shards after `start`, which may have been trimmed in the meantime.
fn shards_after<'a>(stream: &'a Stream, start: Option<&str>) -> Vec<&'a Shard> {
    let Some(start) = start else { return stream.shards.iter().collect() };
    match stream.shards.iter().position(|shard| shard.id() == start) {
        Some(place) => stream.shards[place + 1..].iter().collect(),
        None => stream.shards.iter().filter(|shard| shard.id().as_str() > start).collect(),
    }
}

fn shard_description(shard: &Shard) -> ShardDescription {
    ShardDescription {
        id: shard.id(),
        parent: shard.parent.clone(),
        start: Position::before(shard.start + 1).sequence(),
        end: shard.end.map(|end| Position::last_of(end.seqno).sequence()),
    }
}
