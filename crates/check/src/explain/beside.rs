//! Additional requests of a pattern: those before it and those after it.
//!
//! A caller's permission may need guards and reads. A write may need the reads of its `let`s, the items whose unique
//! values it changes, and after a transaction the item it returns. While an entity evolves, its old form is read as
//! well. Apart from further pages and retries, nothing else is sent (ADR 0010).

use keyform_language::plan::{PlannedAction, Role, WriteKind, WritePlan};
use keyform_language::schema::{
    EntityId, ExprKind, GuardId, Model, Origin, Permission, Timing, ValuePath, Write, limit,
};

use super::words::find;

/// Describes the requests that check a caller's permission. Calls from Rust code skip them.
#[must_use]
pub fn permission(model: &Model, allow: Option<&Permission>, write: Option<(&Write, &WritePlan)>) -> Vec<String> {
    let Some(Permission::When(condition)) = allow else { return Vec::new() };
    let mut lines = Vec::new();
    condition.walk(&mut |expr| match &expr.kind {
        ExprKind::Guard { guard: id, .. } => {
            let guard = &model.guards[id.0];
            let held = write.map(|(write, plan)| held(write, plan, *id)).unwrap_or_default();
            let entity = guard.entity.map_or("an item", |id| model.entity(id).name.as_str());
            lines.push(format!(
                "for a caller, checks the guard `{}`: GetItem of {entity}, consistent{held}",
                guard.name
            ));
        }
        ExprKind::ValuePath(ValuePath { origin: Origin::Read { read, .. }, .. }) => {
            lines.push(format!("for a caller, reads with `{}`", model.read(*read).name));
        }
        _ => {}
    });
    lines
}

/// Describes when a guard of a write must hold.
fn held(write: &Write, plan: &WritePlan, guard: GuardId) -> String {
    match (plan.held.iter().find(|held| held.guard == guard), &write.timing) {
        (Some(held), _) if held.is_merged => "; held in the request, by a condition of the step".to_owned(),
        (Some(_), _) => "; held in the request, by a ConditionCheck of the transaction".to_owned(),
        (None, Timing::Before { reason, .. }) => {
            format!("; window, as the model says ({reason}): the request does not check it again")
        }
        (None, Timing::Unstated | Timing::Held(_)) => "; window: the request does not check it again".to_owned(),
    }
}

/// Describes the items that a write reads first: those whose unique values it changes or releases, those that a `put`
/// continues, and an item that a transaction deletes and the write returns.
#[must_use]
pub fn first(model: &Model, write: &Write, plan: &WritePlan) -> Vec<String> {
    let mut steps: Vec<&PlannedAction> = Vec::new();
    for planned in plan.actions.iter().filter(|planned| matches!(planned.role, Role::Release(_))) {
        if steps.iter().all(|other| other.step != planned.step) {
            steps.push(planned);
        }
    }
    let line = |planned: &PlannedAction| {
        let each = if planned.repeated { ", for each element" } else { "" };
        format!(
            "first reads the {} for its unique values: GetItem, consistent{each}",
            model.entity(planned.entity).name
        )
    };
    let mut lines: Vec<String> = steps.iter().map(|planned| line(planned)).collect();
    let replaced: Vec<&PlannedAction> = plan
        .actions
        .iter()
        .filter(|planned| {
            continues(model, write, plan, planned) && steps.iter().all(|other| other.step != planned.step)
        })
        .collect();
    lines.extend(replaced.iter().map(|planned| {
        let each = if planned.repeated { ", for each element" } else { "" };
        let entity = &model.entity(planned.entity).name;
        format!("first reads the {entity} that it replaces, to continue it: GetItem, consistent{each}")
    }));
    steps.extend(replaced);
    let referred = plan.actions.iter().filter(|planned| planned.role == Role::Delete).filter(|planned| {
        !keyform_language::plan::referred_fields(model, planned.entity).is_empty()
            && steps.iter().all(|other| other.step != planned.step)
    });
    let referred: Vec<&PlannedAction> = referred.collect();
    let entity = |planned: &&PlannedAction| &model.entity(planned.entity).name;
    let told = referred.iter().map(|planned| {
        format!("first reads the {} for the fields that others refer to: GetItem, consistent", entity(planned))
    });
    lines.extend(told);
    steps.extend(referred);
    if let Some(deleted) = deleted(write, plan).filter(|deleted| steps.iter().all(|other| other.step != deleted.step)) {
        let entity = &model.entity(deleted.entity).name;
        lines.push(format!("first reads the {entity}, to return it: GetItem, consistent"));
    }
    lines
}

/// Returns true for a `put` that keeps the time of creation or raises the version of the item it replaces.
fn continues(model: &Model, write: &Write, plan: &WritePlan, planned: &PlannedAction) -> bool {
    let replaces = planned.role == Role::Put && planned.presence.is_none() && plan.request != WriteKind::Batch;
    let step = find(&write.steps, &planned.step);
    replaces && step.is_some_and(|step| !limit::continued(model.entity(planned.entity), step).is_empty())
}

/// Returns the action of a transaction that deletes the item the write returns.
fn deleted<'a>(write: &Write, plan: &'a WritePlan) -> Option<&'a PlannedAction> {
    let entity = write.returned_entity()?;
    let mut its = plan.actions.iter().filter(|planned| planned.entity == entity);
    let is_made = its.clone().any(|planned| matches!(planned.role, Role::Put | Role::Update));
    its.find(|planned| planned.role == Role::Delete).filter(|_| plan.is_transaction_of_callers() && !is_made)
}

/// Describes the read after a transaction that returns the item in its new state.
#[must_use]
pub fn after(model: &Model, write: &Write, plan: &WritePlan) -> Option<String> {
    let entity = write.returned_entity()?;
    let mut written = plan.actions.iter().filter(|planned| planned.entity == entity);
    let first = written.find(|planned| matches!(planned.role, Role::Put | Role::Update))?;
    let is_read = plan.is_transaction_of_callers() && first.role == Role::Update;
    is_read.then(|| format!("then reads the {}, to return it: GetItem, consistent", model.entity(entity).name))
}

/// Describes the additional requests while entities of the pattern have two forms.
#[must_use]
pub fn evolution(model: &Model, entities: &[EntityId]) -> Option<String> {
    let evolves = |id: &&EntityId| model.evolutions.iter().any(|evolution| evolution.entity == Some(**id));
    let names: Vec<&str> = entities.iter().filter(evolves).map(|id| model.entity(*id).name.as_str()).collect();
    let line = || format!("while {} evolves, also reads the old form", names.join(", "));
    (!names.is_empty()).then(line)
}
