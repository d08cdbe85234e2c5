//! Cost report of a whole model.

use serde::Serialize;

use keyform_language::document::ast::{Billing, TableClass};
use keyform_language::plan::{Plans, ReadPlan, words};
use keyform_language::schema::{Model, Read, TableId, Write};

use super::cascade::{self, Brought};
use super::price::{ClassPrices, Prices};
use super::read::{self, ReadCost};
use super::storage::{self, TableStorage};
use super::write::{self, WriteCost};
use super::{MONTH_SECS, per_second};

const GIGABYTE: f64 = 1_073_741_824.0;
/// Read units per second that one partition supports.
pub const PARTITION_READS_MAX: f64 = 3_000.0;
/// Write units per second that one partition supports.
pub const PARTITION_WRITES_MAX: f64 = 1_000.0;

/// Cost report of a model.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Name of the model.
    pub model: String,
    /// Price list that the report is based on.
    pub prices: Prices,
    /// One line per read with a plan.
    pub reads: Vec<ReadLine>,
    /// One line per write with a plan.
    pub writes: Vec<WriteLine>,
    /// One line per table.
    pub tables: Vec<TableLine>,
    /// Dollars per month for requests and storage.
    pub month_dollars: f64,
}

/// Report line of a read.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadLine {
    /// Name of the read.
    pub name: String,
    /// GetItem, Query, …
    pub request: &'static str,
    /// `Table` or `Table.index`
    pub source: String,
    /// Cost of one call.
    #[serde(flatten)]
    pub cost: ReadCost,
    /// Calls per second, if declared.
    pub rate: Option<f64>,
    /// Read units per second on the busiest partition.
    pub heat: Option<f64>,
    /// Dollars per month at that rate.
    pub month_dollars: Option<f64>,
}

/// Report line of a write.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WriteLine {
    /// Name of the write.
    pub name: String,
    /// PutItem, TransactWriteItems, …
    pub request: &'static str,
    /// Cost of one call without cascades.
    #[serde(flatten)]
    pub cost: WriteCost,
    /// Additional cost of cascading deletes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brings: Option<Brought>,
    /// Calls per second, if declared.
    pub rate: Option<f64>,
    /// Write units per second on the busiest partition of a table.
    pub heat: Option<f64>,
    /// Dollars per month at that rate.
    pub month_dollars: Option<f64>,
}

/// Report line of a table.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TableLine {
    /// Stored items and bytes.
    #[serde(flatten)]
    pub storage: TableStorage,
    /// Billing mode: `on_demand`, or the provisioned units per second.
    pub billing: String,
    /// Dollars per month for storage, continuous backups and provisioned units.
    pub month_dollars: f64,
}

/// Estimates the cost of all planned patterns and of the storage.
#[must_use]
pub fn report(model: &Model, plans: &Plans, prices: &Prices) -> Report {
    let reads: Vec<ReadLine> = plans.planned(model).map(|(read, plan)| read_line(model, read, plan, prices)).collect();
    let writes: Vec<WriteLine> = model
        .writes
        .iter()
        .zip(&plans.writes)
        .filter_map(|(write, plan)| plan.as_ref().map(|plan| write_line((model, plans), write, plan, prices)))
        .collect();
    let tables: Vec<TableLine> =
        (0..model.tables.len()).map(|table| table_line(model, TableId(table), prices)).collect();
    let requests =
        reads.iter().map(|line| line.month_dollars).chain(writes.iter().map(|line| line.month_dollars)).flatten();
    let month_dollars = requests.sum::<f64>() + tables.iter().map(|table| table.month_dollars).sum::<f64>();
    Report { model: model.name.clone(), prices: *prices, reads, writes, tables, month_dollars }
}

fn read_line(model: &Model, read: &Read, plan: &ReadPlan, prices: &Prices) -> ReadLine {
    let table = model.table(plan.table);
    let cost = read::read(model, read, plan);
    let rate = read.rate.map(|rate| per_second(rate.value));
    let on_demand = on_demand(&table.billing).then(|| prices.of(table.class).million_reads / 1e6);
    let source =
        plan.index.map_or_else(|| table.name.clone(), |index| format!("{}.{}", table.name, table.index_at(index).name));
    ReadLine {
        name: read.name.clone(),
        request: words::request_name(plan.request),
        source,
        rate,
        heat: rate.map(|rate| rate * cost.units * top_share(model, &plan.returns)),
        month_dollars: rate.zip(on_demand).map(|(rate, price)| rate * MONTH_SECS * cost.units * price),
        cost,
    }
}

/// Returns the share of the busiest partition as a fraction: the largest declared one, or 1 % if none is declared.
#[must_use]
pub fn top_share(model: &Model, entities: &[keyform_language::schema::EntityId]) -> f64 {
    let shares = entities.iter().filter_map(|&id| model.entity(id).volume.top_percent);
    shares.fold(None, |most: Option<f64>, share| Some(most.map_or(share, |most| most.max(share)))).unwrap_or(1.0)
        / 100.0
}

fn write_line(
    (model, plans): (&Model, &Plans),
    write: &Write,
    plan: &keyform_language::plan::WritePlan,
    prices: &Prices,
) -> WriteLine {
    let cost = write::write(model, write, plan);
    let brings = cascade::brought(model, &plans.dependents, plan);
    let rate = write.rate.map(|rate| per_second(rate.value));
    let entities: Vec<_> = plan.actions.iter().map(|action| action.entity).collect();
    let first = entities.first().and_then(|&id| model.entity(id).table).map(|table| model.table(table));
    let class = first.map_or(TableClass::Standard, |table| table.class);
    let price = first.is_none_or(|table| on_demand(&table.billing)).then(|| prices.of(class).million_writes / 1e6);
    WriteLine {
        name: write.name.clone(),
        request: words::write_name(plan.request),
        rate,
        heat: rate.map(|rate| rate * cost.units * top_share(model, &entities)),
        month_dollars: rate.zip(price).map(|(rate, price)| {
            let brought = brings.map_or(0.0, |brought| brought.write_units);
            rate * MONTH_SECS * (cost.units + cost.index_units + brought) * price
        }),
        brings,
        cost,
    }
}

fn on_demand(billing: &Billing) -> bool {
    matches!(billing, Billing::OnDemand)
}

fn table_line(model: &Model, id: TableId, prices: &Prices) -> TableLine {
    let table = model.table(id);
    let storage = storage::table(model, id);
    let class = prices.of(table.class);
    let gigabytes = storage.total() as f64 / GIGABYTE;
    let backups = if table.recovery { storage.bytes as f64 / GIGABYTE * class.recovery_gigabyte_month } else { 0.0 };
    let (billing, units) = provisioned(&table.billing, class);
    TableLine { month_dollars: gigabytes * class.gigabyte_month + backups + units, billing, storage }
}

fn provisioned(billing: &Billing, class: &ClassPrices) -> (String, f64) {
    match billing {
        Billing::OnDemand => ("on_demand".to_owned(), 0.0),
        Billing::Provisioned { reads, writes } => {
            let hours = MONTH_SECS / 3_600.0;
            let dollars = hours * (*reads as f64 * class.read_unit_hour + *writes as f64 * class.write_unit_hour);
            (format!("{reads} reads, {writes} writes a second"), dollars)
        }
    }
}
