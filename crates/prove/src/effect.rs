//! Effect of a write on the store with both tenants, and its judgement.

use std::borrow::Cow;
use std::collections::BTreeSet;

use keyform_core::{AttributeValue, Attributes};
use keyform_language::schema::{EntityId, FieldId, Permission, Type};
use keyform_runtime::run::RunError;

use super::caller::{Owner, Persona};
use super::concepts::Node;
use super::exception;
use super::report::Kind;
use super::seed::{Place, Seeded, authorities};
use super::show;
use super::trial::{Violation, Worlds, Written};
use super::world::Items;

/// Contents of the store with both tenants after a write.
pub(super) struct Effect<'w> {
    pub(super) after: Cow<'w, Items>,
    /// Places whose item is new or has changed.
    changed: Vec<Place>,
}

/// Origin of the identifiers of an item.
#[derive(Default)]
struct Origins {
    has_own: bool,
    foreign: Vec<FieldId>,
}

impl<'e> Effect<'e> {
    pub(super) fn of(worlds: &'e Worlds<'_>) -> Self {
        let after = worlds.both.dump();
        let before = worlds.both.seeded();
        let changed = match &after {
            Cow::Borrowed(_) => Vec::new(),
            Cow::Owned(after) => {
                let changed = after.iter().filter(|(place, item)| before.get(*place) != Some(*item));
                changed.map(|(place, _)| place.clone()).collect()
            }
        };
        Self { after, changed }
    }

    fn is_empty(&self) -> bool {
        matches!(self.after, Cow::Borrowed(_))
    }

    /// Returns the closed items of the other tenant that were changed or deleted.
    pub(super) fn changed_others<'w>(&'w self, worlds: &'w Worlds<'_>) -> impl Iterator<Item = &'w Seeded> {
        let closed = worlds.both.closed().filter(|_| !self.is_empty());
        closed.filter(|other| self.after.get(&other.place) != Some(&other.item))
    }

    /// Returns how a write violated isolation, if it did.
    pub(super) fn harm(
        &self,
        worlds: &Worlds<'_>,
        persona: Persona,
        alone: &Written,
        both: &Written,
    ) -> Option<Violation> {
        if let Some(other) = self.changed_others(worlds).next() {
            let verb = if self.after.contains_key(&other.place) { "changes" } else { "deletes" };
            let what = format!("{verb} an item of the other tenant");
            return Some(Violation::new(Kind::Change, what).with(worlds, other));
        }
        match both {
            Ok(_) => self.created(worlds, persona).or_else(|| self.dependence(worlds, alone, both)),
            Err(_) if !self.is_empty() && *self.after != *worlds.both.seeded() => {
                Some(Violation::new(Kind::Change, "is refused, but changes data"))
            }
            Err(error) => exposed(worlds, error),
        }
    }

    /// Returns the violation of a write that succeeds in another way because of the other tenant.
    fn dependence(&self, worlds: &Worlds<'_>, alone: &Written, both: &Written) -> Option<Violation> {
        if alone != both {
            return Some(Violation::new(Kind::Dependence, "succeeds because of items of the other tenant"));
        }
        let closed: BTreeSet<&Place> = worlds.both.closed().map(|other| &other.place).collect();
        let own = self.after.iter().filter(|(place, _)| !closed.contains(place));
        let is_equal = own.eq(worlds.alone.dump().iter());
        let what = "writes something else because of items of the other tenant";
        (!is_equal).then(|| Violation::new(Kind::Dependence, what))
    }

    /// Returns the violation of a write that created an item which only the other tenant's identifiers place.
    fn created(&self, worlds: &Worlds<'_>, persona: Persona) -> Option<Violation> {
        self.new_items(worlds).find_map(|(place, words)| {
            let item = &self.after[place];
            let entity = worlds.both.entity(&place.0, item)?;
            let origins = origins(worlds, persona, entity, item);
            let of = worlds.both.model().entity(entity);
            let places =
                |field: &FieldId| of.key_fields().contains(field) || matches!(of.field(*field).kind, Type::Ref { .. });
            let what = "creates an item in the scope of the other tenant";
            (!origins.has_own && origins.foreign.iter().any(places)).then(|| {
                let mut violation = Violation::new(Kind::Creation, what);
                violation.items.push(format!("{words}, which the call created"));
                violation
            })
        })
    }

    /// Returns the new items that belong to an entity, with their words.
    pub(super) fn new_items<'w>(&'w self, worlds: &'w Worlds<'_>) -> impl Iterator<Item = (&'w Place, String)> {
        let new = self.changed.iter().filter(|place| !worlds.both.seeded().contains_key(*place));
        new.filter_map(|place| {
            let item = &self.after[place];
            let entity = worlds.both.entity(&place.0, item)?;
            Some((place, show::item(worlds.both.model(), entity, item)))
        })
    }

    /// Returns whether the write changed or deleted an item that a guard reads.
    pub(super) fn touches_authority(&self, worlds: &Worlds<'_>) -> bool {
        let model = worlds.both.model();
        let of: Vec<EntityId> = authorities(model).collect();
        let is_one = |place: &Place| {
            let entity = worlds.both.entity(&place.0, &self.after[place]);
            entity.is_some_and(|entity| of.contains(&entity))
        };
        self.changed.iter().any(is_one)
    }

    /// Returns the violation of a write that stores an item which does not fit its entity.
    pub(super) fn misfit(&self, worlds: &Worlds<'_>) -> Option<Violation> {
        self.changed.iter().find_map(|place| {
            let was_unfit =
                worlds.both.seeded().get(place).is_some_and(|item| worlds.both.misfit(&place.0, item).is_some());
            let why = worlds.both.misfit(&place.0, &self.after[place]).filter(|_| !was_unfit)?;
            Some(Violation::new(Kind::Misfit, format!("stores an item that does not fit its entity: {why}")))
        })
    }

    /// Returns the fields that hold a foreign value and are used as a reference: in a key, a `ref`, `internal`, or an
    /// argument of a read for code.
    pub(super) fn references(&self, worlds: &Worlds<'_>, persona: Persona) -> Vec<(EntityId, FieldId)> {
        let model = worlds.both.model();
        let mut found = Vec::new();
        for place in &self.changed {
            let (item, before) = (&self.after[place], worlds.both.seeded().get(place));
            let Some(entity) = worlds.both.entity(&place.0, item) else { continue };
            let of = model.entity(entity);
            let is_new = |field: FieldId| {
                let name = &of.field(field).name;
                before.is_none_or(|before| before.get(name) != item.get(name))
            };
            let is_reference = |field: FieldId| {
                of.key_fields().contains(&field)
                    || matches!(of.field(field).kind, Type::Ref { .. })
                    || is_read_by_code(worlds, entity, field)
            };
            let foreign = origins(worlds, persona, entity, item).foreign;
            found.extend(
                foreign.into_iter().filter(|&field| is_new(field) && is_reference(field)).map(|field| (entity, field)),
            );
            let fields = (0..of.fields.len()).map(FieldId).filter(|&field| of.field(field).flags.internal.is_some());
            let content = fields.filter(|&field| is_new(field) && is_foreign_content(worlds, entity, field, item));
            found.extend(content.map(|field| (entity, field)));
        }
        found.dedup();
        found
    }
}

/// Returns how a write in the store with changed contents of the other tenant violated isolation, if it did.
pub(super) fn of_change(worlds: &Worlds<'_>, alone: &Written, changed: &Written) -> Option<Violation> {
    let world = &worlds.changed;
    let after = world.dump();
    if let Some(other) = world.closed().find(|other| after.get(&other.place) != Some(&other.item)) {
        let violation = Violation::new(Kind::Change, "changes an item of the other tenant, which its contents permit");
        return Some(violation.with(worlds, other));
    }
    if changed.is_err() {
        return None;
    }
    let closed: BTreeSet<&Place> = world.closed().map(|other| &other.place).collect();
    let own = after.iter().filter(|(place, _)| !closed.contains(place));
    let is_equal = alone == changed && own.eq(worlds.alone.dump().iter());
    let what = "succeeds in another way because of the contents of the other tenant";
    (!is_equal).then(|| Violation::new(Kind::Dependence, what))
}

/// Returns whether a read for code takes the field as an argument.
fn is_read_by_code(worlds: &Worlds<'_>, entity: EntityId, field: FieldId) -> bool {
    let of_code = worlds.both.model().reads.iter().filter(|read| matches!(read.allow, Some(Permission::System(_))));
    of_code.flat_map(|read| &read.parameters).any(|parameter| parameter.field == Some((entity, field)))
}

fn is_foreign_content(worlds: &Worlds<'_>, entity: EntityId, field: FieldId, item: &Attributes) -> bool {
    let of = worlds.both.model().entity(entity).field(field);
    let content = |owner| worlds.vocabulary.content(&of.kind, &of.name, owner);
    item.get(&of.name) == Some(&content(Owner::Other)) && content(Owner::Other) != content(Owner::Caller)
}

/// Returns where the identifiers of an item come from. Identifiers of opened items count as neither.
fn origins(worlds: &Worlds<'_>, persona: Persona, entity: EntityId, item: &Attributes) -> Origins {
    let vocabulary = &worlds.vocabulary;
    let concepts = vocabulary.concepts;
    let model = worlds.both.model();
    let opened: Vec<_> = worlds
        .both
        .opened()
        .iter()
        .filter_map(|id| Some(concepts.concept(Node::Field(*id, model.entity(*id).id_field()?))))
        .collect();
    let mut origins = Origins::default();
    for (number, field) in model.entity(entity).fields.iter().enumerate() {
        let concept = concepts.concept(Node::Field(entity, FieldId(number)));
        let Some(value) = item.get(&field.name).filter(|_| concepts.is_naming(concept)) else { continue };
        if opened.contains(&concept) || *value == AttributeValue::Null {
            continue;
        }
        let of = |owner| vocabulary.value(concept, &field.kind, owner);
        let (own, other) = (of(vocabulary.owner_of(concept, persona)), of(Owner::Other));
        let is_own = *value == own || *value == of(Owner::Caller);
        if own == other {
            continue;
        }
        origins.has_own |= is_own;
        if *value == other {
            origins.foreign.push(FieldId(number));
        }
    }
    origins
}

/// Returns the violation of a refusal that shows an item of the other tenant.
fn exposed(worlds: &Worlds<'_>, error: &RunError) -> Option<Violation> {
    let (RunError::Refused { item: Some(item), .. } | RunError::Conflict(Some(item))) = error else { return None };
    let model = worlds.both.model();
    let is_bearer = exception::is_bearer(model, item.entity) && worlds.both.opened().contains(&item.entity);
    let other = worlds.both.other_of(item).filter(|_| !is_bearer && !exception::is_open(model, item.entity))?;
    Some(Violation::new(Kind::Refusal, "shows an item of the other tenant in its refusal").with(worlds, other))
}
