//! Requests that create the tables of a model.

use keyform_core::operation::{CreateTable, TimeToLive, UpdateTimeToLive};
use keyform_core::table::{
    BillingMode, GlobalIndex, KeySchema, LocalIndex, Projection, ScalarType, SseSpecification, StreamView, TableClass,
    Throughput,
};

use crate::document::ast::{self, KeyType};
use crate::schema::{Index, KeyAttribute, Table};

use super::Inputs;

/// Returns the request that creates a table with its indexes.
#[must_use]
pub fn create_table(table: &Table, inputs: &Inputs<'_>) -> CreateTable {
    table_request(table, inputs.table_name(table))
}

/// Returns the request that creates a table under this name in the store.
#[must_use]
pub fn table_request(table: &Table, name: String) -> CreateTable {
    let (global, local): (Vec<&Index>, Vec<&Index>) = table.indexes.iter().partition(|index| !index.local);
    let mut request = CreateTable {
        key: schema(table.partition.as_slice(), table.sort.as_slice()),
        global_indexes: global.into_iter().map(global_index).collect(),
        local_indexes: local.into_iter().map(local_index).collect(),
        stream: table.stream.map(|view| stream(view.value)),
        class: Some(match table.class {
            ast::TableClass::Standard => TableClass::Standard,
            ast::TableClass::Infrequent => TableClass::StandardInfrequentAccess,
        }),
        deletion_protected: table.protected,
        ..CreateTable::named(name)
    };
    let keys = table.indexes.iter().flat_map(|index| index.partition.iter().chain(&index.sort));
    for key in keys.chain(&table.partition).chain(&table.sort) {
        request.attributes.insert(key.name.clone(), scalar(key.kind));
    }
    if let ast::Billing::Provisioned { reads, writes } = table.billing {
        request.billing = BillingMode::Provisioned;
        let throughput = Some(Throughput { read: reads, write: writes });
        request.throughput = throughput;
        request.global_indexes.iter_mut().for_each(|index| index.throughput = throughput);
    }
    request.sse = encryption(&table.encryption);
    request
}

fn encryption(encryption: &ast::Encryption) -> Option<SseSpecification> {
    match encryption {
        ast::Encryption::Owned => None,
        ast::Encryption::Managed => Some(SseSpecification { enabled: true, kms_key: None }),
        ast::Encryption::Kms(key) => Some(SseSpecification { enabled: true, kms_key: Some(key.text.clone()) }),
    }
}

/// Returns the request that enables expiry, if the table has a TTL attribute.
#[must_use]
pub fn time_to_live(table: &Table, inputs: &Inputs<'_>) -> Option<UpdateTimeToLive> {
    let attribute = &table.ttl.as_ref()?.value;
    Some(UpdateTimeToLive {
        table: inputs.table_name(table),
        setting: TimeToLive { attribute: attribute.clone(), enabled: true },
    })
}

fn schema(partition: &[KeyAttribute], sort: &[KeyAttribute]) -> KeySchema {
    let names = |keys: &[KeyAttribute]| keys.iter().map(|key| key.name.clone()).collect();
    KeySchema { partition: names(partition), sort: names(sort) }
}

fn global_index(index: &Index) -> GlobalIndex {
    GlobalIndex {
        name: index.physical.clone(),
        key: schema(&index.partition, &index.sort),
        projection: projection(index),
        throughput: None,
        on_demand: None,
        warm: None,
    }
}

fn local_index(index: &Index) -> LocalIndex {
    LocalIndex {
        name: index.physical.clone(),
        key: schema(&index.partition, &index.sort),
        projection: projection(index),
    }
}

fn projection(index: &Index) -> Projection {
    match &index.projection {
        None => Projection::All,
        Some(names) if names.is_empty() => Projection::KeysOnly,
        Some(names) => Projection::Include(names.iter().map(|name| name.value.clone()).collect()),
    }
}

fn scalar(kind: KeyType) -> ScalarType {
    match kind {
        KeyType::String => ScalarType::S,
        KeyType::Number => ScalarType::N,
        KeyType::Binary => ScalarType::B,
    }
}

fn stream(view: ast::StreamView) -> StreamView {
    match view {
        ast::StreamView::NewAndOld => StreamView::NewAndOldImages,
        ast::StreamView::New => StreamView::NewImage,
        ast::StreamView::Old => StreamView::OldImage,
        ast::StreamView::Keys => StreamView::KeysOnly,
    }
}
