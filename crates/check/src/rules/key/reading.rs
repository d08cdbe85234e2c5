//! Finds the reads that use a key of an entity, and whether they depend on its order.

use crate::check::Context;
use keyform_language::plan;
use keyform_language::schema::{Entity, EntityId, FieldId, IndexId, Model, Read, Test};

/// Returns the index that a read uses, `Some(None)` for the table's key, or `None` if the read names an unknown index.
#[expect(clippy::option_option, reason = "no index and an unknown index are two things")]
pub(in crate::rules) fn index_of(read: &Read) -> Option<Option<IndexId>> {
    match &read.via {
        None => Some(None),
        Some((_, _, None)) => None,
        Some((_, _, index)) => Some(*index),
    }
}

/// Returns the reads that return items of an entity through this key.
pub(in crate::rules) fn reads_through(
    model: &Model,
    entity: EntityId,
    index: Option<IndexId>,
) -> impl Iterator<Item = &Read> {
    let through = move |read: &&Read| index_of(read) == Some(index) && read.result.entities().contains(&entity);
    model.reads.iter().filter(through)
}

/// Returns a read that depends on the order of a field in this key: the field determines the requested order, or the
/// read has a range over it.
pub(in crate::rules) fn relies_on_order<'a>(
    context: &Context<'a>,
    id: EntityId,
    index: Option<IndexId>,
    field: FieldId,
) -> Option<&'a Read> {
    let entity = context.model.entity(id);
    let relies = |read: &&Read| {
        let asked = read.newest_first.is_some() || read.ordered.is_some();
        let first = || plan::order(read, entity, index).is_some_and(|order| order.field == field);
        ranges_over(read, entity, field) || (asked && first())
    };
    reads_through(context.model, id, index).find(relies)
}

/// Returns whether a parameter is a range over the field.
fn ranges_over(read: &Read, entity: &Entity, field: FieldId) -> bool {
    let range = |test| matches!(test, Test::After | Test::From | Test::Before | Test::Until | Test::Between);
    read.parameters.iter().any(|parameter| parameter.field_name == entity.field(field).name && range(parameter.test))
}

/// Returns whether a read specifies the field by equality.
pub(in crate::rules) fn gives(read: &Read, entity: &Entity, field: FieldId) -> bool {
    let name = &entity.field(field).name;
    read.parameters.iter().any(|parameter| parameter.test == Test::Equal && parameter.field_name == *name)
}
