//! A model taken at its word: a plain list of entities, and writes as steps over a copy of it that is thrown away when one refuses.
//!
//! 1. [`State`] is the list. It knows nothing of keys, plans, indexes, sentinels or requests: an entity is found by the fields that name it.
//! 2. `write` runs the steps of a write, `change` does to an item what a step says, `value` computes expressions and conditions.
//!    `dependents` are what goes with a deleted entity, or refuses.
//! 3. `read` finds entities by comparing fields.
//! 4. `draw` makes random values, and `compare` compares them.

pub mod change;
pub mod compare;
pub mod dependents;
pub mod draw;
pub mod read;
pub mod value;
pub mod write;

use keyform::language::schema::{Entity, EntityId, FieldId, Model};
use keyform::{AttributeValue, Attributes, Number};

/// An entity with its fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    pub entity: EntityId,
    pub fields: Attributes,
}

/// Everything that is stored. What has expired is still here, and is not found.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub items: Vec<Stored>,
}

/// Why a call is refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// An outcome of the author's.
    Named(String),
    /// A condition of which the author says nothing.
    Conflict,
    /// There is nothing to return.
    NotFound,
    /// The caller may not.
    Forbidden,
    /// No request can say it: a path into nothing, one item twice, a key without a value.
    Impossible,
}

/// A call, and the moment of it.
pub struct Call<'a> {
    pub model: &'a Model,
    pub arguments: &'a Attributes,
    /// `None` is code.
    pub caller: Option<&'a Attributes>,
    pub now_millis: i64,
    /// The refs whose items go with those of another entity in between, because no key finds them by the ref.
    pub indirect: &'a [(EntityId, FieldId)],
    /// What `ulid()` and its kind give during this call.
    pub fresh: &'a dyn keyform::language::bind::Fresh,
}

impl State {
    /// The entity whose key fields have these values, unless its time is over.
    pub fn living(&self, call: &Call<'_>, id: EntityId, key: &Attributes) -> Option<&Stored> {
        self.at(call.model, id, key).map(|place| &self.items[place]).filter(|stored| !is_over(call, stored))
    }

    /// Where the entity is whose key fields have these values.
    pub fn at(&self, model: &Model, id: EntityId, key: &Attributes) -> Option<usize> {
        let names = key_names(model.entity(id));
        let same = |stored: &Stored| {
            stored.entity == id && names.iter().all(|name| stored.fields.get(*name) == key.get(*name))
        };
        self.items.iter().position(same)
    }
}

/// The fields that name an entity.
pub fn key_names(entity: &Entity) -> Vec<&str> {
    entity.key_fields().into_iter().map(|field| entity.field(field).name.as_str()).collect()
}

/// The field by which an entity expires.
pub fn end_field(model: &Model, id: EntityId) -> Option<FieldId> {
    let entity = model.entity(id);
    let (name, _) = entity.table.and_then(|table| model.table(table).ttl.as_ref())?;
    entity.field_named(name)
}

/// Whether the time of an entity is over.
pub fn is_over(call: &Call<'_>, stored: &Stored) -> bool {
    let entity = call.model.entity(stored.entity);
    let end = end_field(call.model, stored.entity).and_then(|field| stored.fields.get(&entity.field(field).name));
    matches!(end, Some(AttributeValue::N(end)) if *end < Number::from(call.now_millis.div_euclid(1000)))
}
