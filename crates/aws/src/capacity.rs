//! Consumed capacity and item collection metrics: requests them and converts them.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types;
use keyform_core::Error;
use keyform_core::capacity::{CapacityDetail, ConsumedCapacity, ReturnConsumedCapacity};
use keyform_core::operation::{ItemCollectionMetrics, ReturnItemCollectionMetrics};

use crate::value;

pub(crate) fn wanted(wanted: ReturnConsumedCapacity) -> Option<types::ReturnConsumedCapacity> {
    match wanted {
        ReturnConsumedCapacity::None => None,
        ReturnConsumedCapacity::Total => Some(types::ReturnConsumedCapacity::Total),
        ReturnConsumedCapacity::Indexes => Some(types::ReturnConsumedCapacity::Indexes),
    }
}

pub(crate) fn metrics_wanted(wanted: ReturnItemCollectionMetrics) -> Option<types::ReturnItemCollectionMetrics> {
    match wanted {
        ReturnItemCollectionMetrics::None => None,
        ReturnItemCollectionMetrics::Size => Some(types::ReturnItemCollectionMetrics::Size),
    }
}

pub(crate) fn consumed(capacity: types::ConsumedCapacity) -> ConsumedCapacity {
    ConsumedCapacity {
        table: capacity.table_name.unwrap_or_default(),
        total: capacity.capacity_units.unwrap_or_default(),
        read: capacity.read_capacity_units,
        write: capacity.write_capacity_units,
        detail: capacity.table.map(|table| CapacityDetail {
            table: table.capacity_units.unwrap_or_default(),
            local: by_index(capacity.local_secondary_indexes),
            global: by_index(capacity.global_secondary_indexes),
        }),
    }
}

pub(crate) fn all_consumed(capacities: Option<Vec<types::ConsumedCapacity>>) -> Vec<ConsumedCapacity> {
    capacities.unwrap_or_default().into_iter().map(consumed).collect()
}

fn by_index(indexes: Option<HashMap<String, types::Capacity>>) -> BTreeMap<String, f64> {
    let indexes = indexes.unwrap_or_default().into_iter();
    indexes.map(|(name, capacity)| (name, capacity.capacity_units.unwrap_or_default())).collect()
}

pub(crate) fn metrics(metrics: &types::ItemCollectionMetrics) -> Result<ItemCollectionMetrics, Error> {
    let key = metrics.item_collection_key.as_ref().map(value::attributes_from_sdk).transpose()?;
    let size = metrics.size_estimate_range_gb();
    let at = |place: usize| size.get(place).copied().unwrap_or_default();
    Ok(ItemCollectionMetrics { key: key.unwrap_or_default(), size_gigabytes: [at(0), at(1)] })
}

/// Converts the metrics of each table.
pub(crate) fn metrics_by_table(
    tables: Option<HashMap<String, Vec<types::ItemCollectionMetrics>>>,
) -> Result<BTreeMap<String, Vec<ItemCollectionMetrics>>, Error> {
    let tables = tables.unwrap_or_default().into_iter();
    tables.map(|(table, all)| Ok((table, all.iter().map(metrics).collect::<Result<_, _>>()?))).collect()
}
