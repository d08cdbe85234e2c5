//! Exceptions that a model declares: `unscoped`, `bearer` and `grants`.
//!
//! `global` needs no exception: no caller of the trial has such a claim. Neither is `allow public` one: every caller
//! passes, and still reaches only its own items.

use std::collections::BTreeSet;

use keyform_check::surface::Pattern;
use keyform_language::schema::{EntityId, FieldId, LetSource, Model, Origin, Read, ValuePath, Write};
use keyform_language::schema::{ExprKind, Permission, Type};

use super::arguments::{Callable, Class, Trial};
use super::concepts::{Concepts, Node};

/// Returns the entities whose items of the other tenant a call may use.
pub(super) fn opened(
    model: &Model,
    concepts: &Concepts<'_>,
    callable: &Callable<'_>,
    trial: &Trial,
) -> BTreeSet<EntityId> {
    let mut opened: BTreeSet<EntityId> = unscoped(callable.pattern).collect();
    for (number, class) in trial.classes.iter().enumerate() {
        let is_foreign = matches!(class, Class::Foreign | Class::Stray);
        let Some(concept) = callable.concepts[number].filter(|_| is_foreign) else { continue };
        let is_bearer = |(entity, field): &(EntityId, FieldId)| {
            let of = model.entity(*entity).field(*field);
            of.flags.bearer.is_some() && concepts.concept(Node::Field(*entity, *field)) == concept
        };
        for (entity, _) in fields(model).filter(is_bearer) {
            add_granted(model, entity, &mut opened);
        }
    }
    opened
}

fn unscoped(pattern: Pattern<'_>) -> impl Iterator<Item = EntityId> {
    let clauses = match pattern {
        Pattern::Read(read) => &read.unscoped,
        Pattern::Write(write) => &write.unscoped,
    };
    clauses.iter().filter_map(|clause| clause.entity)
}

/// Adds an entity and those that its references with `grants` name.
fn add_granted(model: &Model, entity: EntityId, opened: &mut BTreeSet<EntityId>) {
    if !opened.insert(entity) {
        return;
    }
    for field in model.entity(entity).fields.iter().filter(|field| field.flags.grants.is_some()) {
        if let Type::Ref { entity: Some(target), .. } = field.kind {
            add_granted(model, target, opened);
        }
    }
}

fn fields(model: &Model) -> impl Iterator<Item = (EntityId, FieldId)> {
    model.entity_ids().flat_map(|id| (0..model.entity(id).fields.len()).map(move |field| (id, FieldId(field))))
}

/// Returns whether a write may give rights by declaration: it reads an item that grants another, or that its bearer may
/// use.
pub(super) fn grants(model: &Model, write: &Write) -> bool {
    let declares = |id: EntityId| {
        let fields = &model.entity(id).fields;
        fields.iter().any(|field| field.flags.grants.is_some() || field.flags.bearer.is_some())
    };
    let lets = write.lets.iter().filter_map(|binding| match &binding.source {
        LetSource::Read { read, .. } => Some(model.read(*read)),
        LetSource::Value(_) | LetSource::Unknown => None,
    });
    let mut reads: Vec<&Read> = lets.collect();
    if let Some(condition) = write.allow.as_ref().and_then(Permission::condition) {
        condition.walk(&mut |part| {
            if let ExprKind::ValuePath(ValuePath { origin: Origin::Read { read, .. }, .. }) = &part.kind {
                reads.push(model.read(*read));
            }
        });
    }
    let touched = write.actions().into_iter().filter_map(|action| action.entity);
    reads.iter().flat_map(|read| read.result.entities()).chain(touched).any(declares)
}

/// Returns whether an item of the entity is for every caller who knows one of its values.
pub(super) fn is_bearer(model: &Model, entity: EntityId) -> bool {
    model.entity(entity).fields.iter().any(|field| field.flags.bearer.is_some())
}

/// Returns whether everyone may read whole items of the entity.
pub(super) fn is_open(model: &Model, entity: EntityId) -> bool {
    model.reads.iter().any(|read| {
        let is_public = matches!(read.allow, Some(Permission::Public(_))) && read.select.is_none();
        is_public && read.unscoped.iter().any(|clause| clause.entity == Some(entity))
    })
}
