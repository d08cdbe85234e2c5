//! Effects of a delete on entities that refer to the deleted one, found by searching the whole list.

use std::collections::BTreeSet;

use keyform::{AttributeValue, Attributes};
use keyform_language::schema::{EntityId, Field, FieldId, Model, Type};

use super::{Call, Refusal, State, Stored, is_over};

/// Removes entities that refer to deleted ones by `cascade`, and refuses if a remaining entity refers to one of them by
/// `restrict`.
pub fn follow(state: &mut State, call: &Call<'_>, deleted: &[Stored]) -> Result<(), Refusal> {
    let mut going: Vec<(EntityId, Stored)> = deleted.iter().map(|stored| (stored.entity, stored.clone())).collect();
    let mut next = 0;
    while let Some((root, parent)) = going.get(next).cloned() {
        next += 1;
        let goes = |stored: &Stored| refers(call, stored, &parent, |field| field.flags.cascade.is_some());
        let (gone, left): (Vec<Stored>, Vec<Stored>) = std::mem::take(&mut state.items).into_iter().partition(goes);
        state.items = left;
        going.extend(gone.into_iter().map(|stored| (root, stored)));
    }
    for (place, (root, parent)) in going.iter().enumerate() {
        let is_root = place < deleted.len();
        let with_root = if is_root { BTreeSet::new() } else { reach(call.model, *root) };
        let refuses = |stored: &&Stored| {
            !with_root.contains(&stored.entity)
                && !is_over(call, stored)
                && refers(call, stored, parent, |field| field.flags.restrict.is_some())
        };
        if let Some(stored) = state.items.iter().find(refuses) {
            return Err(Refusal::Named(format!("{}Remains", call.model.entity(stored.entity).name)));
        }
    }
    Ok(())
}

/// Returns the entities that are deleted with one, at any depth.
fn reach(model: &Model, root: EntityId) -> BTreeSet<EntityId> {
    let mut reached: BTreeSet<EntityId> = BTreeSet::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for id in model.entity_ids() {
            let goes = |field: &Field| field.flags.cascade.is_some() && target(field, parent).is_some();
            if model.entity(id).fields.iter().any(goes) && reached.insert(id) {
                parents.push(id);
            }
        }
    }
    reached
}

fn target(field: &Field, parent: EntityId) -> Option<FieldId> {
    match field.kind {
        Type::Ref { entity: Some(entity), field, .. } if entity == parent => field,
        _ => None,
    }
}

/// Returns whether an entity refers to a parent by such a field. Fields that repeat the rest of the parent's key must
/// have its values.
fn refers(call: &Call<'_>, stored: &Stored, parent: &Stored, by: impl Fn(&Field) -> bool) -> bool {
    let model = call.model;
    let (child, of) = (model.entity(stored.entity), model.entity(parent.entity));
    let value = |fields: &Attributes, field: &Field| -> Option<AttributeValue> { fields.get(&field.name).cloned() };
    let is_direct = |number: usize| !call.indirect.contains(&(stored.entity, FieldId(number)));
    let fields = child.fields.iter().enumerate().filter(|(number, field)| by(field) && is_direct(*number));
    fields.map(|(_, field)| field).any(|field| {
        let Some(target) = target(field, parent.entity) else { return false };
        let names = value(&parent.fields, of.field(target));
        let others = of.key_fields().into_iter().filter(|key| *key != target).map(|key| of.field(key));
        let repeats = |key: &Field| {
            let same = child.fields.iter().find(|other| {
                other.name == key.name
                    && other.name != field.name
                    && !other.optional
                    && other.kind.resolved().is_same_kind(key.kind.resolved())
            });
            same.is_none_or(|same| value(&stored.fields, same) == value(&parent.fields, key))
        };
        names.is_some() && value(&stored.fields, field) == names && others.into_iter().all(repeats)
    })
}
