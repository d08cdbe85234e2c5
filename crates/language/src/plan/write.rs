//! Plans a write as one request: a single item, a transaction, or a batch.

use std::sync::Arc;

use crate::document::ast::{Presence, Verb};
use crate::schema::{Action, Entity, EntityId, FieldId, Model, Table, Write, WriteStep};

use super::{Dependents, Outline, PlannedAction, Role, WriteKind, WritePlan};

/// Plans a write; `None` if one of its entities did not resolve.
pub(super) fn plan(model: &Model, dependents: &Dependents, write: &Write) -> Option<WritePlan> {
    let has_token = write.idempotent.is_some();
    let mut plan = WritePlan { lets: lets(write), actions_max: Some(0), has_token, ..WritePlan::default() };
    let of = Of { model, dependents, is_batch: write.batch.is_some() };
    add_steps(of, &write.steps, &mut Vec::new(), Some(1), &mut plan)?;
    plan.request = request(write, &plan);
    Some(plan)
}

/// Context of planning. The intents of a batch are put before it and do not count as its actions.
#[derive(Clone, Copy)]
struct Of<'a> {
    model: &'a Model,
    dependents: &'a Dependents,
    is_batch: bool,
}

/// Returns the indexes of the `let`s that are reads.
fn lets(write: &Write) -> Vec<usize> {
    let reads = write.lets.iter().enumerate().filter(|(_, binding)| binding.read().is_some());
    reads.map(|(number, _)| number).collect()
}

/// Adds the actions of steps that run up to `times` times.
fn add_steps(
    of: Of<'_>,
    steps: &[WriteStep],
    path: &mut Vec<usize>,
    times: Option<u64>,
    plan: &mut WritePlan,
) -> Option<()> {
    for (number, step) in steps.iter().enumerate() {
        path.push(number);
        match step {
            WriteStep::Action(action) => add_action(of, action, path, times, plan)?,
            WriteStep::For(each) => {
                let times = times.zip(each.max).map(|(outer, inner)| outer.saturating_mul(inner));
                add_steps(of, &each.steps, path, times, plan)?;
            }
        }
        path.pop();
    }
    Some(())
}

fn add_action(
    Of { model, dependents, is_batch }: Of<'_>,
    action: &Action,
    path: &[usize],
    times: Option<u64>,
    plan: &mut WritePlan,
) -> Option<()> {
    let id = action.entity?;
    let planned = |role, presence| PlannedAction {
        entity: id,
        role,
        step: path.to_vec(),
        presence,
        repeated: path.len() > 1,
        outline: None,
    };
    let before = plan.actions.len();
    plan.actions.push(PlannedAction {
        outline: outline(model, id, action).map(Arc::new),
        ..planned(role(action.verb), presence(action))
    });
    plan.actions.extend(sentinels(model, model.entity(id), action).map(|(role, presence)| planned(role, presence)));
    let cascades = action.verb == Verb::Delete && dependents.cascading(id).next().is_some();
    if cascades {
        plan.actions.push(planned(Role::Intend, None));
    }
    if action.verb == Verb::Delete && (cascades || dependents.may_refuse(id, id)) {
        plan.parents.push(path.to_vec());
    }
    let apart = usize::from(cascades && is_batch);
    let added = (plan.actions.len() - before - apart) as u64;
    plan.actions_max = plan.actions_max.zip(times).map(|(sum, times)| sum.saturating_add(added.saturating_mul(times)));
    Some(())
}

/// Returns the outline of the item that an action puts.
fn outline(model: &Model, entity: EntityId, action: &Action) -> Option<Outline> {
    let entity = model.entity(entity);
    let puts = matches!(action.verb, Verb::Create | Verb::Put);
    let table = entity.table.filter(|_| puts)?;
    Some(Outline::of(model.table(table), entity, |field| changes(action, field)))
}

fn role(verb: Verb) -> Role {
    match verb {
        Verb::Create | Verb::Put => Role::Put,
        Verb::Update | Verb::Upsert => Role::Update,
        Verb::Delete => Role::Delete,
        Verb::Check => Role::Check,
    }
}

/// Returns the required presence of the item; `None` if it may exist or not.
fn presence(action: &Action) -> Option<Presence> {
    match action.verb {
        Verb::Create => Some(Presence::Absent),
        Verb::Update => Some(Presence::Exists),
        Verb::Put | Verb::Upsert | Verb::Delete | Verb::Check => action.presence,
    }
}

/// Returns the sentinel actions that enforce the unique fields of an action's entity.
///
/// A new item claims its values, a deleted one releases them, and a changed value does both. If an update only changes
/// the expiry time, the sentinels are put again. A field needs no sentinel if it is the whole key, alone or together
/// with the fields it is unique within: the key enforces it.
fn sentinels<'a>(
    model: &'a Model,
    entity: &'a Entity,
    action: &'a Action,
) -> impl Iterator<Item = (Role, Option<Presence>)> + 'a {
    guarded_fields(entity).flat_map(move |field| {
        let claim = (Role::Claim(field), Some(Presence::Absent));
        let release = (Role::Release(field), None);
        let changed = changes(action, field);
        let moved = changed || changes_within(entity, action, field);
        let renewed = entity.table.is_some_and(|table| changes_end(model.table(table), entity, action));
        match action.verb {
            Verb::Create if changed => vec![claim],
            Verb::Put if changed => vec![release, claim],
            Verb::Update | Verb::Upsert if moved => vec![release, claim],
            Verb::Update | Verb::Upsert if renewed => vec![(Role::Claim(field), None)],
            Verb::Put | Verb::Delete => vec![release],
            Verb::Create | Verb::Update | Verb::Upsert | Verb::Check => Vec::new(),
        }
    })
}

fn changes(action: &Action, field: FieldId) -> bool {
    action.changes.iter().any(|change| change.field == Some(field))
}

/// Returns true if an action changes a field that `field` is unique within.
fn changes_within(entity: &Entity, action: &Action, field: FieldId) -> bool {
    entity.field(field).flags.unique.iter().flat_map(|unique| &unique.per).any(|per| changes(action, *per))
}

/// Returns true if an action changes the expiry time of the item.
fn changes_end(table: &Table, entity: &Entity, action: &Action) -> bool {
    let end = table.ttl.as_ref().and_then(|ttl| entity.field_named(&ttl.value));
    end.is_some_and(|end| changes(action, end))
}

/// Iterates over the unique fields whose sentinels an update moves or puts again.
pub(crate) fn moved_fields<'a>(
    table: &'a Table,
    entity: &'a Entity,
    action: &'a Action,
) -> impl Iterator<Item = FieldId> + 'a {
    let moves = move |field: &FieldId| {
        changes(action, *field) || changes_within(entity, action, *field) || changes_end(table, entity, action)
    };
    guarded_fields(entity).filter(moves)
}

/// Iterates over the unique fields of an entity that need a sentinel.
pub fn guarded_fields(entity: &Entity) -> impl Iterator<Item = FieldId> + '_ {
    entity.fields.iter().enumerate().filter_map(|(number, field)| {
        let unique = field.flags.unique.as_ref()?;
        let id = FieldId(number);
        let key = entity.key_fields();
        let kept_by_key = !key.is_empty() && key.iter().all(|part| *part == id || unique.per.contains(part));
        (!kept_by_key).then_some(id)
    })
}

fn request(write: &Write, plan: &WritePlan) -> WriteKind {
    match plan.actions.as_slice() {
        _ if write.batch.is_some() => WriteKind::Batch,
        [only] if write.idempotent.is_none() && !only.repeated => match only.role {
            Role::Put => WriteKind::Put,
            Role::Update => WriteKind::Update,
            Role::Delete => WriteKind::Delete,
            Role::Check | Role::Claim(_) | Role::Release(_) | Role::Intend => WriteKind::Transaction,
        },
        _ => WriteKind::Transaction,
    }
}

impl WritePlan {
    /// Returns true if one of its deletes cascades.
    #[must_use]
    pub fn cascades(&self) -> bool {
        self.actions.iter().any(|planned| planned.role == Role::Intend)
    }

    /// Returns true if the delete of this step cascades.
    #[must_use]
    pub fn intends(&self, step: &[usize]) -> bool {
        self.actions.iter().any(|planned| planned.role == Role::Intend && planned.step == step)
    }

    /// Returns true if it cannot run without a transaction. On a store without transactions, a single cascading delete
    /// puts its intent first (ADR 0020).
    #[must_use]
    pub fn needs_transaction(&self) -> bool {
        let mut own = self.actions.iter().filter(|planned| planned.role != Role::Intend);
        let is_one_delete = own.next().is_some_and(|first| first.role == Role::Delete && !first.repeated);
        let does_without = self.cascades() && !self.has_token && is_one_delete && own.next().is_none();
        self.request == WriteKind::Transaction && !does_without
    }

    /// Returns the action of a step; its sentinels follow it in [`WritePlan::actions`].
    #[must_use]
    pub fn at(&self, step: &[usize]) -> Option<&PlannedAction> {
        self.actions.iter().find(|planned| planned.step == step)
    }

    /// Returns the entities of its actions, each once, in order.
    #[must_use]
    pub fn entities(&self) -> Vec<EntityId> {
        let mut entities = Vec::new();
        for action in &self.actions {
            if !entities.contains(&action.entity) {
                entities.push(action.entity);
            }
        }
        entities
    }
}
