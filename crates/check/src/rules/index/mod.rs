//! Rules X01 to X13: indexes.

mod x01_half_index_key;
mod x02_silently_missing;
mod x03_null_in_index_key;
mod x04_not_projected;
mod x05_consistent_global_read;
mod x06_too_many_indexes;
mod x07_invalid_projection;
mod x08_unneeded_index;
mod x09_unread_in_index;
mod x10_volatile_index_key;
mod x11_too_many_key_parts;
mod x12_secret_in_key;
mod x13_swapped_index_keys;

pub(super) use x13_swapped_index_keys::is_better_turned_round;

use std::collections::BTreeSet;

use crate::check::{Context, Rule};
use keyform_language::document::ast::Verb;
use keyform_language::plan::Found;
use keyform_language::schema::{EntityId, Index, IndexId, Model, Table, TableId, Write};

use super::key::{Keyed, keys};

/// In code order.
pub(super) const RULES: &[&Rule] = &[
    &x01_half_index_key::RULE,
    &x02_silently_missing::RULE,
    &x03_null_in_index_key::RULE,
    &x04_not_projected::RULE,
    &x05_consistent_global_read::RULE,
    &x06_too_many_indexes::RULE,
    &x07_invalid_projection::RULE,
    &x08_unneeded_index::RULE,
    &x09_unread_in_index::RULE,
    &x10_volatile_index_key::RULE,
    &x11_too_many_key_parts::RULE,
    &x12_secret_in_key::RULE,
    &x13_swapped_index_keys::RULE,
];

/// Returns every complete index key of every entity.
fn index_keys(model: &Model) -> impl Iterator<Item = (Keyed<'_>, IndexId, &Index)> {
    keys(model).filter_map(|keyed| {
        let id = keyed.key.index?;
        Some((keyed, id, keyed.table.index_at(id)))
    })
}

/// Returns every index of every table.
fn indexes(model: &Model) -> impl Iterator<Item = (TableId, &Table, IndexId, &Index)> {
    model.tables.iter().enumerate().flat_map(|(table_number, table)| {
        let numbered = table.indexes.iter().enumerate();
        numbered.map(move |(number, index)| (TableId(table_number), table, IndexId(number), index))
    })
}

/// Entities and the indexes through which a delete finds their items: by `cascade` or `restrict`.
type Searched = BTreeSet<(EntityId, IndexId)>;

fn searched(context: &Context<'_>) -> Searched {
    let dependents = &context.plans.dependents;
    let deletes = context.model.writes.iter().flat_map(Write::actions).filter(|action| action.verb == Verb::Delete);
    let roots: BTreeSet<EntityId> = deletes.filter_map(|action| action.entity).collect();
    let removed: BTreeSet<EntityId> =
        roots.into_iter().flat_map(|root| [root].into_iter().chain(dependents.reach(root))).collect();
    let found = removed.into_iter().flat_map(|parent| dependents.of(parent));
    found
        .filter_map(|dependent| match &dependent.found {
            Found::By(finder) => Some((dependent.entity, super::key::reading::index_of(&finder.read)??)),
            Found::Through(_) | Found::Ambiguous(_) | Found::Nowhere => None,
        })
        .collect()
}

/// Returns whether a read uses the index, or a delete finds items through it.
fn is_used(model: &Model, searched: &Searched, table: TableId, index: IndexId) -> bool {
    let in_table = |id: &EntityId| model.entity(*id).table == Some(table);
    let is_read = model.reads.iter().any(|read| {
        super::key::reading::index_of(read) == Some(Some(index)) && read.result.entities().iter().any(in_table)
    });
    is_read || searched.iter().any(|(id, through)| *through == index && in_table(id))
}
