//! Units of one call of a read.
//!
//! A GetItem pays for its item and a Query for the items it examines, in steps of 4 KB: half a unit per step, or one
//! unit for a strongly consistent read. Filters and projections shrink the answer, not the cost.

use serde::Serialize;

use keyform_language::plan::{Filter, ReadPlan, RequestKind};
use keyform_language::schema::{EntityId, Model, Read, Result};

use super::{partition, size};

const READ_STEP_BYTES: u64 = 4 * 1024;
/// Maximum bytes that one Query or Scan reads.
pub const PAGE_BYTES: u64 = 1024 * 1024;

/// Cost of one call of a read.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadCost {
    /// Items that one call reads, before filters.
    pub examined_items: u64,
    /// Bytes that one call reads, before filters and projections.
    pub examined_bytes: u64,
    /// Read units that one call consumes.
    pub units: f64,
    /// Number of requests: one for each megabyte that the call reads.
    pub pages: u64,
    /// Share of the examined items that is returned; `None` if it depends on the author's filter.
    #[serde(rename = "yield")]
    pub yielded: Option<f64>,
    /// True if the item size or the number of items per partition was assumed.
    pub assumed: bool,
}

/// Estimates the cost of one call from the declared volumes.
#[must_use]
pub fn read(model: &Model, read: &Read, plan: &ReadPlan) -> ReadCost {
    estimate(read, plan, Range::of(model, plan))
}

/// Estimates the cost of one call that reads the largest partition, or `None` if no figure tells how large that is. Only
/// items of the returned entities count.
#[must_use]
pub fn largest(model: &Model, read: &Read, plan: &ReadPlan) -> Option<ReadCost> {
    let mut range = Range { items: 0, bytes: 0, wanted: 0, assumed: false };
    for &id in &plan.returns {
        let partition = partition::of(model, id, plan.index);
        let count = partition.max.unwrap_or(if partition.assumed { 0.0 } else { partition.mean });
        range.add_items(model, plan, id, (count.round() as u64, false));
    }
    (range.items > 0).then(|| estimate(read, plan, range))
}

fn estimate(read: &Read, plan: &ReadPlan, range: Range) -> ReadCost {
    let yielded = yielded(&range, plan);
    let items = examined(read, plan, &range, yielded);
    let mean = range.bytes.checked_div(range.items).unwrap_or(0);
    let bytes = if items == range.items { range.bytes } else { items * mean };
    let steps = match plan.request {
        RequestKind::BatchGet => items * mean.div_ceil(READ_STEP_BYTES),
        RequestKind::Get | RequestKind::Query | RequestKind::Scan => bytes.div_ceil(READ_STEP_BYTES),
    };
    let per_step = if plan.strong { 1.0 } else { 0.5 };
    ReadCost {
        examined_items: items,
        examined_bytes: bytes,
        units: steps.max(1) as f64 * per_step,
        pages: bytes.div_ceil(PAGE_BYTES).max(1),
        yielded,
        assumed: range.assumed,
    }
}

/// Items that a key condition can match.
struct Range {
    items: u64,
    bytes: u64,
    wanted: u64,
    assumed: bool,
}

impl Range {
    fn of(model: &Model, plan: &ReadPlan) -> Self {
        let mut range = Self { items: 0, bytes: 0, wanted: 0, assumed: false };
        let matches = if plan.request == RequestKind::Scan { everything(model, plan) } else { plan.matches.clone() };
        for id in matches {
            range.add(model, plan, id);
        }
        range
    }

    fn add(&mut self, model: &Model, plan: &ReadPlan, id: EntityId) {
        self.add_items(model, plan, id, count(model, plan, id));
    }

    fn add_items(&mut self, model: &Model, plan: &ReadPlan, id: EntityId, (count, guessed): (u64, bool)) {
        let entity = model.entity(id);
        let (whole, sized) = size::item(model, entity);
        let bytes =
            plan.index.map_or(whole, |index| size::in_index(model, entity, model.table(plan.table).index_at(index)));
        self.items += count;
        self.bytes += count * bytes;
        self.assumed |= guessed || sized;
        if plan.returns.contains(&id) {
            self.wanted += count;
        }
    }
}

fn everything(model: &Model, plan: &ReadPlan) -> Vec<EntityId> {
    model
        .entities_of(plan.table)
        .map(|(id, _)| id)
        .filter(|id| plan.index.is_none() || model.entity(*id).key_of(plan.index).is_some())
        .collect()
}

/// Returns the number of items of an entity that the key condition matches, and true if it is assumed.
fn count(model: &Model, plan: &ReadPlan, id: EntityId) -> (u64, bool) {
    let volume = &model.entity(id).volume;
    match plan.request {
        RequestKind::Get => (1, false),
        RequestKind::BatchGet => (plan.page.unwrap_or(25), true),
        RequestKind::Scan => (volume.items.unwrap_or(1_000), volume.items.is_none()),
        RequestKind::Query if plan.unique && !plan.count && plan.returns == [id] => (1, false),
        RequestKind::Query => {
            let partition = partition::of(model, id, plan.index);
            (partition.mean.round().max(1.0) as u64, partition.assumed)
        }
    }
}

fn yielded(range: &Range, plan: &ReadPlan) -> Option<f64> {
    let decided = plan.filters.iter().any(|filter| matches!(filter, Filter::Where | Filter::Parameter(_)));
    (!decided && range.items > 0).then(|| range.wanted as f64 / range.items as f64)
}

/// Returns the number of items examined. A page is always filled, so items that a filter drops are read as well.
fn examined(read: &Read, plan: &ReadPlan, range: &Range, yielded: Option<f64>) -> u64 {
    let whole = read.all.is_some() || matches!(read.result, Result::Count(..));
    match plan.page {
        Some(page) if !whole => {
            let needed = yielded.filter(|share| *share > 0.0).map_or(page, |share| (page as f64 / share).ceil() as u64);
            needed.min(range.items.max(1))
        }
        _ => range.items.max(1),
    }
}
