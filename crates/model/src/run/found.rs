//! Items as entities: the fields, without keys and tags.

use keyform_core::{Attributes, Item, ValueRef};

use crate::schema::{EntityId, Model};
use crate::template::Shape;

/// An item of an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The entity.
    pub entity: EntityId,
    /// Its fields.
    pub fields: Attributes,
}

/// What a read returns.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// One item, or none.
    One(Option<Found>),
    /// A page, and where it ended if more may follow.
    Page {
        /// The items.
        items: Vec<Found>,
        /// For the next page.
        cursor: Option<String>,
    },
    /// How many.
    Count(u64),
    /// The items of a collection, in the order of the result's parts.
    Collection(Vec<(EntityId, Vec<Found>)>),
}

/// An item of one of these entities; `None` if it is of none of them.
pub(super) fn found(model: &Model, candidates: &[EntityId], item: &Item) -> Option<Found> {
    let entity = *candidates.iter().find(|&&id| is_of(model, id, item, candidates.len() == 1))?;
    Some(of(model, entity, item))
}

/// An item of one of these entities, or of something else: its tag or its key must say of which.
pub(super) fn found_among(model: &Model, candidates: &[EntityId], item: &Item) -> Option<Found> {
    let entity = *candidates.iter().find(|&&id| is_of(model, id, item, false))?;
    Some(of(model, entity, item))
}

/// An item that is known to be of an entity.
pub(super) fn of(model: &Model, entity: EntityId, item: &Item) -> Found {
    let is_field = |name: &str| model.entity(entity).field_named(name).is_some();
    let fields = item.iter().filter(|(name, _)| is_field(name));
    Found { entity, fields: fields.map(|(name, value)| (name.to_owned(), value.to_tree())).collect() }
}

/// An item that is known to be of an entity, as a request has it.
pub(super) fn of_attributes(model: &Model, entity: EntityId, item: &Attributes) -> Found {
    let fields = item.iter().filter(|(name, _)| model.entity(entity).field_named(name).is_some());
    Found { entity, fields: fields.map(|(name, value)| (name.clone(), value.clone())).collect() }
}

/// By its tag, if the table has one and the item too; else by the texts of its key.
fn is_of(model: &Model, id: EntityId, item: &Item, only: bool) -> bool {
    let entity = model.entity(id);
    let tag = entity.table.and_then(|table| model.table(table).tag.as_ref());
    match tag.and_then(|(tag, _)| item.get(tag)) {
        Some(ValueRef::S(tagged)) => tagged == entity.tag,
        _ => only || has_key(model, id, item),
    }
}

fn has_key(model: &Model, id: EntityId, item: &Item) -> bool {
    let entity = model.entity(id);
    entity.key.iter().flat_map(|key| key.parts()).all(|part| {
        let value = item.get(&part.attribute).and_then(|value| text(&value));
        let shape = Shape::of(&part.template, &entity.fields);
        value.zip(shape).is_some_and(|(value, shape)| shape.holds(&value))
    })
}

fn text(value: &ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::S(text) => Some((*text).to_owned()),
        ValueRef::N(number) => Some(number.to_string()),
        _ => None,
    }
}
