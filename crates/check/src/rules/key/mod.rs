//! Rules K01 to K20: keys and key templates.

mod k01_unknown_field;
mod k02_optional_key_field;
mod k03_key_attribute_type;
mod k04_empty_key;
mod k05_key_too_long;
mod k06_key_changed;
mod k07_ambiguous_delimiter;
mod k08_number_order;
mod k09_time_order;
mod k10_many_spellings;
mod k11_colliding_entities;
mod k12_identity_not_in_key;
mod k13_shared_prefix;
mod k14_indistinct_entities;
mod k15_unfilled_key;
mod k16_few_partitions;
mod k17_time_partition;
mod k18_shared_tag;
mod k19_key_not_identifying;
mod k20_reserved_key;
pub(super) mod naming;
pub(super) mod reading;
pub(super) mod spread;

pub(super) use k15_unfilled_key::is_filled;

use crate::check::Rule;
use keyform_language::schema::{
    Entity, EntityId, EntityKey, FieldId, IndexId, KeyAttribute, KeyPart, Model, Part, Table,
};
use keyform_language::span::Span;

/// In code order.
pub(super) const RULES: &[&Rule] = &[
    &k01_unknown_field::RULE,
    &k02_optional_key_field::RULE,
    &k03_key_attribute_type::RULE,
    &k04_empty_key::RULE,
    &k05_key_too_long::RULE,
    &k06_key_changed::RULE,
    &k07_ambiguous_delimiter::RULE,
    &k08_number_order::RULE,
    &k09_time_order::RULE,
    &k10_many_spellings::RULE,
    &k11_colliding_entities::RULE,
    &k12_identity_not_in_key::RULE,
    &k13_shared_prefix::RULE,
    &k14_indistinct_entities::RULE,
    &k15_unfilled_key::RULE,
    &k16_few_partitions::RULE,
    &k17_time_partition::RULE,
    &k18_shared_tag::RULE,
    &k19_key_not_identifying::RULE,
    &k20_reserved_key::RULE,
];

/// A key of an entity (of the table or of an index) with its context.
#[derive(Clone, Copy)]
pub(super) struct Keyed<'a> {
    pub(super) table: &'a Table,
    pub(super) id: EntityId,
    pub(super) entity: &'a Entity,
    pub(super) key: &'a EntityKey,
}

/// Returns the keys under which items of an entity can be found: the table's key, then the key of each index that the
/// entity is in. Incomplete keys are X01's subject.
pub(super) fn keys(model: &Model) -> impl Iterator<Item = Keyed<'_>> {
    all_keys(model).filter(|keyed| keyed.missing().is_empty())
}

/// Like [`keys`], including keys that lack an attribute.
pub(super) fn all_keys(model: &Model) -> impl Iterator<Item = Keyed<'_>> {
    model.entity_ids().flat_map(move |id| {
        let entity = model.entity(id);
        let table = entity.table.map(|table| model.table(table));
        let keys = entity.key.iter().chain(&entity.indexes);
        keys.filter_map(move |key| table.map(|table| Keyed { table, id, entity, key }))
    })
}

impl<'a> Keyed<'a> {
    /// Returns the templates of the partition key, then those of the sort key.
    pub(super) fn parts(self) -> impl Iterator<Item = &'a KeyPart> {
        self.key.partition.iter().chain(&self.key.sort)
    }

    /// Returns the key attributes that the entity does not write. If there are any, its items are not in the index.
    pub(super) fn missing(self) -> Vec<&'a KeyAttribute> {
        let filled = |name: &str| self.parts().any(|part| part.attribute == name);
        attributes(self.table, self.key.index).into_iter().filter(|attribute| !filled(&attribute.name)).collect()
    }

    /// Returns the fields of the templates with their spans.
    pub(super) fn places(self) -> impl Iterator<Item = (FieldId, Span)> {
        self.parts().flat_map(field_places)
    }

    /// Returns the span to report for a template.
    pub(super) fn span_of(self, part: &KeyPart) -> Span {
        self.place_of(part.template.span)
    }

    /// Returns the span to report for a field of a template. A field declared in a shape lies outside of the entity, so
    /// the finding points at the key instead.
    pub(super) fn place_of(self, place: Span) -> Span {
        if self.key.written || self.entity.span.contains(place) { place } else { self.key.span }
    }

    /// Formats the key's name for messages: `the key of User`, `gsi1 of User`.
    pub(super) fn title(self) -> String {
        match self.key.index {
            None => format!("the key of {}", self.entity.name),
            Some(index) => format!("`{}` of {}", self.table.index_at(index).name, self.entity.name),
        }
    }
}

/// Returns the fields of a template with their spans.
pub(super) fn field_places(part: &KeyPart) -> impl Iterator<Item = (FieldId, Span)> {
    part.template.parts.iter().filter_map(|piece| match piece {
        Part::Field { field, span, .. } => Some((*field, *span)),
        Part::Text(_) | Part::Unknown { .. } => None,
    })
}

/// Returns the attributes of the table's key or, if given, of the index's.
pub(super) fn attributes(table: &Table, index: Option<IndexId>) -> Vec<&KeyAttribute> {
    match index {
        None => table.partition.iter().chain(&table.sort).collect(),
        Some(index) => {
            let index = table.index_at(index);
            index.partition.iter().chain(&index.sort).collect()
        }
    }
}

/// Returns the attribute with that name in the table's key or, if given, the index's.
pub(super) fn attribute<'a>(table: &'a Table, index: Option<IndexId>, name: &str) -> Option<&'a KeyAttribute> {
    attributes(table, index).into_iter().find(|attribute| attribute.name == name)
}
