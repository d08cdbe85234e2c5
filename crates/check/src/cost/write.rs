//! Units of one call of a write, on the table and on each of its indexes.
//!
//! A write pays for the larger of the item before and after, in steps of 1 KB, and twice in a transaction. A guard that
//! the request carries pays like an action. An index pays for its entry: once when the entry is added or removed or a
//! projected attribute changes, twice when its key changes, and nothing otherwise. An optional field in the key of a
//! sparse index is set or removed, so the entry is added or removed.
//!
//! The steps of a `for` count as often as it runs on average: for the items that its read returns, or for half of the
//! elements that an argument may have.

use serde::Serialize;

use keyform_language::plan::{PlannedAction, Role, WritePlan};
use keyform_language::schema::{
    Action, Entity, EntityKey, Expr, ExprKind, FieldId, For, GuardId, Index, Let, Model, Origin, ValuePath, Write,
    WriteStep,
};

use super::{partition, size};

const WRITE_STEP_BYTES: u64 = 1024;
/// Write units of a sentinel: it holds little more than its key.
const SENTINEL_UNITS: f64 = 1.0;
/// Write units of an intent: it holds little more than the key of the deleted item.
const INTENT_UNITS: f64 = 1.0;

/// Cost of one call of a write.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WriteCost {
    /// Write units of the tables; transactions count twice.
    pub units: f64,
    /// Write units of the indexes.
    pub index_units: f64,
    /// Units written per unit of a plain write of the items.
    pub amplification: f64,
    /// Cost on each index.
    pub indexes: Vec<IndexCost>,
    /// Number of actions of the request.
    pub actions: u64,
    /// Units for sentinels of `unique` fields, included in `units`.
    pub sentinel_units: f64,
    /// True if an item size was assumed.
    pub assumed: bool,
}

/// Cost of a write on an index.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexCost {
    /// `Table.index`
    pub index: String,
    /// Write units consumed.
    pub units: f64,
    /// Entries written or deleted; two if the key changes.
    pub entries: u64,
}

/// Estimates one call, with every `for` at its mean.
#[must_use]
pub fn write(model: &Model, write: &Write, plan: &WritePlan) -> WriteCost {
    let factor = if plan.is_transaction_of_callers() { 2.0 } else { 1.0 };
    let mut cost = WriteCost::default();
    let mut plain = 0.0;
    for planned in &plan.actions {
        let Some((action, times)) = find((model, write), &write.steps, &planned.step, Times::ONCE) else { continue };
        cost.assumed |= times.assumed;
        plain += times.count as f64 * add(model, planned, action, times.count, factor, &mut cost);
    }
    for guard in plan.checks() {
        add_check(model, guard, factor, &mut cost);
    }
    cost.amplification = if plain > 0.0 { (cost.units + cost.index_units) / plain } else { 0.0 };
    cost
}

/// Adds the check of a guard that the request carries.
fn add_check(model: &Model, guard: GuardId, factor: f64, cost: &mut WriteCost) {
    let Some(entity) = model.guards[guard.0].entity else { return };
    let (bytes, assumed) = size::item(model, model.entity(entity));
    cost.actions += 1;
    cost.units += bytes.div_ceil(WRITE_STEP_BYTES) as f64 * factor;
    cost.assumed |= assumed;
}

/// Number of runs of a step.
#[derive(Clone, Copy)]
struct Times {
    count: u64,
    assumed: bool,
}

impl Times {
    const ONCE: Self = Self { count: 1, assumed: false };

    /// Multiplies by the mean number of elements of a `for`.
    fn each(self, (model, write): (&Model, &Write), each: &For) -> Self {
        let max = each.max.unwrap_or(1);
        match mean_of_read(model, write, each) {
            Some(mean) => {
                let count = (mean.mean.round() as u64).clamp(1, max.max(1));
                Self { count: self.count * count, assumed: self.assumed || mean.assumed }
            }
            None => Self { count: self.count * max.div_ceil(2), assumed: self.assumed || max > 1 },
        }
    }
}

/// Returns the items that the read of a `for` returns; `None` if the list is not read.
fn mean_of_read(model: &Model, write: &Write, each: &For) -> Option<partition::Partition> {
    let ExprKind::ValuePath(ValuePath { origin: Origin::Let { number, .. }, path }) = &each.list.kind else {
        return None;
    };
    let read = model.read(write.lets.get(*number).filter(|_| path.is_empty()).and_then(Let::read)?);
    let index = read.via.as_ref().and_then(|(_, _, index)| *index);
    let mut mean = partition::of(model, *read.result.entities().first()?, index);
    if let Some(page) = &read.page {
        mean.mean = mean.mean.min(page.value as f64);
    }
    Some(mean)
}

/// Returns the action at a path through `for`s, and the number of times it runs.
fn find<'a>(of: (&Model, &Write), steps: &'a [WriteStep], path: &[usize], times: Times) -> Option<(&'a Action, Times)> {
    match (steps.get(*path.first()?)?, path.len()) {
        (WriteStep::Action(action), 1) => Some((action, times)),
        (WriteStep::For(each), _) => find(of, &each.steps, &path[1..], times.each(of, each)),
        (WriteStep::Action(_), _) => None,
    }
}

/// Adds an action and returns the units that a plain write of its item would consume.
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

/// Returns the number of index entries that an action writes or deletes.
#[must_use]
pub fn entries(entity: &Entity, key: &EntityKey, index: &Index, role: Role, action: &Action) -> u64 {
    match role {
        Role::Put => u64::from(key.fields().all(|field| is_filled(entity, action, field))),
        Role::Delete => 1,
        Role::Check | Role::Claim(_) | Role::Release(_) | Role::Intend => 0,
        Role::Update => {
            let changed: Vec<FieldId> = action.changes.iter().filter_map(|change| change.field).collect();
            let key_fields: Vec<FieldId> = key.fields().collect();
            let mut moved = changed.iter().filter(|field| key_fields.contains(field)).peekable();
            if moved.peek().is_some() {
                if index.sparse && moved.all(|field| entity.field(*field).optional) { 1 } else { 2 }
            } else {
                u64::from(changed.iter().any(|&field| is_copied(entity, index, field)))
            }
        }
    }
}

/// Returns true if a new item has the field: it is required, or the action sets it.
fn is_filled(entity: &Entity, action: &Action, field: FieldId) -> bool {
    let is_none = |value: &Expr| matches!(value.kind, ExprKind::None);
    !entity.field(field).optional || action.value_of(field).is_some_and(|value| !is_none(value))
}

fn is_copied(entity: &Entity, index: &Index, field: FieldId) -> bool {
    let name = &entity.field(field).name;
    index.projection.as_ref().is_none_or(|names| names.iter().any(|copied| copied.value == *name))
}
