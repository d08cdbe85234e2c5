//! Effects of a step on an item.

use keyform::{AttributeValue, Attributes};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Change, ChangeKind, Entity, Expr, ExprKind, Field, FieldId, PathStep, Type};

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
    let parent = parent.ok_or(Refusal::Impossible)?;
    let before = parent.get(&last).cloned();
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
            list.push(scope.value(expr, &Type::Unknown).ok_or(Refusal::Impossible)?);
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
    match value {
        Some(value) => drop(parent.insert(last, value)),
        None => drop(parent.remove(&last)),
    }
    Ok(())
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
