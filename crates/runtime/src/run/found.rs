//! Converts items to entities: their fields, without keys and tags.

use keyform_core::{AttributeValue, Attributes, Item, ValueRef};

use crate::seal::SealError;
use keyform_language::bind::SealedField;
use keyform_language::plan::Outline;
use keyform_language::reading::Wanted;
use keyform_language::schema::{Entity, EntityId, FieldId, Model, Read};
use keyform_language::template::Shape;

use super::{BrokenItem, Fields, RunError, Runner};

/// Item of an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Entity that the item belongs to.
    pub entity: EntityId,
    /// Fields of the item, with encrypted ones decrypted.
    pub fields: Fields,
}

/// Result of a read.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// At most one item.
    One(Option<Found>),
    /// One page of items.
    Page {
        /// Items in the order of the read.
        items: Vec<Found>,
        /// Cursor of the next page; `None` after the last page.
        cursor: Option<String>,
        /// Items that were left out because they do not fit their entity.
        broken: Vec<BrokenItem>,
    },
    /// Number of matching items.
    Count(u64),
    /// Items of a collection.
    Collection {
        /// Items grouped by entity, in the order of the result's parts.
        parts: Vec<(EntityId, Vec<Found>)>,
        /// Items that were left out because they do not fit their entity.
        broken: Vec<BrokenItem>,
    },
}

/// Part of an item that its fields are read from.
#[derive(Clone, Copy)]
pub(super) enum Extent<'a> {
    /// The whole item.
    Whole,
    /// The fields that a read returns.
    Of(&'a Read),
    /// The attributes that are there.
    Present,
}

impl Extent<'_> {
    fn selects(self, entity: EntityId, field: FieldId) -> bool {
        let Self::Of(Read { select: Some(selected), .. }) = self else { return true };
        selected.iter().any(|(of, _)| *of == (entity, field))
    }

    /// Removes the fields that the read does not select: some are read only to be compared.
    fn leave_selected(self, id: EntityId, entity: &Entity, fields: &mut Fields) {
        if matches!(self, Self::Of(Read { select: Some(_), .. })) {
            fields.retain(|name, _| entity.field_named(name).is_some_and(|field| self.selects(id, field)));
        }
    }
}

/// Items of a list.
#[derive(Default)]
pub(super) struct FoundItems {
    pub(super) items: Vec<Found>,
    /// Items that do not fit their entity.
    pub(super) broken: Vec<BrokenItem>,
}

impl FoundItems {
    /// Adds a converted item, or collects it if it is broken. Other errors fail the call.
    pub(super) fn add(&mut self, found: Result<Option<Found>, RunError>) -> Result<(), RunError> {
        match found {
            Ok(found) => self.items.extend(found),
            Err(RunError::Broken(broken)) => self.broken.push(*broken),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Returns the entity that an item belongs to. A single candidate needs no matching key.
pub(super) fn entity_of(model: &Model, candidates: &[EntityId], item: &Item) -> Option<EntityId> {
    candidates.iter().copied().find(|&id| is_of(model, id, item, candidates.len() == 1))
}

/// Returns the entity that an item belongs to, if its tag or key proves it. For items that may belong to none of the
/// candidates.
pub(super) fn entity_among(model: &Model, candidates: &[EntityId], item: &Item) -> Option<EntityId> {
    candidates.iter().copied().find(|&id| is_of(model, id, item, false))
}

impl Runner {
    /// Converts an item; `None` if it belongs to none of the candidates.
    pub(super) fn found(
        &self,
        candidates: &[EntityId],
        item: &Item,
        extent: Extent<'_>,
    ) -> Result<Option<Found>, RunError> {
        let entity = entity_of(&self.checked.model, candidates, item);
        entity.map(|entity| self.found_of(entity, item, extent)).transpose()
    }

    /// Converts the items that belong to one of the candidates and skips the others. Broken items are collected: they
    /// must not hide the rest of a list.
    pub(super) fn found_all<'a>(
        &self,
        candidates: &[EntityId],
        items: impl Iterator<Item = &'a Item>,
        extent: Extent<'_>,
    ) -> Result<FoundItems, RunError> {
        let mut all = FoundItems::default();
        for item in items {
            all.add(self.found(candidates, item, extent))?;
        }
        Ok(all)
    }

    /// Converts an item that is known to belong to this entity.
    pub(super) fn found_of(&self, id: EntityId, item: &Item, extent: Extent<'_>) -> Result<Found, RunError> {
        let entity = self.checked.model.entity(id);
        let names = &self.patterns.field_names[id.0];
        let mut values: Vec<_> = std::iter::repeat_with(|| None).take(names.len()).collect();
        item.as_map().select(names).for_each(|(place, value)| values[place] = Some(value.to_tree()));
        let mut fields = Fields::new(names, values);
        let attribute = |name: &str| item.get(name).map(|value| value.to_tree());
        self.open_sealed(entity, &mut fields, attribute)?;
        let is_selected = |field| extent.selects(id, field);
        let wanted = match extent {
            Extent::Whole => Wanted::All,
            Extent::Of(read) if read.select.is_none() => Wanted::All,
            Extent::Of(_) => Wanted::Fields(&is_selected),
            Extent::Present => Wanted::Present,
        };
        let complete = self.patterns.readers[id.0].complete(entity, wanted, fields.values_mut(), attribute);
        complete.map_err(|misfit| self.broken(id, item, misfit))?;
        extent.leave_selected(id, entity, &mut fields);
        Ok(Found { entity: id, fields })
    }

    /// Converts an item that a request writes. The `outline` of the plan, if any, saves the lookups by name.
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

    /// Returns whether the TTL of an item has passed. An expired item counts as absent (ADR 0017).
    pub(super) fn is_over(&self, id: EntityId, item: &Item) -> bool {
        let entity = self.checked.model.entity(id);
        let ttl = entity.table.and_then(|table| self.checked.model.table(table).ttl.as_ref());
        let end = ttl.filter(|ttl| entity.field_named(&ttl.value).is_some()).and_then(|ttl| item.get(&ttl.value));
        let now = self.world.now_millis().div_euclid(1000);
        matches!(end.map(|end| end.to_tree()), Some(AttributeValue::N(end)) if end < now.into())
    }

    /// Decrypts the encrypted fields. `attribute` returns the item's other attributes, since the key is part of the
    /// associated data.
    fn open_sealed(
        &self,
        entity: &Entity,
        fields: &mut Fields,
        attribute: impl Fn(&str) -> Option<AttributeValue>,
    ) -> Result<(), SealError> {
        let has_value = |name: &str| fields.get(name).is_some_and(|value| *value != AttributeValue::Null);
        let mut encrypted = entity.encrypted_fields().filter(|field| has_value(&field.name)).peekable();
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

/// Decides by the tag if both the table and the item have one, otherwise by the item's key.
fn is_of(model: &Model, id: EntityId, item: &Item, only: bool) -> bool {
    let entity = model.entity(id);
    let tag = entity.table.and_then(|table| model.table(table).tag.as_ref());
    match tag.and_then(|tag| item.get(&tag.value)) {
        Some(ValueRef::S(tagged)) => tagged == entity.tag,
        _ => !is_sentinel(model, entity, item) && (only || has_key(model, id, item)),
    }
}

/// Returns whether an item without a tag is a sentinel of a unique field, not an item of the entity.
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
