//! `DescribeTable`, and the description that other responses contain.

use keyform_core::Error;
use keyform_core::error::table as texts;
use keyform_core::operation::DescribeTable;
use keyform_core::table::{
    BillingMode, GlobalIndex, GlobalIndexDescription, LocalIndex, LocalIndexDescription, SseDescription,
    SseSpecification, Status, StreamSummary, TableDescription,
};

use super::arn::{index_arn, kms_key_arn, stream_arn, stream_label, table_arn};
use crate::catalog::{Index, IndexKind, Table, TableSettings};
use crate::engine::{Engine, EngineSettings, Started};

impl Engine {
    pub(crate) fn describe_table(&self, request: &DescribeTable) -> Result<Started<Box<TableDescription>>, Error> {
        let catalog = self.catalog.read();
        let table = catalog.find(&request.table).ok_or_else(|| texts::table_not_found(&request.table))?;
        Ok(self.told(self.description(table, Status::Active)))
    }

    /// Returns the table's description, as the responses of all table operations contain it.
    pub(crate) fn description(&self, table: &Table, status: Status) -> Box<TableDescription> {
        let now_ms = self.now_ms();
        let mut described = description(&self.settings, table, status);
        described.throughput = described.throughput.at(now_ms);
        for index in &mut described.global_indexes {
            index.throughput = index.throughput.at(now_ms);
        }
        Box::new(described)
    }
}

fn description(settings: &EngineSettings, table: &Table, status: Status) -> TableDescription {
    let kept: &TableSettings = &table.settings;
    TableDescription {
        name: table.name.clone(),
        id: kept.uuid.clone(),
        arn: table_arn(settings, &table.name),
        status,
        created_ms: kept.created_ms,
        attributes: table.attributes.clone(),
        key: table.key.schema(),
        billing: kept.billing,
        on_demand_since_ms: kept.on_demand_since_ms,
        throughput: kept.throughput,
        on_demand: kept.on_demand,
        warm: kept.warm,
        item_count: table.statistics.items(),
        size_bytes: table.statistics.bytes(),
        global_indexes: table.indexes.iter().filter_map(|index| global_index(settings, table, index)).collect(),
        local_indexes: table.indexes.iter().filter_map(|index| local_index(settings, table, index)).collect(),
        stream: stream(settings, table),
        sse: kept.sse.as_ref().and_then(|sse| encryption(settings, sse)),
        class: kept.class,
        class_since_ms: kept.class_since_ms,
        deletion_protected: kept.deletion_protected,
    }
}

fn global_index(settings: &EngineSettings, table: &Table, index: &Index) -> Option<GlobalIndexDescription> {
    let IndexKind::Global { status, backfilling, throughput, on_demand, warm } = &index.kind else { return None };
    let provisioned = table.settings.billing == BillingMode::Provisioned;
    Some(GlobalIndexDescription {
        index: GlobalIndex {
            name: index.name.clone(),
            key: index.key.schema(),
            projection: index.projection.clone(),
            throughput: provisioned.then_some(throughput.units),
            on_demand: *on_demand,
            warm: *warm,
        },
        arn: index_arn(settings, &table.name, &index.name),
        status: *status,
        backfilling: *backfilling,
        throughput: *throughput,
        item_count: index.statistics.items(),
        size_bytes: index.statistics.bytes(),
    })
}

fn local_index(settings: &EngineSettings, table: &Table, index: &Index) -> Option<LocalIndexDescription> {
    index.is_local().then(|| LocalIndexDescription {
        index: LocalIndex { name: index.name.clone(), key: index.key.schema(), projection: index.projection.clone() },
        arn: index_arn(settings, &table.name, &index.name),
        item_count: index.statistics.items(),
        size_bytes: index.statistics.bytes(),
    })
}

fn stream(settings: &EngineSettings, table: &Table) -> Option<StreamSummary> {
    table.stream.as_ref().map(|stream| StreamSummary {
        enabled: stream.is_enabled(),
        view: stream.view,
        label: stream_label(stream.created_ms),
        arn: stream_arn(settings, stream),
    })
}

/// Describes encryption with a KMS key. Without one, DynamoDB reports nothing about its own encryption.
fn encryption(settings: &EngineSettings, sse: &SseSpecification) -> Option<SseDescription> {
    sse.enabled.then(|| SseDescription {
        status: "ENABLED".to_owned(),
        kms_key_arn: kms_key_arn(settings, sse.kms_key.as_deref()),
    })
}
