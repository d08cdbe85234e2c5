//! Rights: the guards that hold for a caller and a tenant. A write must not give a right that its caller does not have.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use keyform_core::{Attributes, Item};
use keyform_language::bind;
use keyform_language::bind::sample::Sample;
use keyform_language::schema::{Expr, Guard, Model};
use keyform_language::scope::call::is_tied;

use super::caller::{Owner, Persona};
use super::concepts::Node;
use super::seed::place;
use super::vocabulary::{NOW_MILLIS, Vocabulary};
use super::world::Items;

/// Guard that holds for a caller on a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Right {
    pub(super) guard: usize,
    pub(super) persona: Persona,
    pub(super) tenant: Owner,
}

const PERSONAS: [Persona; 6] =
    [Persona::Owner, Persona::Member, Persona::Removed, Persona::Both, Persona::Stranger, Persona::Other];

/// Returns the rights that the items of a store give.
pub(super) fn of_items(model: &Model, vocabulary: &Vocabulary<'_>, items: &Items) -> BTreeSet<Right> {
    let mut rights = BTreeSet::new();
    // A guard that takes the caller as an argument gives a right to a pair of arguments, which items alone do not show.
    let no_callers = BTreeSet::new();
    for (number, guard) in model.guards.iter().enumerate().filter(|(_, guard)| is_tied(guard, &no_callers)) {
        for persona in PERSONAS {
            for tenant in [Owner::Caller, Owner::Other] {
                if holds(model, vocabulary, items, guard, persona, tenant) {
                    rights.insert(Right { guard: number, persona, tenant });
                }
            }
        }
    }
    rights
}

/// Returns the new right that a caller gave without having it.
pub(super) fn gained(
    model: &Model,
    before: &BTreeSet<Right>,
    after: &BTreeSet<Right>,
    actor: Persona,
    arguments: &Attributes,
) -> Option<Right> {
    // A token without optional claims, or with further ones, is still the owner's.
    let actor = PERSONAS.into_iter().find(|persona| persona.person() == actor.person()).unwrap_or(actor);
    let has = |right: &&Right| before.contains(&Right { persona: actor, ..**right });
    let is_chosen = |right: &&Right| {
        let guard = &model.guards[right.guard];
        has_scope(guard) || tested(model, guard).any(|name| arguments.contains_key(name))
    };
    after.difference(before).filter(|right| !has(right)).find(is_chosen).copied()
}

/// Returns whether the guard decides by an argument which item it reads.
fn has_scope(guard: &Guard) -> bool {
    guard.keys.iter().any(|(_, value)| !value.parameters().is_empty())
}

/// Returns the names of the fields that the guard's condition tests.
fn tested<'a>(model: &'a Model, guard: &'a Guard) -> impl Iterator<Item = &'a str> {
    let entity = guard.entity.map(|id| model.entity(id));
    let fields = guard.condition.iter().flat_map(Expr::own_fields);
    fields.filter_map(move |field| Some(entity?.field(field).name.as_str()))
}

fn holds(
    model: &Model,
    vocabulary: &Vocabulary<'_>,
    items: &Items,
    guard: &Guard,
    persona: Persona,
    tenant: Owner,
) -> bool {
    let sample = Sample::new(model);
    let mut inputs = sample.no_call();
    inputs.arguments = Cow::Owned(arguments(vocabulary, guard, tenant));
    inputs.caller = Cow::Owned(vocabulary.claims(persona));
    inputs.variables = BTreeMap::new();
    inputs.now_millis = NOW_MILLIS;
    let Ok(Some(bound)) = bind::guard(model, guard, &inputs) else { return false };
    let key = place(model, &bound.get.table, &bound.get.key);
    let item = items.get(&(bound.get.table.clone(), key)).map(Item::from);
    bound.verdict(item.as_ref()) == Some(true)
}

/// Returns the arguments of a guard that name a tenant.
fn arguments(vocabulary: &Vocabulary<'_>, guard: &Guard, tenant: Owner) -> Attributes {
    let named = guard.parameters.iter().enumerate().filter_map(|(number, parameter)| {
        let (field, _) = guard.keys.iter().find(|(_, value)| value.parameters() == [number])?;
        let concept = vocabulary.concepts.concept(Node::Field(guard.entity?, *field));
        Some((parameter.field_name.clone(), vocabulary.value(concept, &parameter.kind, tenant)))
    });
    named.collect()
}
