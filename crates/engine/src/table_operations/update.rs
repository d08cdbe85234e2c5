//! `UpdateTable`: throughput, indexes, stream and settings, validated against the current table.

use std::sync::Arc;

use keyform_core::Error;
use keyform_core::error::{schema, table as texts};
use keyform_core::limits::{GLOBAL_INDEXES_MAX, PROJECTED_ATTRIBUTES_MAX};
use keyform_core::operation::{GlobalIndexChange, StreamChange, UpdateTable};
use keyform_core::table::{
    AttributeDefinitions, BillingMode, GlobalIndex, OnDemandThroughput, Projection, Status, TableDescription,
    Throughput, ThroughputDescription, WarmThroughput,
};

use super::create::{add_global_index, begin_stream};
use crate::catalog::{Index, IndexKind, ShardEnd, Table};
use crate::engine::{Engine, Started};
use crate::store::Batch;
use crate::stream;

impl Engine {
    pub(crate) fn update_table(&self, request: UpdateTable) -> Result<Started<Box<TableDescription>>, Error> {
        let mut catalog = self.catalog.write();
        let table = catalog.find(&request.table).ok_or_else(|| texts::table_not_found(&request.table))?;
        let mut table = Table::clone(table);
        let now_ms = self.now_ms();
        change_billing(&mut table, &request, now_ms)?;
        change_indexes(&mut table, &request, now_ms)?;
        if let Some(change) = request.stream {
            let after_ms = catalog.newest_stream_ms(&table.name);
            change_stream(&mut table, change, self.stream_end(), after_ms)?;
        }
        change_settings(&mut table, request, now_ms);
        let description = self.description(&table, Status::Updating);
        let commit = self.save_table(&mut catalog, table, Batch::new())?;
        drop(catalog);
        self.work.wake();
        Ok(Started::after(commit, description))
    }
}

fn change_billing(table: &mut Table, request: &UpdateTable, now_ms: u64) -> Result<(), Error> {
    let before = table.settings.billing;
    let after = request.billing.unwrap_or(before);
    match (before, after, request.throughput) {
        (_, BillingMode::PayPerRequest, Some(_)) => return Err(texts::throughput_of_on_demand_table()),
        (BillingMode::PayPerRequest, BillingMode::Provisioned, None) => {
            return Err(texts::provisioned_without_throughput());
        }
        (BillingMode::PayPerRequest, BillingMode::Provisioned, Some(_)) => check_all_indexes_given(table, request)?,
        (BillingMode::Provisioned, BillingMode::PayPerRequest, None) => become_on_demand(table, now_ms),
        (BillingMode::PayPerRequest, BillingMode::PayPerRequest, None)
        | (BillingMode::Provisioned, BillingMode::Provisioned, _) => {}
    }
    table.settings.billing = after;
    let Some(units) = request.throughput else { return Ok(()) };
    if units == table.settings.throughput.units && changes_throughput_only(request) {
        return Err(texts::table_throughput_unchanged(units));
    }
    change_throughput(&mut table.settings.throughput, units, now_ms);
    Ok(())
}

fn check_all_indexes_given(table: &Table, request: &UpdateTable) -> Result<(), Error> {
    let is_given = |index: &Index| {
        let mut changes = request.indexes.iter();
        changes.any(|change| match change {
            GlobalIndexChange::Update { name, throughput, .. } => *name == index.name && throughput.is_some(),
            GlobalIndexChange::Delete { name } => *name == index.name,
            GlobalIndexChange::Create(_) => false,
        })
    };
    match table.indexes.iter().find(|index| !index.is_local() && !is_given(index)) {
        Some(index) => Err(texts::index_without_throughput(&index.name)),
        None => Ok(()),
    }
}

fn become_on_demand(table: &mut Table, now_ms: u64) {
    table.settings.on_demand_since_ms = Some(now_ms);
    table.settings.throughput.units = Throughput::default();
    for index in &mut table.indexes {
        if let IndexKind::Global { throughput, .. } = &mut index.kind {
            throughput.units = Throughput::default();
        }
    }
}

fn changes_throughput_only(request: &UpdateTable) -> bool {
    let alone = UpdateTable {
        table: request.table.clone(),
        attributes: request.attributes.clone(),
        billing: request.billing,
        throughput: request.throughput,
        ..Default::default()
    };
    *request == alone
}

fn change_throughput(throughput: &mut ThroughputDescription, units: Throughput, now_ms: u64) {
    let before = std::mem::replace(&mut throughput.units, units);
    if units.read > before.read || units.write > before.write {
        throughput.last_increase_ms = Some(now_ms);
    }
    if units.read < before.read || units.write < before.write {
        throughput.decreases_today = throughput.at(now_ms).decreases_today + 1;
        throughput.last_decrease_ms = Some(now_ms);
    }
}

fn change_indexes(table: &mut Table, request: &UpdateTable, now_ms: u64) -> Result<(), Error> {
    for change in &request.indexes {
        match change {
            GlobalIndexChange::Create(index) => create_index(table, &request.attributes, index)?,
            GlobalIndexChange::Update { name, throughput, on_demand, warm } => {
                update_index(
                    table,
                    name,
                    &IndexUpdate { units: *throughput, on_demand: *on_demand, warm: *warm },
                    now_ms,
                )?;
            }
            GlobalIndexChange::Delete { name } => delete_index(table, name)?,
        }
    }
    Ok(())
}

fn create_index(table: &mut Table, definitions: &AttributeDefinitions, index: &GlobalIndex) -> Result<(), Error> {
    if table.index(&index.name).is_some() {
        return Err(texts::index_already_exists(&index.name));
    }
    check_none_under_way(table)?;
    if table.indexes.iter().filter(|index| !index.is_local()).count() == GLOBAL_INDEXES_MAX {
        return Err(texts::too_many_global_indexes());
    }
    check_projected(table, index)?;
    check_index_throughput(table, index)?;
    for name in index.key.attributes() {
        define(&mut table.attributes, definitions, name)?;
    }
    add_global_index(table, index.clone(), Status::Creating);
    Ok(())
}

fn check_none_under_way(table: &Table) -> Result<(), Error> {
    let is_under_way =
        |index: &Index| matches!(index.kind, IndexKind::Global { status: Status::Creating | Status::Deleting, .. });
    if table.indexes.iter().any(is_under_way) { Err(texts::one_online_index()) } else { Ok(()) }
}

/// Checks the number of projected attributes. An attribute in several indexes counts for each of them.
fn check_projected(table: &Table, index: &GlobalIndex) -> Result<(), Error> {
    let copied = |projection: &Projection| match projection {
        Projection::Include(names) => names.len(),
        Projection::All | Projection::KeysOnly => 0,
    };
    let others: usize = table.indexes.iter().map(|other| copied(&other.projection)).sum();
    let attributes = others + copied(&index.projection);
    if attributes > PROJECTED_ATTRIBUTES_MAX { Err(schema::too_many_projected_attributes(attributes)) } else { Ok(()) }
}

fn check_index_throughput(table: &Table, index: &GlobalIndex) -> Result<(), Error> {
    match (table.settings.billing, index.throughput) {
        (BillingMode::Provisioned, None) => Err(texts::index_without_throughput(&index.name)),
        (BillingMode::PayPerRequest, Some(_)) => Err(texts::throughput_of_on_demand_table()),
        _ => Ok(()),
    }
}

/// Adds the type of a key attribute to the table's definitions.
fn define(known: &mut AttributeDefinitions, stated: &AttributeDefinitions, name: &str) -> Result<(), Error> {
    match (known.get(name), stated.get(name)) {
        (Some(known), Some(stated)) if known != stated => Err(texts::attribute_redefined(name)),
        (Some(_), _) => Ok(()),
        (None, Some(kind)) => {
            known.insert(name.to_owned(), *kind);
            Ok(())
        }
        (None, None) => Err(texts::index_key_undefined()),
    }
}

struct IndexUpdate {
    units: Option<Throughput>,
    on_demand: Option<OnDemandThroughput>,
    warm: Option<WarmThroughput>,
}

fn update_index(table: &mut Table, name: &str, update: &IndexUpdate, now_ms: u64) -> Result<(), Error> {
    let billing = table.settings.billing;
    let index = table.indexes.iter_mut().find(|index| index.name == name);
    let Some(IndexKind::Global { throughput, on_demand, warm, .. }) = index.map(|index| &mut index.kind) else {
        return Err(texts::no_index_to_update());
    };
    match update.units {
        Some(_) if billing == BillingMode::PayPerRequest => return Err(texts::throughput_of_on_demand_table()),
        Some(units) if units == throughput.units => return Err(texts::index_throughput_unchanged(name, units)),
        Some(units) => change_throughput(throughput, units, now_ms),
        None => {}
    }
    *on_demand = update.on_demand.or(*on_demand);
    *warm = update.warm.or(*warm);
    Ok(())
}

/// Marks an index for deletion. It may be deleted while it is being created, but not during another index change.
fn delete_index(table: &mut Table, name: &str) -> Result<(), Error> {
    let place = table.indexes.iter().position(|index| index.name == name && !index.is_local());
    let place = place.ok_or_else(texts::resource_not_found)?;
    if !matches!(table.indexes[place].kind, IndexKind::Global { status: Status::Creating, .. }) {
        check_none_under_way(table)?;
    }
    if let IndexKind::Global { status, backfilling, .. } = &mut table.indexes[place].kind {
        *status = Status::Deleting;
        *backfilling = false;
    }
    Ok(())
}

/// Enables or disables the stream. A new stream's creation time is its label, so it must be later than the last one.
fn change_stream(table: &mut Table, change: StreamChange, end: ShardEnd, after_ms: u64) -> Result<(), Error> {
    let enabled = table.stream.as_ref().filter(|stream| stream.is_enabled());
    match (change, enabled) {
        (StreamChange::Enable(_), Some(_)) => Err(texts::stream_already_enabled(&table.name)),
        (StreamChange::Disable, None) => Err(texts::stream_already_disabled(&table.name)),
        (StreamChange::Enable(view), None) => {
            begin_stream(table, view, end.seqno, end.at_ms.max(after_ms + 1));
            Ok(())
        }
        (StreamChange::Disable, Some(stream)) => {
            table.stream = Some(Arc::new(stream::ended(stream, end)));
            Ok(())
        }
    }
}

fn change_settings(table: &mut Table, request: UpdateTable, now_ms: u64) {
    let settings = &mut table.settings;
    settings.on_demand = request.on_demand.or(settings.on_demand);
    settings.warm = request.warm.or(settings.warm);
    settings.sse = request.sse.or(settings.sse.take());
    settings.deletion_protected = request.deletion_protected.unwrap_or(settings.deletion_protected);
    if let Some(class) = request.class.filter(|class| Some(*class) != settings.class) {
        settings.class = Some(class);
        settings.class_since_ms = Some(now_ms);
    }
}
