//! The units of one call of a write, on the table and on each of its indexes.
//!
//! A write pays for the larger of the item before and after, in steps of 1 KB, twice within a transaction. An index pays for the copy: once
//! when the item comes or goes or something copied changes, twice when its key changes, never when nothing it holds changes.

use serde::Serialize;

use crate::plan::{PlannedAction, Role, WriteKind, WritePlan};
use crate::schema::{Action, Entity, EntityKey, FieldId, Index, Model, Step, Write};

use super::size;

const WRITE_STEP_BYTES: u64 = 1024;
/// A sentinel holds its key and little else.
const SENTINEL_UNITS: f64 = 1.0;
/// An intent holds the key of the item that is deleted.
const INTENT_UNITS: f64 = 1.0;

/// What one call of a write costs.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WriteCost {
    /// Write units of the tables, transactions counted twice.
    pub units: f64,
    /// Write units of the indexes.
    pub index_units: f64,
    /// How many units are written for each unit of a plain write of the items.
    pub amplification: f64,
    /// The units of each index.
    pub indexes: Vec<IndexCost>,
    /// How many actions the request has.
    pub actions: u64,
    /// Units of sentinels for `unique` fields, among `units`.
    pub sentinel_units: f64,
    /// A figure was assumed.
    pub assumed: bool,
}

/// What a write costs on an index.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexCost {
    /// `Table.index`
    pub index: String,
    /// Write units.
    pub units: f64,
    /// Entries written or deleted: two where the key changes.
    pub entries: u64,
}

/// Counts one call, with every `for` at its maximum.
#[must_use]
pub fn write(model: &Model, write: &Write, plan: &WritePlan) -> WriteCost {
    let factor = if plan.request == WriteKind::Transaction { 2.0 } else { 1.0 };
    let mut cost = WriteCost::default();
    let mut plain = 0.0;
    for planned in &plan.actions {
        let Some((action, times)) = find(&write.steps, &planned.step, 1) else { continue };
        plain += times as f64 * add(model, planned, action, times, factor, &mut cost);
    }
    cost.amplification = if plain > 0.0 { (cost.units + cost.index_units) / plain } else { 0.0 };
    cost
}

/// The action at a path through `for`s, and how often it is done.
fn find<'a>(steps: &'a [Step], path: &[usize], times: u64) -> Option<(&'a Action, u64)> {
    match (steps.get(*path.first()?)?, path.len()) {
        (Step::Action(action), 1) => Some((action, times)),
        (Step::For(each), _) => find(&each.steps, &path[1..], times * each.max.unwrap_or(1)),
        (Step::Action(_), _) => None,
    }
}

/// Adds an action and returns the units a plain write of its item would take.
fn add(model: &Model, planned: &PlannedAction, action: &Action, times: u64, factor: f64, cost: &mut WriteCost) -> f64 {
    let entity = model.entity(planned.entity);
    let count = times as f64;
    cost.actions += times;
    if planned.role == Role::Intend {
        cost.units += count * INTENT_UNITS * factor;
        return 0.0;
    }
    if matches!(planned.role, Role::Claim(_) | Role::Release(_)) {
        cost.units += count * SENTINEL_UNITS * factor;
        cost.sentinel_units += count * SENTINEL_UNITS * factor;
        return 0.0;
    }
    let (bytes, assumed) = size::item(model, entity);
    let units = bytes.div_ceil(WRITE_STEP_BYTES) as f64;
    cost.units += count * units * factor;
    cost.assumed |= assumed;
    add_indexes(model, entity, planned.role, action, count, cost);
    units
}

fn add_indexes(model: &Model, entity: &Entity, role: Role, action: &Action, count: f64, cost: &mut WriteCost) {
    let Some(table) = entity.table.map(|table| model.table(table)) else { return };
    for key in &entity.indexes {
        let Some(index) = key.index.map(|index| table.index_at(index)) else { continue };
        let entries = entries(entity, key, index, role, action);
        let units = count * entries as f64 * size::in_index(model, entity, index).div_ceil(WRITE_STEP_BYTES) as f64;
        cost.index_units += units;
        if entries > 0 {
            let name = format!("{}.{}", table.name, index.name);
            cost.indexes.push(IndexCost { index: name, units, entries: entries * count as u64 });
        }
    }
}

/// How many entries of an index an action writes or deletes.
#[must_use]
pub fn entries(entity: &Entity, key: &EntityKey, index: &Index, role: Role, action: &Action) -> u64 {
    match role {
        Role::Put | Role::Delete => 1,
        Role::Check | Role::Claim(_) | Role::Release(_) | Role::Intend => 0,
        Role::Update => {
            let changed: Vec<FieldId> = action.changes.iter().filter_map(|change| change.field).collect();
            let key_fields: Vec<FieldId> = key.fields().collect();
            if changed.iter().any(|field| key_fields.contains(field)) {
                2
            } else {
                u64::from(changed.iter().any(|&field| is_copied(entity, index, field)))
            }
        }
    }
}

fn is_copied(entity: &Entity, index: &Index, field: FieldId) -> bool {
    let name = &entity.field(field).name;
    index.projection.as_ref().is_none_or(|names| names.iter().any(|(copied, _)| copied == name))
}
