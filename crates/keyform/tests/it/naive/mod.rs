//! Naive interpreter of a model: a plain list of entities, and writes as steps over a copy that is discarded when a
//! step refuses.
//!
//! 1. [`State`] is the list. It has no keys, plans, indexes, sentinels or requests: an entity is found by its
//!    identifying fields.
//! 2. `write` runs the steps of a write, `change` applies a step to an item, `value` evaluates expressions and
//!    conditions. `dependents` handles entities that refer to deleted ones.
//! 3. `read` finds entities by comparing fields.
//! 4. `draw` generates random values, and `compare` compares values.

pub mod change;
pub mod compare;
pub mod dependents;
pub mod draw;
pub mod read;
pub mod value;
pub mod write;

use keyform::value::Number;
use keyform::{AttributeValue, Attributes};
use keyform_language::schema::{Entity, EntityId, FieldId, Model};

/// Entity with its fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    pub entity: EntityId,
    pub fields: Attributes,
}

/// All stored entities. Expired ones are still included but not found.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub items: Vec<Stored>,
}

/// Reason for refusing a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// Named outcome of the model.
    Named(String),
    /// Failed condition without an outcome in the model.
    Conflict,
    /// No item to return.
    NotFound,
    /// The caller lacks permission.
    Forbidden,
    /// No request can express the call: a path into a missing value, the same item twice, a key without a value.
    Impossible,
}

/// Call with its time.
pub struct Call<'a> {
    pub model: &'a Model,
    pub arguments: &'a Attributes,
    /// `None` for calls by code.
    pub caller: Option<&'a Attributes>,
    pub now_millis: i64,
    /// Refs whose items are deleted with those of an intermediate entity, because no key can look them up by the ref.
    pub indirect: &'a [(EntityId, FieldId)],
    /// Source of ids for `ulid()` and similar functions during this call.
    pub fresh: &'a dyn keyform::World,
}

impl State {
    /// Returns the entity with these key fields, unless it has expired.
    pub fn living(&self, call: &Call<'_>, id: EntityId, key: &Attributes) -> Option<&Stored> {
        self.at(call.model, id, key).map(|place| &self.items[place]).filter(|stored| !is_over(call, stored))
    }

    /// Returns the index of the entity with these key fields.
    pub fn at(&self, model: &Model, id: EntityId, key: &Attributes) -> Option<usize> {
        let names = key_names(model.entity(id));
        let same = |stored: &Stored| {
            stored.entity == id && names.iter().all(|name| stored.fields.get(*name) == key.get(*name))
        };
        self.items.iter().position(same)
    }
}

/// Returns the fields that identify an entity.
pub fn key_names(entity: &Entity) -> Vec<&str> {
    entity.key_fields().into_iter().map(|field| entity.field(field).name.as_str()).collect()
}

/// Returns the field by which an entity expires.
pub fn end_field(model: &Model, id: EntityId) -> Option<FieldId> {
    let entity = model.entity(id);
    let name = &entity.table.and_then(|table| model.table(table).ttl.as_ref())?.value;
    entity.field_named(name)
}

/// Returns whether an entity has expired.
pub fn is_over(call: &Call<'_>, stored: &Stored) -> bool {
    let entity = call.model.entity(stored.entity);
    let end = end_field(call.model, stored.entity).and_then(|field| stored.fields.get(&entity.field(field).name));
    matches!(end, Some(AttributeValue::N(end)) if *end < Number::from(call.now_millis.div_euclid(1000)))
}
