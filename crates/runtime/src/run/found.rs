//! Items as entities: the fields, without keys and tags.

use keyform_core::{AttributeValue, Attributes, Item, ValueRef};

use crate::seal::SealError;
use keyform_language::bind::SealedField;
use keyform_language::plan::Outline;
use keyform_language::schema::{Entity, EntityId, Model};
use keyform_language::template::Shape;

use super::{Fields, RunError, Runner};

/// An item of an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The entity.
    pub entity: EntityId,
    /// Its fields.
    pub fields: Fields,
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

/// Which of these entities an item is of.
pub(super) fn entity_of(model: &Model, candidates: &[EntityId], item: &Item) -> Option<EntityId> {
    candidates.iter().copied().find(|&id| is_of(model, id, item, candidates.len() == 1))
}

/// Which of these entities an item is of, if it may be of something else: its tag or its key must say it.
pub(super) fn entity_among(model: &Model, candidates: &[EntityId], item: &Item) -> Option<EntityId> {
    candidates.iter().copied().find(|&id| is_of(model, id, item, false))
}

impl Runner {
    /// An item of one of these entities; `None` if it is of none of them.
    pub(super) fn found(&self, candidates: &[EntityId], item: &Item) -> Result<Option<Found>, RunError> {
        let entity = entity_of(&self.checked.model, candidates, item);
        entity.map(|entity| self.found_of(entity, item)).transpose()
    }

    /// All items of these entities.
    pub(super) fn found_all<'a>(
        &self,
        candidates: &[EntityId],
        items: impl Iterator<Item = &'a Item>,
    ) -> Result<Vec<Found>, RunError> {
        items.filter_map(|item| self.found(candidates, item).transpose()).collect()
    }

    /// An item that is known to be of an entity.
    pub(super) fn found_of(&self, id: EntityId, item: &Item) -> Result<Found, RunError> {
        let entity = self.checked.model.entity(id);
        let names = &self.patterns.field_names[id.0];
        let mut values: Vec<_> = std::iter::repeat_with(|| None).take(names.len()).collect();
        item.as_map().select(names).for_each(|(place, value)| values[place] = Some(value.to_tree()));
        let mut fields = Fields::new(names, values);
        self.open_sealed(entity, &mut fields, |name| item.get(name).map(|value| value.to_tree()))?;
        Ok(Found { entity: id, fields })
    }

    /// An item that is known to be of an entity, as a request has it: perhaps made of an outline.
    pub(super) fn found_in_request(
        &self,
        id: EntityId,
        outline: Option<&Outline>,
        item: &Attributes,
    ) -> Result<Found, RunError> {
        let entity = self.checked.model.entity(id);
        let names = &self.patterns.field_names[id.0];
        let named = || names.iter().map(|name| item.get(name).cloned()).collect();
        let mut fields = Fields::new(names, outline.map_or_else(named, |outline| outline.values_of(item)));
        self.open_sealed(entity, &mut fields, |name| item.get(name).cloned())?;
        Ok(Found { entity: id, fields })
    }

    /// Whether the time of an item is over, so that it is not there any more.
    pub(super) fn is_over(&self, id: EntityId, item: &Item) -> bool {
        let entity = self.checked.model.entity(id);
        let ttl = entity.table.and_then(|table| self.checked.model.table(table).ttl.as_ref());
        let end = ttl.filter(|(name, _)| entity.field_named(name).is_some()).and_then(|(name, _)| item.get(name));
        let now = self.surroundings.now_millis().div_euclid(1000);
        matches!(end.map(|end| end.to_tree()), Some(AttributeValue::N(end)) if end < now.into())
    }

    /// Opens the encrypted fields among an item's, of which `attribute` gives the others.
    fn open_sealed(
        &self,
        entity: &Entity,
        fields: &mut Fields,
        attribute: impl Fn(&str) -> Option<AttributeValue>,
    ) -> Result<(), SealError> {
        let mut encrypted = entity.encrypted_fields().filter(|field| fields.contains_key(&field.name)).peekable();
        let (Some(first), Some(table)) = (encrypted.peek(), entity.table) else { return Ok(()) };
        let Some(ring) = &self.settings.field_keys else {
            return Err(SealError::NoKeys { field: format!("{}.{}", entity.name, first.name) });
        };
        let table = self.checked.model.table(table);
        let key = table.key_names().filter_map(|name| Some((name.to_owned(), attribute(name)?))).collect();
        let names: Vec<&String> = encrypted.map(|field| &field.name).collect();
        for name in names {
            let place = SealedField { table: &table.physical, key: &key, entity: &entity.name, field: name };
            if let Some(value) = fields.get_mut(name) {
                *value = ring.open(&place, value)?;
            }
        }
        Ok(())
    }
}

/// By its tag, if the table has one and the item too; else by the texts of its key.
fn is_of(model: &Model, id: EntityId, item: &Item, only: bool) -> bool {
    let entity = model.entity(id);
    let tag = entity.table.and_then(|table| model.table(table).tag.as_ref());
    match tag.and_then(|(tag, _)| item.get(tag)) {
        Some(ValueRef::S(tagged)) => tagged == entity.tag,
        _ => !is_sentinel(model, entity, item) && (only || has_key(model, id, item)),
    }
}

/// Whether an item without a tag keeps a unique value of this table, and is no item of an entity.
fn is_sentinel(model: &Model, entity: &Entity, item: &Item) -> bool {
    entity.table.is_some_and(|table| keyform_language::bind::is_sentinel(model.table(table), item))
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
