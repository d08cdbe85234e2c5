//! Resolves actions: the item, and the source of each field's value.

use std::collections::{HashMap, HashSet};

use crate::document::ast::{self, Verb};
use crate::schema::expression::{Expr, ExprKind, Origin, ValuePath};
use crate::schema::field::{Field, Type};
use crate::schema::pattern::{
    Action, Change, ChangeKind, Condition, Equality, Parameter, Permission, Test, Write, WriteStep,
};
use crate::schema::{Entity, EntityId, FieldId, Model};
use crate::scope::Domains;
use crate::span::Span;

use super::expression::Scope;
use super::found::Found;
use super::value;
use super::write::{let_exprs, outcome};

/// Resolves an action. For `create` and `put`, adds the values that parameters and defaults supply.
pub(super) fn resolve(scope: &Scope<'_>, it: &ast::Action, span: Span, found: &mut Found) -> Action {
    let entity = scope.names.entity(&it.item.entity, found);
    let whole = !matches!(it.verb, Verb::Create | Verb::Put);
    let (keys, equalities) = scope.item(&it.item, entity, whole, found);
    let about = Scope { items: entity.into_iter().collect(), broken: entity.is_none(), ..scope.clone() };
    let mut action = Action {
        verb: it.verb,
        replace: it.replace,
        entity,
        entity_span: it.item.entity.span,
        keys,
        equalities,
        changes: it.changes.iter().map(|line| change(&about, entity, line, found)).collect(),
        presence: it.presence,
        conditions: conditions(&about, it, found),
        outcome: outcome(it.outcome.as_ref()),
        span,
    };
    if let Some(id) = entity {
        match it.verb {
            Verb::Create | Verb::Put => fill(scope.model, scope.parameters, id, &mut action),
            Verb::Update | Verb::Upsert => stamp(scope.model.entity(id), id, &mut action),
            Verb::Delete | Verb::Check => {}
        }
    }
    action
}

fn conditions(scope: &Scope<'_>, it: &ast::Action, found: &mut Found) -> Vec<Condition> {
    let scope = Scope { fields_first: true, presence: true, ..scope.clone() };
    let condition = |it: &ast::Condition| Condition {
        condition: scope.expr(&it.condition, found),
        outcome: outcome(it.outcome.as_ref()),
    };
    it.conditions.iter().map(condition).collect()
}

fn change(scope: &Scope<'_>, entity: Option<EntityId>, line: &ast::Line<ast::Change>, found: &mut Found) -> Change {
    let path = match &line.value {
        ast::Change::Set(path, _)
        | ast::Change::Increase(path, _)
        | ast::Change::Decrease(path, _)
        | ast::Change::Append(path, _)
        | ast::Change::Add(path, _)
        | ast::Change::Take(path, _)
        | ast::Change::Remove(path) => path,
    };
    let target = entity.and_then(|entity| scope.target(entity, path, found));
    let kind = target.as_ref().map_or(Type::Unknown, |(_, _, kind)| kind.resolved().clone());
    let kind = match &line.value {
        ast::Change::Set(_, value) => ChangeKind::Set(scope.value(value, &kind, found)),
        ast::Change::Increase(_, value) => ChangeKind::Increase(scope.value(value, &kind, found)),
        ast::Change::Decrease(_, value) => ChangeKind::Decrease(scope.value(value, &kind, found)),
        ast::Change::Append(_, value) => ChangeKind::Append(element(scope, value, &kind, found)),
        ast::Change::Add(_, value) => ChangeKind::Add(element(scope, value, &kind, found)),
        ast::Change::Take(_, value) => ChangeKind::Take(element(scope, value, &kind, found)),
        ast::Change::Remove(_) => ChangeKind::Remove,
    };
    let (field, place) = target.map_or((None, None), |(field, place, _)| (Some(field), Some(place)));
    Change { field, place, kind, written: true, span: line.span }
}

/// Resolves a value that becomes an element of a list or set; also accepts a list of values.
fn element(scope: &Scope<'_>, value: &ast::Expr, kind: &Type, found: &mut Found) -> Expr {
    let bound = scope.expr(value, found);
    match (kind, &bound.kind) {
        (Type::List(of, _) | Type::Set(of, _), ExprKind::List(parts)) => {
            parts.iter().for_each(|part| value::check(part, of, found));
        }
        (Type::List(of, _) | Type::Set(of, _), _) => value::check(&bound, of, found),
        _ => {}
    }
    bound
}

/// Creates a change that the author did not write.
fn implied(entity: EntityId, field: FieldId, kind: ChangeKind, span: Span) -> Change {
    let place = ValuePath { origin: Origin::Field(entity, field), path: Vec::new() };
    Change { field: Some(field), place: Some(place), kind, written: false, span }
}

/// Adds the values of a new item's fields: key arguments, parameters of the same name, defaults, times and versions.
/// Values that depend on other fields come last, because binding evaluates them in order.
fn fill(model: &Model, parameters: &[Parameter], id: EntityId, action: &mut Action) {
    let entity = model.entity(id);
    let span = action.entity_span;
    for (field, value) in std::mem::take(&mut action.keys) {
        if !is_set(action, field) {
            action.changes.push(Change { written: true, ..implied(id, field, ChangeKind::Set(value), span) });
        }
    }
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (number, parameter) in parameters.iter().enumerate() {
        for name in &parameter.arguments {
            by_name.entry(name).or_insert(number);
        }
    }
    let set: HashSet<FieldId> = action.changes.iter().filter_map(|change| change.field).collect();
    for (number, it) in entity.fields.iter().enumerate() {
        let field = FieldId(number);
        if set.contains(&field) {
            continue;
        }
        let parameter = by_name.get(it.name.as_str()).copied().filter(|_| it.flags.version.is_none());
        let value = match parameter {
            Some(number) => Some(given(number, span)),
            None => source(it, span),
        };
        action.changes.extend(value.map(|value| implied(id, field, ChangeKind::Set(value), span)));
    }
    action.changes.sort_by_key(|change| !change.is_plain(entity));
    action.keys = entity.key_fields().into_iter().filter_map(|field| Some((field, set_to(action, field)?))).collect();
}

/// Fills new items again, after a misspelt parameter was corrected.
pub(super) fn refill(model: &Model, write: &mut Write) {
    refill_steps(model, &write.parameters, &mut write.steps);
}

fn refill_steps(model: &Model, parameters: &[Parameter], steps: &mut [WriteStep]) {
    for step in steps {
        match step {
            WriteStep::For(each) => refill_steps(model, parameters, &mut each.steps),
            WriteStep::Action(action) => {
                if let Some(id) = action.entity.filter(|_| matches!(action.verb, Verb::Create | Verb::Put)) {
                    action.changes.retain(|change| change.written);
                    action.keys.clear();
                    fill(model, parameters, id, action);
                }
            }
        }
    }
}

fn is_set(action: &Action, field: FieldId) -> bool {
    action.changes.iter().any(|change| change.field == Some(field))
}

fn set_to(action: &Action, field: FieldId) -> Option<Expr> {
    let mut sets = action.changes.iter().filter(|change| change.field == Some(field));
    sets.find_map(|change| match &change.kind {
        ChangeKind::Set(value) => Some(value.clone()),
        _ => None,
    })
}

fn given(number: usize, span: Span) -> Expr {
    Expr { kind: ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), path: Vec::new() }), span }
}

/// Returns the value of a new item's field that neither author nor parameter sets.
fn source(field: &Field, span: Span) -> Option<Expr> {
    if let Some(default) = &field.default {
        return Some(default.clone());
    }
    if field.flags.created.is_some() || field.flags.updated.is_some() {
        return Some(now(span));
    }
    if field.null {
        return Some(Expr { kind: ExprKind::None, span });
    }
    field.flags.version.map(|_| one(span))
}

fn now(span: Span) -> Expr {
    Expr { kind: ExprKind::Call { function: "now".into(), arguments: Vec::new() }, span }
}

fn one(span: Span) -> Expr {
    Expr { kind: ExprKind::Number("1".into()), span }
}

/// Adds the implicit changes of an update: modification time and version.
fn stamp(entity: &Entity, id: EntityId, action: &mut Action) {
    let span = action.entity_span;
    for (number, it) in entity.fields.iter().enumerate() {
        let field = FieldId(number);
        let kind = match &it.flags {
            _ if is_set(action, field) => continue,
            flags if flags.updated.is_some() => ChangeKind::Set(now(span)),
            flags if flags.version.is_some() => ChangeKind::Increase(one(span)),
            _ => continue,
        };
        action.changes.push(implied(id, field, kind, span));
    }
}

/// Sets fields of updated items from parameters of the same name that nothing else in the write uses.
pub(super) fn from_parameters(model: &Model, write: &mut Write) {
    let used = used_parameters(write);
    let free = write.parameters.iter().enumerate().filter(|(number, _)| !used.contains(number));
    let free: Vec<(usize, String)> = free.map(|(number, it)| (number, it.field_name.clone())).collect();
    set_from(model, &free, &mut write.steps);
}

fn set_from(model: &Model, free: &[(usize, String)], steps: &mut [WriteStep]) {
    for step in steps {
        match step {
            WriteStep::For(each) => set_from(model, free, &mut each.steps),
            WriteStep::Action(action) => {
                let Some(id) = action.entity.filter(|_| matches!(action.verb, Verb::Update | Verb::Upsert)) else {
                    continue;
                };
                let entity = model.entity(id);
                let keys = entity.key_fields();
                let named = |(number, name): &(usize, String)| Some((*number, entity.field_named(name)?));
                // A parameter with the name of the version field is the expected version, not the new one.
                let settable = |(_, field): &(usize, FieldId)| {
                    !keys.contains(field) && entity.field(*field).flags.version.is_none()
                };
                for (number, field) in free.iter().filter_map(named).filter(settable) {
                    if !action.changes.iter().any(|change| change.field == Some(field) && change.written) {
                        let value = ChangeKind::Set(given(number, action.entity_span));
                        action.changes.retain(|change| change.field != Some(field));
                        action.changes.push(implied(id, field, value, action.entity_span));
                    }
                }
            }
        }
    }
}

/// Adds the equalities of scope parameters: a parameter that `allow` names must equal the field of its name in every
/// stored item that a step touches, unless the step gives the parameter another role.
pub(super) fn verify_scopes(model: &mut Model) {
    let mut writes = std::mem::take(&mut model.writes);
    let domains = Domains::of(model);
    for write in &mut writes {
        let named = write.allow.as_ref().map(Permission::parameters).unwrap_or_default();
        let parameters = write.parameters.clone();
        let scope = named.into_iter().filter_map(|number| Some((number, parameters.get(number)?)));
        verify_steps(model, &domains, &scope.collect::<Vec<_>>(), &mut write.steps);
    }
    model.writes = writes;
}

fn verify_steps(model: &Model, domains: &Domains<'_>, scope: &[(usize, &Parameter)], steps: &mut [WriteStep]) {
    for step in steps {
        match step {
            WriteStep::For(each) => verify_steps(model, domains, scope, &mut each.steps),
            WriteStep::Action(action) => {
                let Some(id) = action.entity.filter(|_| action.verb != Verb::Create) else { continue };
                let implied: Vec<Equality> = scope
                    .iter()
                    .filter_map(|(number, parameter)| scoped(model, domains, id, action, (*number, parameter)))
                    .collect();
                action.equalities.extend(implied);
            }
        }
    }
}

/// Returns the equality that a scope parameter implies for the stored item of a step.
fn scoped(
    model: &Model,
    domains: &Domains<'_>,
    id: EntityId,
    action: &Action,
    (number, parameter): (usize, &Parameter),
) -> Option<Equality> {
    let entity = model.entity(id);
    let field = entity.field_named(&parameter.field_name).filter(|_| parameter.test == Test::Equal)?;
    let of_parameter = parameter.field.and_then(|(entity, field)| domains.field(entity, field))?;
    let is_plain = entity.field(field).flags.encrypted.is_none();
    let is_key = matches!(action.verb, Verb::Put) && entity.key_fields().contains(&field);
    if domains.field(id, field) != Some(of_parameter) || !is_plain || is_key {
        return None;
    }
    let mut has_role = false;
    action_exprs(action, &mut |expr| has_role |= expr.parameters().contains(&number));
    let assigns = action.value_of(field).is_some_and(|value| value.parameters().contains(&number));
    let is_key_argument = action.keys.iter().any(|(_, value)| value.parameters().contains(&number));
    (!has_role || assigns && !is_key_argument).then(|| Equality {
        field,
        value: given(number, action.entity_span),
        written: false,
    })
}

/// Returns the parameters that an expression of the write uses.
fn used_parameters(write: &Write) -> Vec<usize> {
    let mut used = Vec::new();
    let mut visit = |expr: &Expr| {
        expr.walk(&mut |part| {
            if let ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), .. }) = &part.kind {
                used.push(*number);
            }
        });
    };
    write.lets.iter().flat_map(let_exprs).for_each(&mut visit);
    if let Some(Permission::When(condition)) = &write.allow {
        visit(condition);
    }
    write.requires.iter().for_each(|require| visit(&require.condition));
    write.actions().into_iter().for_each(|action| action_exprs(action, &mut visit));
    for_lists(&write.steps, &mut visit);
    used
}

fn action_exprs(action: &Action, visit: &mut dyn FnMut(&Expr)) {
    action.keys.iter().for_each(|(_, value)| visit(value));
    action.equalities.iter().for_each(|equality| visit(&equality.value));
    action.conditions.iter().for_each(|condition| visit(&condition.condition));
    for change in &action.changes {
        for step in change.place.iter().flat_map(|place| &place.path) {
            if let crate::schema::PathStep::Element(key) = step {
                visit(key);
            }
        }
        match &change.kind {
            ChangeKind::Set(value)
            | ChangeKind::Increase(value)
            | ChangeKind::Decrease(value)
            | ChangeKind::Append(value)
            | ChangeKind::Add(value)
            | ChangeKind::Take(value) => visit(value),
            ChangeKind::Remove => {}
        }
    }
}

fn for_lists(steps: &[WriteStep], visit: &mut dyn FnMut(&Expr)) {
    for step in steps {
        if let WriteStep::For(each) = step {
            visit(&each.list);
            for_lists(&each.steps, visit);
        }
    }
}
