//! Average size of a cascade: the number of dependents per parent, from the declared item counts of both entities.
//!
//! Each dependent is read once with a consistent read and deleted, together with its index entries. Deletes in
//! transactions cost twice as much.

use serde::Serialize;

use keyform_language::plan::{Dependents, Role, WritePlan, guarded_fields, is_reusable};
use keyform_language::schema::{EntityId, Model};

use super::size;

const READ_STEP_BYTES: f64 = 4096.0;
const WRITE_STEP_BYTES: u64 = 1024;
/// Recursion limit, because an entity may refer to itself.
const DEPTH_MAX: usize = 8;

/// Average work that one call of a write adds through cascading deletes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Brought {
    /// Number of dependent items that one call deletes.
    pub items: f64,
    /// Read units to find them.
    pub read_units: f64,
    /// Write units to delete them and their index entries.
    pub write_units: f64,
    /// True if an entity declares no item count, so the ratio was assumed.
    pub assumed: bool,
}

/// Estimates the cascades of a write; `None` if none of its deletes cascades.
#[must_use]
pub fn brought(model: &Model, dependents: &Dependents, plan: &WritePlan) -> Option<Brought> {
    let mut roots = plan.actions.iter().filter(|planned| planned.role == Role::Intend).peekable();
    roots.peek()?;
    let mut sum = Brought::default();
    for planned in roots {
        let counting = Counting { model, dependents, guarded: is_reusable(model, planned.entity) };
        counting.add(planned.entity, 1.0, 0, &mut sum);
    }
    Some(sum)
}

struct Counting<'a> {
    model: &'a Model,
    dependents: &'a Dependents,
    guarded: bool,
}

impl Counting<'_> {
    /// Adds the dependents of this many parents.
    fn add(&self, parent: EntityId, parents: f64, depth: usize, sum: &mut Brought) {
        if depth >= DEPTH_MAX {
            return;
        }
        for (dependent, finder) in self.dependents.cascading(parent) {
            let entity = self.model.entity(dependent.entity);
            let items = parents * self.for_each(dependent.entity, parent, sum);
            let (bytes, assumed) = size::item(self.model, entity);
            let may_move = finder.shared.iter().any(|(field, _)| !entity.key_fields().contains(field));
            let sentinels = guarded_fields(entity).count() as f64;
            let factor = if self.guarded || may_move || sentinels > 0.0 { 2.0 } else { 1.0 };
            let table = entity.table.map(|table| self.model.table(table));
            let indexes = entity.indexes.iter().filter_map(|key| Some(table?.index_at(key.index?)));
            let copies = indexes.map(|index| units(size::in_index(self.model, entity, index))).sum::<f64>();
            sum.items += items;
            sum.read_units += parents.max(items * bytes as f64 / READ_STEP_BYTES);
            sum.write_units += items * (factor * (units(bytes) + sentinels) + copies);
            sum.assumed |= assumed;
            self.add(dependent.entity, items, depth + 1, sum);
        }
    }

    /// Returns the number of items of an entity per parent; assumes 1 if a count is not declared.
    fn for_each(&self, child: EntityId, parent: EntityId, sum: &mut Brought) -> f64 {
        let count = |id: EntityId| self.model.entity(id).volume.items;
        match (count(child), count(parent)) {
            (Some(children), Some(parents)) if parents > 0 => children as f64 / parents as f64,
            _ => {
                sum.assumed = true;
                1.0
            }
        }
    }
}

fn units(bytes: u64) -> f64 {
    bytes.div_ceil(WRITE_STEP_BYTES) as f64
}
