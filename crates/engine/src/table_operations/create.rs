//! `CreateTable`. The table is usable at once, although the response has the status CREATING, as DynamoDB's does.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyform_core::Error;
use keyform_core::error::table as texts;
use keyform_core::operation::CreateTable;
use keyform_core::table::{
    AttributeDefinitions, BillingMode, GlobalIndex, LocalIndex, Status, StreamView, TableDescription, Tag, Throughput,
    ThroughputDescription,
};

use crate::catalog::{Index, IndexKind, KeyLayout, Projected, Statistics, Stream, Table, TableSettings, load};
use crate::engine::{Engine, Started};
use crate::key_space::TableId;
use crate::store::{Batch, SeqNo};

impl Engine {
    pub(crate) fn create_table(&self, request: CreateTable) -> Result<Started<Box<TableDescription>>, Error> {
        let mut catalog = self.catalog.write();
        if catalog.find(&request.table).is_some() {
            return Err(texts::already_exists(&request.table));
        }
        let id = catalog.take_id();
        let after_ms = catalog.newest_stream_ms(&request.table);
        let table = self.new_table(id, request, after_ms);
        let mut description = self.description(&table, Status::Creating);
        description.global_indexes.iter_mut().for_each(|index| index.status = Status::Creating);
        let mut batch = Batch::new();
        load::stage_next_id(&mut batch, catalog.next_id());
        let commit = self.save_table(&mut catalog, table, batch)?;
        Ok(Started::after(commit, description))
    }

    /// Creates the table. Its stream's label must be later than `after_ms`, the last label of an earlier table of that
    /// name.
    fn new_table(&self, id: TableId, request: CreateTable, after_ms: u64) -> Table {
        let now_ms = self.now_ms();
        let settings = self.new_settings(&request, now_ms);
        let key = KeyLayout::new(&request.key, &request.attributes);
        let mut table = Table {
            id,
            name: request.table,
            key,
            attributes: request.attributes,
            indexes: Vec::new(),
            next_index: 1,
            expiry: None,
            next_expiry: 1,
            stream: None,
            next_stream: 1,
            settings,
            statistics: Arc::new(Statistics::default()),
        };
        for index in request.local_indexes {
            add_local_index(&mut table, index);
        }
        for index in request.global_indexes {
            add_global_index(&mut table, index, Status::Active);
        }
        if let Some(view) = request.stream {
            begin_stream(&mut table, view, self.store.stats().latest_seqno, now_ms.max(after_ms + 1));
        }
        table
    }

    fn new_settings(&self, request: &CreateTable, now_ms: u64) -> TableSettings {
        TableSettings {
            uuid: self.world.uuid(),
            created_ms: now_ms,
            billing: request.billing,
            on_demand_since_ms: (request.billing == BillingMode::PayPerRequest).then_some(now_ms),
            throughput: described(request.throughput),
            on_demand: request.on_demand,
            warm: request.warm,
            sse: request.sse.clone(),
            class: request.class,
            class_since_ms: None,
            deletion_protected: request.deletion_protected,
            tags: merged_tags(&[], &request.tags),
        }
    }
}

fn described(throughput: Option<Throughput>) -> ThroughputDescription {
    ThroughputDescription { units: throughput.unwrap_or_default(), ..Default::default() }
}

/// Merges tags, sorted by key; a later one replaces an earlier one with the same key.
pub(super) fn merged_tags(old: &[Tag], new: &[Tag]) -> Vec<Tag> {
    let by_key: BTreeMap<&str, &Tag> = old.iter().chain(new).map(|tag| (tag.key.as_str(), tag)).collect();
    by_key.into_values().cloned().collect()
}

fn add_local_index(table: &mut Table, index: LocalIndex) {
    let key = KeyLayout::new(&index.key, &table.attributes);
    let index = Index {
        id: table.take_index_id(),
        name: index.name,
        kind: IndexKind::Local,
        projected: Projected::new(&index.projection, &table.key, &key),
        key,
        projection: index.projection,
        statistics: Arc::new(Statistics::default()),
    };
    table.indexes.push(index);
}

/// Adds a global index. All its key attributes must be defined.
pub(super) fn add_global_index(table: &mut Table, index: GlobalIndex, status: Status) {
    let attributes: &AttributeDefinitions = &table.attributes;
    let key = KeyLayout::new(&index.key, attributes);
    let kind = IndexKind::Global {
        status,
        backfilling: status == Status::Creating,
        throughput: described(index.throughput),
        on_demand: index.on_demand,
        warm: index.warm,
    };
    let index = Index {
        id: table.take_index_id(),
        name: index.name,
        kind,
        projected: Projected::new(&index.projection, &table.key, &key),
        key,
        projection: index.projection,
        statistics: Arc::new(Statistics::default()),
    };
    table.indexes.push(index);
}

/// Adds a new stream with one shard to a table.
pub(super) fn begin_stream(table: &mut Table, view: StreamView, after: SeqNo, created_ms: u64) {
    let mut stream = Stream {
        table: table.name.clone(),
        table_id: table.id,
        number: table.next_stream,
        key: table.key.schema(),
        view,
        created_ms,
        ended_ms: None,
        shards: Vec::new(),
        next_shard: 0,
    };
    stream.add_shard(None, 0..=u64::MAX, after, created_ms);
    table.next_stream += 1;
    table.stream = Some(Arc::new(stream));
}
