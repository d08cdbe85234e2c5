//! Decides which guards of a write are held in its request.
//!
//! A guard is read before the request, so a permission that ends in between still counts: there is a window. Where the
//! write could extend the lost permission or spend what cannot be returned, the request itself carries the guard, as a
//! ConditionCheck of the same transaction or as a condition of the step that has the guard's item:
//!
//! ```text
//! write                                                       guard on an item of the caller    shared item
//! changes an authority item, money or a counted quota         held                              window
//! deletes with cascade                                        held                              window
//! any other                                                   window                            window
//! `allow held …`                                              held                              held
//! `allow … before "reason"`                                   window                            window
//! ```
//!
//! An authority item is one that a guard or an `allow` reads. Concurrent transactions with a check of the same item
//! conflict, so an item that many callers share (the status of their tenant) is read before the request only.

use std::collections::BTreeSet;

use crate::document::ast::Verb;
use crate::schema::{
    Action, Change, ChangeKind, EntityId, Expr, ExprKind, Guard, GuardId, Model, Origin, Permission, Timing, ValuePath,
    Write,
};

use super::{WriteKind, WritePlan};

/// Time at which a guard of a write must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// In the request itself.
    Request,
    /// When it is read, before the request.
    Window,
}

/// A guard that the request of a write carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldGuard {
    /// Guard in `allow`.
    pub guard: GuardId,
    /// True if a step of the write has the guard's item: the condition is then part of the step.
    pub is_merged: bool,
}

/// What decides about permissions in a model.
pub(super) struct Authority {
    /// Entities that a guard or an `allow` reads.
    entities: BTreeSet<EntityId>,
    /// Claims that another claim follows in the key of some guard: they name a tenant, not the caller.
    refined: BTreeSet<usize>,
}

/// Returns the entities and claims that decide about permissions.
pub(super) fn authority(model: &Model) -> Authority {
    let mut refined = BTreeSet::new();
    for claims in model.guards.iter().map(|guard| claims(model, guard, &[])) {
        refined.extend(claims.iter().copied().filter(|claim| claims.last().is_some_and(|last| last != claim)));
    }
    Authority { entities: entities(model), refined }
}

fn entities(model: &Model) -> BTreeSet<EntityId> {
    let mut found: BTreeSet<EntityId> = model.guards.iter().filter_map(|guard| guard.entity).collect();
    let reads = model.reads.iter().map(|read| read.allow.as_ref());
    for allow in reads.chain(model.writes.iter().map(|write| write.allow.as_ref())) {
        let Some(Permission::When(condition)) = allow else { continue };
        condition.walk(&mut |part| {
            if let ExprKind::ValuePath(ValuePath { origin: Origin::Read { read, .. }, .. }) = &part.kind {
                found.extend(model.read(*read).result.entities());
            }
        });
    }
    found
}

/// Returns the guards that the request of a write carries.
pub(super) fn guards(model: &Model, authority: &Authority, write: &Write, plan: &WritePlan) -> Vec<HeldGuard> {
    let Some(Permission::When(condition)) = &write.allow else { return Vec::new() };
    let mut held: Vec<HeldGuard> = Vec::new();
    condition.walk(&mut |part| {
        let ExprKind::Guard { guard: id, arguments } = &part.kind else { return };
        let guard = &model.guards[id.0];
        if hold(model, authority, write, plan, (guard, arguments)) == Hold::Request
            && held.iter().all(|other| other.guard != *id)
        {
            let is_merged = write.actions().into_iter().any(|action| has_item(action, guard, arguments));
            held.push(HeldGuard { guard: *id, is_merged });
        }
    });
    held
}

/// Decides when a guard of a write must hold: the table above.
fn hold(
    model: &Model,
    authority: &Authority,
    write: &Write,
    plan: &WritePlan,
    (guard, arguments): (&Guard, &[Expr]),
) -> Hold {
    let is_grave = plan.cascades() || write.actions().into_iter().any(|action| is_grave(model, authority, action));
    let is_asked = match write.timing {
        Timing::Unstated => is_grave && is_of_caller(model, authority, guard, arguments),
        Timing::Held(_) => true,
        Timing::Before { .. } => false,
    };
    if is_asked && unholdable(write, guard).is_none() { Hold::Request } else { Hold::Window }
}

/// Reason a request cannot carry a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unholdable {
    /// A batch has no conditions.
    Batch,
    /// A request that is repeated under a token must stay the same, so it cannot depend on the clock.
    Clock,
}

/// Returns the reason the request of a write cannot carry a guard, if there is one.
#[must_use]
pub fn unholdable(write: &Write, guard: &Guard) -> Option<Unholdable> {
    if write.batch.is_some() {
        return Some(Unholdable::Batch);
    }
    let is_timed = write.idempotent.is_some() && guard.condition.as_ref().is_some_and(uses_clock);
    is_timed.then_some(Unholdable::Clock)
}

/// Returns whether an action changes an authority item, money, or a counted quota.
fn is_grave(model: &Model, authority: &Authority, action: &Action) -> bool {
    let Some(id) = action.entity.filter(|_| action.verb != Verb::Check) else { return false };
    authority.entities.contains(&id) || action.changes.iter().any(|change| spends(model, id, action, change))
}

fn spends(model: &Model, entity: EntityId, action: &Action, change: &Change) -> bool {
    let Some(id) = change.field else { return false };
    let (scalar, bounds) = match model.entity(entity).field(id).kind.scalar() {
        Some((scalar, bounds)) if change.path().is_empty() => (scalar, bounds),
        _ => return false,
    };
    let is_bounded = bounds.min.is_some() || bounds.max.is_some();
    match &change.kind {
        ChangeKind::Set(Expr { kind: ExprKind::Number(_) | ExprKind::None, .. }) => false,
        ChangeKind::Set(_) => scalar.is_money(),
        ChangeKind::Increase(_) | ChangeKind::Decrease(_) => scalar.is_money() || is_bounded || action.tests(id),
        ChangeKind::Append(_) | ChangeKind::Add(_) | ChangeKind::Take(_) | ChangeKind::Remove => false,
    }
}

/// Returns whether a guard's item belongs to one caller: its key has a claim that no other claim makes more precise.
/// `Tenant(caller.tenant_id)` is shared if there is a guard on `User(caller.tenant_id, caller.user_id)`.
fn is_of_caller(model: &Model, authority: &Authority, guard: &Guard, arguments: &[Expr]) -> bool {
    claims(model, guard, arguments).iter().any(|claim| !authority.refined.contains(claim))
}

/// Returns the claims in the key of a guard's item, in the order of the key. A claim may be an argument of the call.
fn claims(model: &Model, guard: &Guard, arguments: &[Expr]) -> Vec<usize> {
    let fields = guard.entity.map(|id| model.entity(id).key_fields()).unwrap_or_default();
    let mut claims = Vec::new();
    for (_, value) in fields.iter().filter_map(|field| guard.keys.iter().find(|(of, _)| of == field)) {
        let mut given = vec![value];
        given.extend(value.parameters().into_iter().filter_map(|number| arguments.get(number)));
        for value in given {
            value.walk(&mut |part| {
                if let ExprKind::ValuePath(ValuePath { origin: Origin::Caller(number), .. }) = &part.kind {
                    claims.push(*number);
                }
            });
        }
    }
    claims
}

fn uses_clock(condition: &Expr) -> bool {
    let mut found = false;
    condition.walk(&mut |part| {
        found |= matches!(&part.kind, ExprKind::Call { function, .. } if function == "now" || function == "today");
    });
    found
}

/// Returns whether an action has the item of a guard that is called with these arguments.
fn has_item(action: &Action, guard: &Guard, arguments: &[Expr]) -> bool {
    let given = |value: &Expr| match &value.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), path }) if path.is_empty() => {
            arguments.get(*number).cloned()
        }
        _ => Some(value.clone()),
    };
    let same = |(field, value): &(crate::schema::FieldId, Expr)| {
        let of_action = action.keys.iter().find(|(other, _)| other == field).map(|(_, value)| value);
        of_action.zip(given(value)).is_some_and(|(one, other)| one.same(&other))
    };
    action.entity.is_some() && action.entity == guard.entity && guard.keys.iter().all(same)
}

impl WritePlan {
    /// Returns the guards that are actions of their own, which make the request of a caller a transaction.
    pub fn checks(&self) -> impl Iterator<Item = GuardId> + '_ {
        self.held.iter().filter(|held| !held.is_merged).map(|held| held.guard)
    }

    /// Returns whether the request of a caller is a transaction, because of its actions or of guards that it carries.
    #[must_use]
    pub fn is_transaction_of_callers(&self) -> bool {
        self.request == WriteKind::Transaction || self.checks().next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use crate::Compiled;

    #[test]
    fn guards_are_held_by_the_table() {
        let compiled = Compiled::read(
            r#"model m
            caller orgId: slug, userId: slug
            table T { key pk, sk }
            entity Org in T { key "ORG#{orgId}", "META"  orgId: slug  status: slug  left: int(0..100) = 10 }
            entity Member in T { key "ORG#{orgId}", "M#{userId}"  orgId: ref Org cascade  userId: slug  role: slug }
            entity Note in T { key "ORG#{orgId}", "N#{noteId}"  orgId: ref Org cascade  noteId: ulid = ulid()  price: money = 0 }
            guard open() = exists Org(caller.orgId) where status = "open"
            guard owner(orgId) = exists Member(orgId, caller.userId) where role = "owner"
            guard user() = exists Member(caller.orgId, caller.userId)
            write promote(orgId, userId, role) { allow owner(orgId)  update Member(orgId, userId) { role = role } }
            write leave(orgId) { allow owner(orgId)  delete Member(orgId, caller.userId) }
            write close(orgId) { allow owner(orgId)  delete Org(orgId) }
            write note(orgId) { allow owner(orgId)  create Note {} }
            write sell(orgId, price) { allow owner(orgId)  create Note {} }
            write spend(orgId) { allow open() and user()  update Org(orgId) { left -= 1 } }
            write noteHeld(orgId) { allow held open() and owner(orgId)  create Note {} }
            write sellBefore(orgId, price) { allow owner(orgId) before "prices are checked later"  create Note {} }"#,
        );
        let held = |name: &str| {
            let number = compiled.model.writes.iter().position(|write| write.name == name).unwrap();
            let plan = compiled.plans.writes[number].as_ref().unwrap();
            let one = |held: &super::HeldGuard| (compiled.model.guards[held.guard.0].name.clone(), held.is_merged);
            plan.held.iter().map(one).collect::<Vec<_>>()
        };
        assert_eq!(held("promote"), [("owner".to_owned(), false)]);
        assert_eq!(held("leave"), [("owner".to_owned(), true)]);
        assert_eq!(held("close"), [("owner".to_owned(), false)]);
        assert_eq!(held("note"), []);
        assert_eq!(held("sell"), [("owner".to_owned(), false)]);
        assert_eq!(held("spend"), [("user".to_owned(), false)]);
        assert_eq!(held("noteHeld"), [("open".to_owned(), false), ("owner".to_owned(), false)]);
        assert_eq!(held("sellBefore"), []);
    }
}
