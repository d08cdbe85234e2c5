//! The ConsumedCapacity and ItemCollectionMetrics members of responses.

use std::collections::BTreeMap;

use keyform_core::capacity::{CapacityDetail, ConsumedCapacity};
use keyform_core::operation::ItemCollectionMetrics;

use crate::Echo;
use crate::json::Writer;
use crate::value::write_attributes;

/// Writes the capacity of one table, if it is reported.
pub(super) fn one(out: &mut Writer<'_>, echo: &Echo, capacity: Option<&ConsumedCapacity>) {
    if let Some(capacity) = capacity {
        out.name("ConsumedCapacity");
        consumed(out, capacity, echo.address(&capacity.table));
    }
}

/// Writes the capacities of several tables, if they are reported.
pub(super) fn many(out: &mut Writer<'_>, echo: &Echo, capacities: &[ConsumedCapacity]) {
    if !capacities.is_empty() {
        out.name("ConsumedCapacity");
        out.array(capacities, |out, capacity| consumed(out, capacity, echo.address(&capacity.table)));
    }
}

/// Writes the size of one item collection, if it is reported.
pub(super) fn metrics(out: &mut Writer<'_>, metrics: Option<&ItemCollectionMetrics>) {
    if let Some(metrics) = metrics {
        out.name("ItemCollectionMetrics");
        collection(out, metrics);
    }
}

/// Writes the item collection sizes by table, if they are reported.
pub(super) fn metrics_by_table(
    out: &mut Writer<'_>,
    echo: &Echo,
    tables: &BTreeMap<String, Vec<ItemCollectionMetrics>>,
) {
    if tables.is_empty() {
        return;
    }
    out.object_member("ItemCollectionMetrics", |out| {
        for (table, metrics) in tables {
            out.name(echo.address(table));
            out.array(metrics, collection);
        }
    });
}

fn collection(out: &mut Writer<'_>, metrics: &ItemCollectionMetrics) {
    out.object(|out| {
        out.name("ItemCollectionKey");
        write_attributes(out, &metrics.key);
        out.name("SizeEstimateRangeGB");
        out.array(metrics.size_gigabytes, |out, size| out.decimal(size));
    });
}

fn consumed(out: &mut Writer<'_>, capacity: &ConsumedCapacity, table: &str) {
    out.object(|out| {
        out.string_member("TableName", table);
        units(out, capacity.total, capacity);
        if let Some(detail) = &capacity.detail {
            parts(out, detail, capacity);
        }
    });
}

fn parts(out: &mut Writer<'_>, detail: &CapacityDetail, capacity: &ConsumedCapacity) {
    out.object_member("Table", |out| units(out, detail.table, capacity));
    indexes(out, "LocalSecondaryIndexes", &detail.local, capacity);
    indexes(out, "GlobalSecondaryIndexes", &detail.global, capacity);
}

fn indexes(out: &mut Writer<'_>, member: &str, indexes: &BTreeMap<String, f64>, capacity: &ConsumedCapacity) {
    if indexes.is_empty() {
        return;
    }
    out.object_member(member, |out| {
        for (index, total) in indexes {
            out.object_member(index, |out| units(out, *total, capacity));
        }
    });
}

/// Writes the units of a table or an index. A transaction reports them as read or write units too.
fn units(out: &mut Writer<'_>, total: f64, capacity: &ConsumedCapacity) {
    out.decimal_member("CapacityUnits", total);
    if capacity.read.is_some() {
        out.decimal_member("ReadCapacityUnits", total);
    }
    if capacity.write.is_some() {
        out.decimal_member("WriteCapacityUnits", total);
    }
}
