//! Domains: what the values of a field identify.
//!
//! Two fields have the same domain if equal values mean the same thing: `Message.authorId: ref User` and `User.userId`
//! both identify a user. A `ref` or `copy` has the domain of its target. Another field has the domain of the entity whose
//! id it is; otherwise its name and type are its domain. Values that many unrelated items share (booleans,
//! enumerations, numbers, times, free text) have no domain, so a comparison with them authorises nothing.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::document::ast::Verb;
use crate::schema::{
    Entity, EntityId, Expr, ExprKind, Field, FieldId, Model, Origin, Permission, Type, ValuePath, Write,
};
use crate::types;

use super::call::{caller_parameters, is_tied};
use super::disjunct::{claim, equality};
use super::given;

/// What the values of a field identify.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Domain {
    /// Items of an entity, by its id.
    Entity(EntityId),
    /// Values of fields with this name and type.
    Named(String, &'static str),
}

/// Domains of the fields of a model.
#[derive(Clone, Debug)]
pub struct Domains<'a> {
    model: &'a Model,
    /// Entities by the name and type of their own id.
    owners: BTreeMap<(&'a str, &'static str), Owners>,
    /// Own id of each entity.
    own: Vec<Option<FieldId>>,
    /// Entities by the names of the fields of their table keys.
    key_names: BTreeMap<&'a str, Vec<EntityId>>,
    /// Fields of entities that a `create` which callers reach takes as an argument.
    chosen: OnceCell<BTreeSet<(EntityId, FieldId)>>,
    /// Places of each name in the table keys.
    places: RefCell<BTreeMap<String, Places>>,
    /// Domains that the model compares with claims.
    claimed: OnceCell<BTreeSet<Domain>>,
    /// Parameters of each guard that every call fills with a claim.
    callers: OnceCell<Vec<BTreeSet<usize>>>,
}

/// Entities whose own id has the same name and type.
#[derive(Clone, Copy, Debug)]
struct Owners {
    first: EntityId,
    /// First entity whose id is generated.
    generated: Option<EntityId>,
    /// Set if the ids of several entities are generated.
    are_many: bool,
}

/// Places of a name in the table keys of a model.
#[derive(Clone, Copy, Debug, Default)]
struct Places {
    begins: bool,
    follows: bool,
    follows_claim: bool,
}

/// Longest chain of `ref`s to `ref`s that is followed.
const CHAIN_MAX: usize = 16;

impl<'a> Domains<'a> {
    /// Returns the domains of a model.
    #[must_use]
    pub fn of(model: &'a Model) -> Self {
        let mut owners: BTreeMap<(&str, &'static str), Owners> = BTreeMap::new();
        let mut key_names: BTreeMap<&str, Vec<EntityId>> = BTreeMap::new();
        let own: Vec<Option<FieldId>> = model.entities.iter().map(own_id).collect();
        for id in model.entity_ids() {
            let entity = model.entity(id);
            for field in entity.key_fields() {
                key_names.entry(&entity.field(field).name).or_default().push(id);
            }
            let own = own[id.0].map(|field| entity.field(field));
            let Some((own, kind)) = own.and_then(|own| Some((own, keyword(&own.kind)?))) else { continue };
            let of = owners.entry((&own.name, kind)).or_insert(Owners { first: id, generated: None, are_many: false });
            if own.is_generated() {
                of.are_many = of.generated.is_some();
                of.generated = of.generated.or(Some(id));
            }
        }
        let (claimed, callers, chosen) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { model, owners, own, key_names, chosen, places: RefCell::default(), claimed, callers }
    }

    /// Returns the domain of a field; `None` if its values identify nothing.
    #[must_use]
    pub fn field(&self, entity: EntityId, field: FieldId) -> Option<Domain> {
        let (entity, field) = self.target(entity, field)?;
        let of = self.model.entity(entity).field(field);
        let kind = keyword(&of.kind)?;
        if let Some(owner) = self.owner(entity, field, kind) {
            return Some(Domain::Entity(owner));
        }
        let identifies = !is_common(&of.kind) && (of.kind.free_text().is_none() || self.is_text_id(of));
        identifies.then(|| Domain::Named(of.name.clone(), kind))
    }

    /// Follows `ref` and `copy` to the field that holds the value first.
    fn target(&self, mut entity: EntityId, mut field: FieldId) -> Option<(EntityId, FieldId)> {
        for _ in 0..CHAIN_MAX {
            (entity, field) = match &self.model.entity(entity).field(field).kind {
                types::Type::Ref { entity: to, field: of, .. } => {
                    let to = (*to)?;
                    (to, of.or_else(|| self.model.entity(to).id_field())?)
                }
                types::Type::Copy { entity: to, field: of, .. } => ((*to)?, (*of)?),
                _ => return Some((entity, field)),
            };
        }
        None
    }

    /// Returns the entity that a field identifies by its name: the entity itself, or the only one with such an id.
    fn owner(&self, entity: EntityId, field: FieldId, kind: &'static str) -> Option<EntityId> {
        let of = self.model.entity(entity).field(field);
        let owners = self.owners.get(&(of.name.as_str(), kind))?;
        match (owners.generated, owners.are_many) {
            // Companions (`"USER#{userId}", "SETTINGS"`) share the id of the entity they accompany.
            (None, _) => Some(owners.first),
            (Some(one), false) => Some(one),
            (Some(_), true) => self.is_own_id(entity, field).then_some(entity),
        }
    }

    /// Returns true if a free text identifies items: it is unique, or part of a key.
    fn is_text_id(&self, field: &Field) -> bool {
        field.flags.unique.is_some() || field.is_generated() || self.key_names.contains_key(field.name.as_str())
    }

    /// Returns true if a field is the id by which its own entity is known.
    #[must_use]
    pub fn is_own_id(&self, entity: EntityId, field: FieldId) -> bool {
        self.own[entity.0] == Some(field)
    }

    /// Returns the parameters of a guard that every call fills with a claim.
    #[must_use]
    pub fn caller_parameters(&self, guard: usize) -> &BTreeSet<usize> {
        &self.callers.get_or_init(|| caller_parameters(self.model))[guard]
    }

    /// Returns true if a guard that belongs to the caller has an argument of this domain in the key of its item.
    #[must_use]
    pub fn is_guarded(&self, domain: &Domain) -> bool {
        let guards = self.model.guards.iter().enumerate();
        guards.filter(|(number, guard)| is_tied(guard, self.caller_parameters(*number))).any(|(_, guard)| {
            let arguments = guard.keys.iter().filter(|(_, value)| !value.parameters().is_empty());
            arguments.filter_map(|(field, _)| self.field(guard.entity?, *field)).any(|argument| argument == *domain)
        })
    }

    /// Returns true if every caller has a claim with the name and the type of the field.
    #[must_use]
    pub fn is_of_callers(&self, entity: EntityId, field: FieldId) -> bool {
        let of = self.model.entity(entity).field(field);
        let mut claims = self.model.caller.iter().flat_map(|caller| &caller.fields);
        let is_same = |claim: &Field| claim.kind.resolved().is_same_kind(of.kind.resolved());
        claims.any(|claim| claim.name == of.name && !claim.optional && is_same(claim))
    }

    /// Returns true if a claim identifies the caller or its tenant: by its type, or because keys have its name or value.
    #[must_use]
    pub fn is_identifying(&self, number: usize) -> bool {
        let Some(of) = self.model.caller.as_ref().and_then(|caller| caller.fields.get(number)) else { return false };
        let in_guard = || {
            let keys = self.model.guards.iter().flat_map(|guard| &guard.keys);
            keys.into_iter().any(|(_, value)| claim(value) == Some(number))
        };
        let is_text = of.kind.free_text().is_some();
        !is_common(&of.kind) && (!is_text || self.key_names.contains_key(of.name.as_str()) || in_guard())
    }

    /// Returns true if a value of the domain identifies one thing in the whole model. An id that callers may choose, and
    /// that is only part of a key, may occur in two scopes.
    #[must_use]
    pub fn is_global(&self, domain: &Domain) -> bool {
        match domain {
            Domain::Entity(id) => {
                let entity = self.model.entity(*id);
                self.own[id.0].is_some_and(|field| {
                    let is_whole = entity.key_fields() == [field];
                    is_whole || entity.field(field).flags.unique.is_some() || !self.is_chosen(*id, field)
                })
            }
            Domain::Named(name, _) => self.is_first(name, domain),
        }
    }

    /// Returns true if a `create` that callers reach takes the field as an argument.
    fn is_chosen(&self, id: EntityId, field: FieldId) -> bool {
        self.chosen.get_or_init(|| self.chosen_fields()).contains(&(id, field))
    }

    fn chosen_fields(&self) -> BTreeSet<(EntityId, FieldId)> {
        let is_open = |write: &&Write| !matches!(write.allow, None | Some(Permission::System(_)));
        let actions = self.model.writes.iter().filter(is_open).flat_map(given::actions);
        let creates = actions.filter(|(action, _)| matches!(action.verb, Verb::Create | Verb::Put | Verb::Upsert));
        let chosen = creates.filter_map(|(action, given)| {
            let entity = action.entity?;
            let field = self.own[entity.0]?;
            action.value_of(field).filter(|value| !given.arguments(value).is_empty()).map(|_| (entity, field))
        });
        chosen.collect()
    }

    /// Returns true if values of the domain need no other value beside them. A claim does if another claim precedes it in
    /// a key (`TENANT#{tenant}` before `USER#{user}`); any other value does if it begins no key.
    fn is_first(&self, name: &str, domain: &Domain) -> bool {
        let Places { begins, follows, follows_claim } = self.places(name);
        let is_claimed = self.claimed.get_or_init(|| self.claimed()).contains(domain);
        if is_claimed { !follows_claim } else { begins || !follows }
    }

    fn places(&self, name: &str) -> Places {
        if let Some(known) = self.places.borrow().get(name) {
            return *known;
        }
        let claimed = self.claimed.get_or_init(|| self.claimed());
        let mut places = Places::default();
        for &id in self.key_names.get(name).into_iter().flatten() {
            let entity = self.model.entity(id);
            let keys = entity.key_fields();
            let Some(place) = keys.iter().position(|&key| entity.field(key).name == name) else { continue };
            places.begins |= place == 0;
            places.follows |= place > 0;
            let before = keys[..place].iter().filter_map(|&key| self.field(id, key));
            places.follows_claim |= before.into_iter().any(|other| claimed.contains(&other));
        }
        self.places.borrow_mut().insert(name.to_owned(), places);
        places
    }

    /// Returns the domains that guards and permissions compare with claims.
    fn claimed(&self) -> BTreeSet<Domain> {
        let mut claimed = BTreeSet::new();
        for guard in &self.model.guards {
            let keys = guard.keys.iter().filter(|(_, value)| claim(value).is_some());
            let entity = guard.entity;
            claimed.extend(keys.filter_map(|(field, _)| self.field(entity?, *field)));
        }
        let reads = self.model.reads.iter().map(|read| (read.allow.as_ref(), read.parameters.as_slice()));
        let writes = self.model.writes.iter().map(|write| (write.allow.as_ref(), write.parameters.as_slice()));
        for (allow, parameters) in reads.chain(writes) {
            let Some(condition) = allow.and_then(Permission::condition) else { continue };
            condition.walk(&mut |part: &Expr| {
                let Some((left, right)) = equality(part) else { return };
                for (one, other) in [(left, right), (right, left)] {
                    let ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), .. }) = &other.kind else {
                        continue;
                    };
                    let field = parameters.get(*number).and_then(|parameter| parameter.field);
                    if claim(one).is_some() {
                        claimed.extend(field.and_then(|(entity, field)| self.field(entity, field)));
                    }
                }
            });
        }
        claimed
    }
}

/// Returns the id of an entity, if it identifies items by itself: a generated id, or the only field of the key.
fn own_id(entity: &Entity) -> Option<FieldId> {
    let id = entity.id_field()?;
    let of = entity.field(id);
    let is_plain = !matches!(of.kind, types::Type::Ref { .. } | types::Type::Copy { .. });
    (is_plain && (of.is_generated() || entity.key_fields().len() == 1)).then_some(id)
}

/// Returns true for values that unrelated items share.
fn is_common(kind: &Type) -> bool {
    kind.is_bool()
        || kind.is_numeric()
        || kind.is_time()
        || kind.is_bytes()
        || matches!(kind.resolved(), Type::OneOf(_))
}

/// Returns the name of a scalar type; `None` for types whose values identify nothing.
fn keyword(kind: &Type) -> Option<&'static str> {
    kind.scalar().map(|(scalar, _)| scalar.keyword())
}
