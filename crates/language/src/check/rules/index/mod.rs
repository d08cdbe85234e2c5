//! Indexes: X01 to X13.

mod x01;
mod x02;
mod x03;
mod x04;
mod x05;
mod x06;
mod x07;
mod x08;
mod x09;
mod x10;
mod x11;
mod x12;
mod x13;

pub(super) use x13::is_better_turned_round;

use crate::check::Rule;
use crate::schema::{EntityId, Index, IndexId, Model, Table, TableId};

use super::key::{Keyed, keys};

/// The rules of this group.
pub(super) const RULES: &[&Rule] = &[
    &x01::RULE,
    &x02::RULE,
    &x03::RULE,
    &x04::RULE,
    &x05::RULE,
    &x06::RULE,
    &x07::RULE,
    &x08::RULE,
    &x09::RULE,
    &x10::RULE,
    &x11::RULE,
    &x12::RULE,
    &x13::RULE,
];

/// Every key that an entity has in an index.
fn index_keys(model: &Model) -> impl Iterator<Item = (Keyed<'_>, IndexId, &Index)> {
    keys(model).filter_map(|keyed| {
        let id = keyed.key.index?;
        Some((keyed, id, keyed.table.index_at(id)))
    })
}

/// Every index of every table.
fn indexes(model: &Model) -> impl Iterator<Item = (TableId, &Table, IndexId, &Index)> {
    model.tables.iter().enumerate().flat_map(|(table_number, table)| {
        let numbered = table.indexes.iter().enumerate();
        numbered.map(move |(number, index)| (TableId(table_number), table, IndexId(number), index))
    })
}

/// Whether a read goes through the index.
fn is_read(model: &Model, table: TableId, index: IndexId) -> bool {
    let in_table = |id: &EntityId| model.entity(*id).table == Some(table);
    model.reads.iter().any(|read| {
        super::key::reading::index_of(read) == Some(Some(index)) && read.result.entities().iter().any(in_table)
    })
}
