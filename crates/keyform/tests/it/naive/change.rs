//! Effects of a step on an item.

use keyform::{AttributeValue, Attributes};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{
    Action, Change, ChangeKind, Entity, Expr, ExprKind, Field, FieldId, PathStep, Type, limit,
};
use keyform_runtime::run;

use super::Refusal;
use super::value::{Scope, added};

/// Returns the fields of a new item.
pub fn new_item(scope: &Scope<'_>, entity: &Entity, action: &Action) -> Attributes {
    let mut fields = Attributes::new();
    // Fields derived from other fields come after them.
    for last in [false, true] {
        for change in &action.changes {
            let (Some(id), ChangeKind::Set(expr)) = (change.field, &change.kind) else { continue };
            let field = entity.field(id);
            let otherwise = field.default.as_ref().filter(|_| !change.written || !field.optional);
            let is_derived = [Some(expr), otherwise].into_iter().flatten().any(|expr| !expr.own_fields().is_empty());
            if is_derived != last {
                continue;
            }
            *scope.item.borrow_mut() = Some(fields.clone());
            let default = || otherwise.and_then(|default| scope.value(default, &field.kind));
            if let Some(value) = scope.value(expr, &field.kind).or_else(default) {
                fields.insert(field.name.clone(), value);
            }
        }
    }
    *scope.item.borrow_mut() = None;
    fields
}

/// Refuses an item with a value that does not fit the type of its field.
pub fn check_types(entity: &Entity, fields: &Attributes) -> Result<(), Refusal> {
    let fits = |field: &Field| match fields.get(&field.name) {
        Some(AttributeValue::Null) => field.null || matches!(field.kind, Type::Json),
        Some(value) => run::fits(value, &field.kind),
        None => true,
    };
    if entity.fields.iter().all(fits) { Ok(()) } else { Err(Refusal::Impossible) }
}

/// Returns the fields of an item that replaces another: it keeps the time of creation and has the next version.
pub fn replacing(
    entity: &Entity,
    action: &Action,
    made: &Attributes,
    before: Option<&Attributes>,
) -> Result<Attributes, Refusal> {
    keeps_immutable(entity, action, before, made)?;
    let mut after = made.clone();
    for field in limit::continued(entity, action).into_iter().map(|id| entity.field(id)) {
        let Some(old) = before.and_then(|before| before.get(&field.name)) else { continue };
        let value = if field.flags.version.is_some() { added(old, &1.into(), false) } else { old.clone() };
        after.insert(field.name.clone(), value);
    }
    Ok(after)
}

/// Refuses to replace an immutable value with another.
pub fn keeps_immutable(
    entity: &Entity,
    action: &Action,
    before: Option<&Attributes>,
    after: &Attributes,
) -> Result<(), Refusal> {
    for field in limit::kept(entity, action).into_iter().map(|id| &entity.field(id).name) {
        let old = before.and_then(|before| before.get(field));
        if old.is_some() && old != after.get(field) {
            return Err(Refusal::Named(limit::changed_name(field)));
        }
    }
    Ok(())
}

/// Returns the fields of an item after a change; expressions see the values before it.
pub fn changed(
    scope: &Scope<'_>,
    entity: &Entity,
    action: &Action,
    key: &Attributes,
    before: Option<&Attributes>,
) -> Result<Attributes, Refusal> {
    let mut after = before.cloned().unwrap_or_default();
    *scope.item.borrow_mut() = Some(before.unwrap_or(key).clone());
    let result = action.changes.iter().try_for_each(|change| apply(scope, entity, change, &mut after));
    if action.verb == Verb::Upsert {
        after.extend(key.clone());
        for (number, field) in entity.fields.iter().enumerate() {
            let is_changed = action.changes.iter().any(|change| change.field == Some(FieldId(number)));
            if !is_changed
                && !after.contains_key(&field.name)
                && let Some(value) = made(scope, field)
            {
                after.insert(field.name.clone(), value);
            }
        }
    }
    *scope.item.borrow_mut() = None;
    result.map(|()| after)
}

/// Returns the default of a field in a new item.
fn made(scope: &Scope<'_>, field: &Field) -> Option<AttributeValue> {
    let now = Expr { kind: ExprKind::Call { function: "now".to_owned(), arguments: Vec::new() }, span: field.span };
    match &field.default {
        Some(default) => scope.value(default, &field.kind),
        None => field.flags.created.and_then(|_| scope.value(&now, &field.kind)),
    }
}

fn apply(scope: &Scope<'_>, entity: &Entity, change: &Change, after: &mut Attributes) -> Result<(), Refusal> {
    let field = entity.field(change.field.expect("the field is known"));
    let kind = change.path().iter().fold(field.kind.clone(), |kind, step| inner(&kind, step));
    let mut path = vec![field.name.clone()];
    for step in change.path() {
        path.push(scope.step(step).ok_or(Refusal::Impossible)?);
    }
    let last = path.pop().expect("a path has a name");
    let parent = path.iter().try_fold(after, |parts, name| match parts.get_mut(name) {
        Some(AttributeValue::M(inner)) => Some(inner),
        _ => None,
    });
    let Some(parent) = parent else { return Err(missing_parent(field, change)) };
    let before = parent.get(&last).cloned();
    let old_len = parent.len();
    let is_whole = change.path().is_empty();
    let default = || field.default.as_ref().filter(|_| is_whole && field.flags.version.is_none());
    let or_default = || before.clone().or_else(|| default().and_then(|expr| scope.value(expr, &field.kind)));
    let count = |expr: &Expr, minus| {
        let by = scope.value(expr, &kind).ok_or(Refusal::Impossible)?;
        Ok(Some(added(&or_default().unwrap_or_else(|| 0.into()), &by, minus)))
    };
    let value = match &change.kind {
        ChangeKind::Set(expr) => scope.value(expr, &kind),
        ChangeKind::Increase(expr) => count(expr, false)?,
        ChangeKind::Decrease(expr) => count(expr, true)?,
        ChangeKind::Append(expr) => {
            let Some(AttributeValue::L(mut list)) = or_default().or(Some(AttributeValue::L(Vec::new()))) else {
                return Err(Refusal::Impossible);
            };
            list.extend(appended(scope, expr, &kind));
            Some(AttributeValue::L(list))
        }
        ChangeKind::Add(expr) => {
            let more = scope.value(expr, &Type::Unknown).map(members).unwrap_or_default();
            set(before.map(members).unwrap_or_default().into_iter().chain(more).collect())
        }
        ChangeKind::Take(expr) => {
            let less = scope.value(expr, &Type::Unknown).map(members).unwrap_or_default();
            set(before.map(members).unwrap_or_default().into_iter().filter(|part| !less.contains(part)).collect())
        }
        ChangeKind::Remove => None,
    };
    let is_counted = change.is_cumulative() || matches!(&change.kind, ChangeKind::Set(expr) if limit::is_sum(expr));
    let fits = value.as_ref().is_none_or(|value| matches!(kind, Type::Unknown) || run::fits(value, &kind));
    match value {
        Some(value) => drop(parent.insert(last, value)),
        None => drop(parent.remove(&last)),
    }
    let holder = limit::holder(field, change).and_then(limit::elements);
    let has_room = parent.len() <= old_len || holder.is_none_or(|bounds| bounds.allow(parent.len()));
    match (fits, has_room) {
        (true, true) => Ok(()),
        (false, _) if !is_counted => Err(Refusal::Impossible),
        _ => Err(Refusal::Named(limit::out_of_bounds_name(&field.name, change.path()))),
    }
}

/// Returns the elements that an `append` adds: one, or those of a list.
fn appended(scope: &Scope<'_>, expr: &Expr, kind: &Type) -> Vec<AttributeValue> {
    let is_one = matches!(kind.resolved(), Type::List(of, _) if matches!(of.resolved(), Type::List(..) | Type::Json));
    match scope.value(expr, &Type::Unknown) {
        Some(AttributeValue::L(parts)) if !is_one => parts,
        other => other.into_iter().collect(),
    }
}

/// Refuses a call whose values do not fit the fields that they are for, before it reads any item.
pub fn check_values(scope: &Scope<'_>, entity: &Entity, action: &Action) -> Result<(), Refusal> {
    for change in &action.changes {
        let Some(field) = change.field.map(|id| entity.field(id)) else { continue };
        let Some(kind) = limit::at(&field.kind, change.path()) else { continue };
        let of = if let Type::List(of, _) | Type::Set(of, _) = kind.resolved() { of } else { &Type::Unknown };
        let all = |parts: Vec<AttributeValue>| parts.iter().all(|part| run::fits(part, of));
        let fits = match &change.kind {
            ChangeKind::Set(expr) if limit::is_sum(expr) || expr.has_own_fields() => true,
            ChangeKind::Set(expr) => scope
                .value(expr, kind)
                .is_none_or(|value| matches!(value, AttributeValue::Null) && field.null || run::fits(&value, kind)),
            ChangeKind::Increase(expr) | ChangeKind::Decrease(expr) => {
                scope.value(expr, kind).is_none_or(|value| run::fits(&value, &limit::operand(kind)))
            }
            ChangeKind::Append(expr) => all(appended(scope, expr, kind)),
            ChangeKind::Add(expr) | ChangeKind::Take(expr) => {
                all(scope.value(expr, &Type::Unknown).map(members).unwrap_or_default())
            }
            ChangeKind::Remove => true,
        };
        if !fits {
            return Err(Refusal::Impossible);
        }
    }
    Ok(())
}

/// Returns the refusal of a change inside a value that is absent.
fn missing_parent(field: &Field, change: &Change) -> Refusal {
    match limit::has_parent(field, change.path(), Verb::Update) {
        true => Refusal::Conflict,
        false => Refusal::Named(limit::missing_name(&field.name, limit::parent(change.path()))),
    }
}

/// Returns the type that a path step leads to.
fn inner(kind: &Type, step: &PathStep) -> Type {
    match (kind.resolved(), step) {
        (Type::Record(fields), PathStep::Member(name)) => {
            fields.iter().find(|field| field.name == *name).map_or(Type::Unknown, |field| field.kind.clone())
        }
        (Type::Map(of, _) | Type::List(of, _), _) => (**of).clone(),
        _ => Type::Unknown,
    }
}

/// Returns the members of a set, or of a value that becomes one.
fn members(value: AttributeValue) -> Vec<AttributeValue> {
    match value {
        AttributeValue::Ss(parts) => parts.into_iter().map(AttributeValue::S).collect(),
        AttributeValue::Ns(parts) => parts.into_iter().map(AttributeValue::N).collect(),
        AttributeValue::L(parts) => parts,
        one => vec![one],
    }
}

/// Creates a set; an empty one is `None`.
pub fn set(parts: Vec<AttributeValue>) -> Option<AttributeValue> {
    let number = |part: &AttributeValue| if let AttributeValue::N(number) = part { Some(*number) } else { None };
    let word = |part: &AttributeValue| if let AttributeValue::S(text) = part { Some(text.clone()) } else { None };
    match parts.first()? {
        AttributeValue::N(_) => Some(AttributeValue::Ns(parts.iter().filter_map(number).collect())),
        _ => Some(AttributeValue::Ss(parts.iter().filter_map(word).collect())),
    }
}
