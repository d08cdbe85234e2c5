//! Moves the sentinels of unique values with the item that has them.

use keyform_core::Attributes;
use keyform_core::expression::{Comparator, Condition, Operand, Path};
use keyform_core::operation::TransactAction;

use crate::document::ast::Verb;
use crate::plan;
use crate::schema::{Action, Entity, EntityId, FieldId, Model};

use super::super::expiry::Expiry;
use super::super::fields::Fields;
use super::super::{BindError, sentinel};
use super::walk::Visited;
use super::{Demand, Refusal, taken_name};

/// Unique fields that an action changes, and their values before and after it.
pub(super) struct UniqueValues<'v> {
    pub(super) fields: &'v [FieldId],
    pub(super) before: &'v Fields,
    pub(super) after: &'v Fields,
}

/// An action on a sentinel.
pub(super) enum SentinelAction {
    /// Deletes the sentinel of a value that the item no longer has.
    Release(TransactAction),
    /// Puts the sentinel again, with a new expiry time.
    Renew(TransactAction),
    /// Puts the sentinel of a new value, unless another item has it.
    Claim(TransactAction, Refusal),
}

/// Returns the actions that release the sentinels of old values and claim those of new ones. An unchanged value keeps
/// its sentinel. `name` is the table in the store.
pub(super) fn moves(
    visited: Visited<'_, '_>,
    name: &str,
    now_millis: i64,
    values: &UniqueValues<'_>,
) -> Result<Vec<SentinelAction>, BindError> {
    let Visited { action, entity, table, .. } = visited;
    let mut moves = Vec::new();
    let expiry = Expiry::of(table, entity, now_millis);
    for &field in values.fields {
        let replaces = action.verb == Verb::Put;
        let mut whole = if replaces { Fields::new() } else { values.before.clone() };
        whole.extend(values.after.iter().map(|(field, value)| (field, value.clone())));
        let old = sentinel::key(table, entity, field, values.before)?;
        let stays = replaces || !touches(action, field) || values.after.contains(field);
        let new = if stays { sentinel::key(table, entity, field, &whole)? } else { None };
        if let Some(expiry) = expiry.filter(|expiry| touches(action, expiry.field)) {
            set_expiry(action, expiry, values.after, &mut whole)?;
        }
        if old == new {
            let ends = |expiry: Expiry<'_>| replaces || touches(action, expiry.field);
            if let Some(key) = new.filter(|_| expiry.is_some_and(ends)) {
                moves.push(SentinelAction::Renew(sentinel::renew(table, name.to_owned(), key, entity, &whole)));
            }
            continue;
        }
        moves.extend(old.map(|old| SentinelAction::Release(sentinel::release(name.to_owned(), old))));
        moves.extend(new.map(|new| {
            let claim = sentinel::claim(table, name.to_owned(), new, entity, &whole, expiry);
            SentinelAction::Claim(claim, taken(entity, field, action))
        }));
    }
    Ok(moves)
}

/// Sets the expiry time that a sentinel gets with its item.
fn set_expiry(action: &Action, expiry: Expiry<'_>, after: &Fields, whole: &mut Fields) -> Result<(), BindError> {
    match after.get(expiry.field) {
        Some(end) => whole.insert(expiry.field, end.clone()),
        None if counts(action, expiry.field) => {
            let what = "a deadline that is counted, of an item with unique values";
            return Err(BindError::Inexpressible(what.to_owned()));
        }
        None => whole.remove(expiry.field),
    }
    Ok(())
}

/// Returns the demand of a claim: its sentinel must not exist.
pub(super) fn demand_of(claim: &TransactAction, refusal: Refusal) -> Option<Demand> {
    match claim {
        TransactAction::Put { condition, .. } => {
            condition.clone().map(|condition| Demand { condition, refusal, is_equality: false, is_strict: false })
        }
        TransactAction::Update { .. } | TransactAction::Delete { .. } | TransactAction::Check { .. } => None,
    }
}

/// Returns the refusal for a taken unique value: the outcome of a `create`, which covers the whole item, else one named
/// after the field.
fn taken(entity: &Entity, field: FieldId, action: &Action) -> Refusal {
    match (action.verb, &action.outcome) {
        (Verb::Create, Some(outcome)) => Refusal { outcome: outcome.name.clone(), is_permission: false },
        _ => Refusal { outcome: taken_name(&entity.field(field).name), is_permission: false },
    }
}

/// Iterates over the unique fields that an action sets and sentinels enforce.
pub(super) fn set_fields<'a>(entity: &'a Entity, action: &'a Action) -> impl Iterator<Item = FieldId> + 'a {
    let fields = action.changes.iter().filter_map(|change| change.field);
    fields.filter(|field| sentinel::is_guarded(entity, *field))
}

/// Returns the fields of an entity whose values a delete depends on: unique ones, and those that others refer to.
pub(super) fn watched_fields(model: &Model, id: EntityId) -> Vec<FieldId> {
    let mut watched: Vec<FieldId> = plan::guarded_fields(model.entity(id)).collect();
    let referred = plan::referred_fields(model, id).into_iter().filter(|field| !watched.contains(field));
    let referred: Vec<FieldId> = referred.collect();
    watched.extend(referred);
    watched
}

fn touches(action: &Action, field: FieldId) -> bool {
    action.changes.iter().any(|change| change.field == Some(field))
}

/// Returns true if an action changes a field relative to its stored value.
fn counts(action: &Action, field: FieldId) -> bool {
    action.changes.iter().any(|change| change.field == Some(field) && change.is_cumulative())
}

/// Returns the current values of the unique fields, of the fields they are unique within, and of the expiry time.
pub(in super::super) fn values_before(
    entity: &Entity,
    guarded: &[FieldId],
    expiry: Option<Expiry<'_>>,
    current: Option<&Attributes>,
    keys: &Fields,
) -> Fields {
    let mut fields = Fields::new();
    if let Some(expiry) = expiry.filter(|_| !guarded.is_empty())
        && let Some(end) = current.and_then(|item| item.get(&entity.field(expiry.field).name))
    {
        fields.insert(expiry.field, end.clone());
    }
    for &field in guarded {
        let unique = entity.field(field).flags.unique.as_ref();
        for part in unique.iter().flat_map(|unique| &unique.per).chain([&field]) {
            let now = current.and_then(|item| item.get(&entity.field(*part).name));
            if let Some(value) = keys.get(*part).or(now).filter(|_| current.is_some()) {
                fields.insert(*part, value.clone());
            }
        }
    }
    fields
}

/// Returns conditions that the values read are unchanged, so that the write releases the right sentinels.
pub(in super::super) fn unchanged(entity: &Entity, guarded: &[FieldId], before: &Fields) -> Vec<Condition> {
    let test = |field: &FieldId| {
        let path = Path::attribute(entity.field(*field).name.clone());
        match before.get(*field) {
            Some(value) => Condition::Compare {
                left: Operand::Path(path),
                comparator: Comparator::Equal,
                right: Operand::Value(value.clone().into()),
            },
            None => Condition::AttributeNotExists(path),
        }
    };
    if guarded.is_empty() {
        return Vec::new();
    }
    let keys = entity.key_fields();
    let mut fields: Vec<FieldId> = Vec::new();
    for &field in guarded {
        let per = entity.field(field).flags.unique.iter().flat_map(|unique| unique.per.iter().copied());
        fields.extend(per.filter(|part| !keys.contains(part)).chain([field]));
    }
    fields.sort_unstable();
    fields.dedup();
    fields.iter().map(test).collect()
}
