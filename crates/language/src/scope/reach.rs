//! Items that a write reaches beside those that its steps name: what a delete cascades to, what a `let` reads, and the
//! scope into which a new item is put.

use crate::document::ast::Verb;
use crate::plan::Plans;
use crate::schema::{
    Action, ChangeKind, EntityId, Expr, ExprKind, FieldId, LetSource, Model, Origin, PathStep, Permission, Type,
    ValuePath, Write,
};

use super::disjunct::conjuncts;
use super::domain::Domains;
use super::fact::Facts;
use super::given::{self, Given};

/// Returns the entities that a delete cascades to without a tie to the caller's scope. If the item does not exist, no
/// field of it was compared, and items of another scope may refer to an id like its own.
pub(super) fn cascade(plans: &Plans, facts: &Facts<'_>, entity: EntityId, action: &Action) -> Vec<EntityId> {
    if needs_item(facts.model(), entity, action) {
        return Vec::new();
    }
    let is_bound = |field: &FieldId| {
        let value = action.keys.iter().find(|(key, _)| key == field).map(|(_, value)| value);
        value.is_none_or(|value| facts.binds(entity, *field, value))
    };
    let cascading = plans.dependents.cascading(entity);
    cascading.filter(|(_, finder)| !finder.given.iter().any(is_bound)).map(|(dependent, _)| dependent.entity).collect()
}

/// Returns true if a step fails for an absent item: it is an update, or a condition of it does not hold then.
pub(super) fn needs_item(model: &Model, entity: EntityId, action: &Action) -> bool {
    let is_required = |expr: &Expr| match &expr.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Field(of, field), .. }) => {
            *of == entity && model.entity(entity).field(*field).default.is_none()
        }
        _ => false,
    };
    let conditions = action.conditions.iter().flat_map(|condition| conjuncts(&condition.condition));
    let needs = |test: &Expr| match &test.kind {
        ExprKind::Exists => true,
        ExprKind::IsSome(of) => is_required(of),
        ExprKind::Binary(crate::document::ast::BinaryOp::Equal, left, right) => is_required(left) || is_required(right),
        _ => false,
    };
    action.verb == Verb::Update
        || action.presence == Some(crate::document::ast::Presence::Exists)
        || conditions.into_iter().any(needs)
}

/// Returns the `let`s that read items of any scope, and whose fields the steps use: their values reach the caller.
pub(super) fn lets(facts: &Facts<'_>, write: &Write) -> Vec<(usize, EntityId)> {
    let model = facts.model();
    let used = used(model, write);
    let is_foreign = |number: usize| {
        let LetSource::Read { read, .. } = &write.lets[number].source else { return None };
        let read = model.read(*read);
        let [entity] = read.result.entities()[..] else { return None };
        let is_open = matches!(read.allow, Some(Permission::Public(_))) || is_unscoped(model, entity);
        let is_private = !is_open && !facts.is_authorised(number);
        (is_private && used.contains(&number)).then_some((number, entity))
    };
    (0..write.lets.len()).filter_map(is_foreign).collect()
}

/// Returns the `let`s whose fields the write stores or compares, except ids and the values of declared copies.
fn used(model: &Model, write: &Write) -> Vec<usize> {
    let mut used = Vec::new();
    let outside = Given::of(write);
    for require in &write.requires {
        shown(model, write, &outside, &require.condition, &mut used);
    }
    for (action, given) in given::actions(write) {
        let is_copy = |field: Option<FieldId>| {
            let of = action.entity.zip(field).map(|(entity, field)| &model.entity(entity).field(field).kind);
            matches!(of, Some(Type::Copy { .. }))
        };
        let changes = action.changes.iter().filter(|change| !is_copy(change.field));
        let values = changes.filter_map(|change| match &change.kind {
            ChangeKind::Set(value)
            | ChangeKind::Increase(value)
            | ChangeKind::Decrease(value)
            | ChangeKind::Append(value)
            | ChangeKind::Add(value) => Some(value),
            ChangeKind::Take(_) | ChangeKind::Remove => None,
        });
        let equal = action.equalities.iter().map(|it| &it.value);
        for value in values.chain(equal).chain(action.conditions.iter().map(|it| &it.condition)) {
            shown(model, write, &given, value, &mut used);
        }
    }
    used
}

/// Adds the `let`s whose items a value shows a field of, also through another `let` or a `for`.
fn shown<'a>(model: &Model, write: &'a Write, given: &Given<'a>, value: &'a Expr, used: &mut Vec<usize>) {
    value.walk(&mut |part| {
        let ExprKind::ValuePath(place) = &part.kind else { return };
        match read_field(model, write, given, place) {
            Some((number, is_id)) => used.extend((!is_id).then_some(number)),
            None => {
                if let Some(source) = given.source(&place.origin) {
                    shown(model, write, given, source, used);
                }
            }
        }
    });
}

/// Returns the `let` that read the item of a reference, and true if the reference is the item's id.
fn read_field<'a>(model: &Model, write: &'a Write, given: &Given<'a>, place: &ValuePath) -> Option<(usize, bool)> {
    match &place.origin {
        Origin::Let { number, entity: Some(entity), field } => {
            Some((*number, field.is_some() && model.entity(*entity).id_field() == *field))
        }
        origin @ Origin::Element(_) => {
            let list = given.resolved(given.source(origin)?);
            let ExprKind::ValuePath(ValuePath { origin: Origin::Let { number, field: None, .. }, .. }) = &list.kind
            else {
                return None;
            };
            let read = write.lets[*number].read()?;
            let id = |entity: EntityId| model.entity(entity).id_field().map(|id| &model.entity(entity).field(id).name);
            let ids = model.read(read).result.entities().into_iter().filter_map(id);
            let is_id = |name: &String| ids.into_iter().any(|id| id == name);
            let member = place.path.first();
            Some((*number, matches!(member, Some(PathStep::Member(name)) if is_id(name))))
        }
        _ => None,
    }
}

/// Returns true if the caller puts a new item into a scope of its choice: a reference or a part of the key, other than
/// the item's own id, comes from the call and is not authorised. The item's own id then says nothing about its scope.
pub(super) fn is_placed(domains: &Domains<'_>, facts: &Facts<'_>, entity: EntityId, action: &Action) -> bool {
    let item = facts.model().entity(entity);
    let keys = item.key_fields();
    (0..item.fields.len()).map(FieldId).any(|field| {
        let names_scope = match &item.field(field).kind {
            Type::Ref { entity: target, .. } => {
                target.is_some_and(|target| !is_unscoped(facts.model(), target)) || is_guarded(domains, entity, field)
            }
            _ => keys.contains(&field),
        };
        let value = action.value_of(field).or_else(|| key_value(action, field)).filter(|value| is_given(value));
        names_scope
            && !domains.is_own_id(entity, field)
            && value.zip(domains.field(entity, field)).is_some_and(|(value, domain)| !facts.knows(value, &domain))
    })
}

fn key_value(action: &Action, field: FieldId) -> Option<&Expr> {
    action.keys.iter().find(|(key, _)| *key == field).map(|(_, value)| value)
}

/// Returns true if a value depends on the arguments of the call, or on an item that was read.
pub(super) fn is_given(value: &Expr) -> bool {
    let mut found = false;
    value.walk(&mut |part| {
        found |= matches!(&part.kind, ExprKind::ValuePath(ValuePath { origin, .. })
            if matches!(origin, Origin::Parameter(_) | Origin::Let { entity: Some(_), .. } | Origin::Element(_)));
    });
    found
}

/// Returns true if a guard takes values of this meaning as an argument: they are scopes, even if some of their fields are
/// for every caller.
fn is_guarded(domains: &Domains<'_>, entity: EntityId, field: FieldId) -> bool {
    domains.field(entity, field).is_some_and(|domain| domains.is_guarded(&domain))
}

/// Returns true if a pattern declares that items of the entity are for every caller.
fn is_unscoped(model: &Model, entity: EntityId) -> bool {
    let reads = model.reads.iter().flat_map(|read| &read.unscoped);
    reads.chain(model.writes.iter().flat_map(|write| &write.unscoped)).any(|clause| clause.entity == Some(entity))
}
