//! Visits the actions of a write in order, those of a `for` once per element.

use keyform_core::{AttributeValue, Attributes};

use crate::schema::{Action, Entity, EntityId, Expr, ExprKind, Origin, Table, Type, ValuePath, Write, WriteStep};

use super::super::BindError;
use super::super::condition::Logic;
use super::super::evaluate::Scope;
use super::Refusal;

/// A pass over the actions of a write.
pub(super) trait Visitor<'a> {
    /// Returns the values that expressions refer to; the walk adds the elements of `for`s.
    fn scope(&mut self) -> &mut Scope<'a>;

    /// Visits one action, in the order of the steps; inside a `for`, once per element.
    fn visit(&mut self, visited: Visited<'a, '_>) -> Result<(), BindError>;
}

/// An action and the kind of item that it addresses.
#[derive(Clone, Copy)]
pub(super) struct Visited<'a, 'p> {
    pub(super) action: &'a Action,
    /// Indexes of the action's step and of the `for`s around it.
    pub(super) path: &'p [usize],
    pub(super) id: EntityId,
    pub(super) entity: &'a Entity,
    pub(super) table: &'a Table,
}

/// Visits every action of a write.
pub(super) fn actions<'a>(write: &'a Write, visitor: &mut impl Visitor<'a>) -> Result<(), BindError> {
    steps(write, &write.steps, &mut Vec::with_capacity(1), visitor)
}

fn steps<'a>(
    write: &'a Write,
    steps_in: &'a [WriteStep],
    path: &mut Vec<usize>,
    visitor: &mut impl Visitor<'a>,
) -> Result<(), BindError> {
    for (number, step) in steps_in.iter().enumerate() {
        path.push(number);
        match step {
            WriteStep::Action(action) => visit(action, path, visitor)?,
            WriteStep::For(each) => {
                let list = elements(visitor.scope().typed(&each.list, &Type::Unknown)?);
                let most = each.max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
                if list.len() > most {
                    return Err(BindError::TooMany { list: name_of(write, &each.list), most });
                }
                for element in list {
                    visitor.scope().elements.push(element);
                    steps(write, &each.steps, path, visitor)?;
                    visitor.scope().elements.pop();
                }
            }
        }
        path.pop();
    }
    Ok(())
}

fn visit<'a>(action: &'a Action, path: &[usize], visitor: &mut impl Visitor<'a>) -> Result<(), BindError> {
    let Some(id) = action.entity else { return Ok(()) };
    let model = visitor.scope().model;
    let entity = model.entity(id);
    let Some(table) = entity.table.map(|table| model.table(table)) else { return Ok(()) };
    visitor.visit(Visited { action, path, id, entity, table })
}

/// Returns the name of the argument or `let` that a list comes from.
fn name_of(write: &Write, list: &Expr) -> String {
    let name = match &list.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), .. }) => {
            write.parameters.get(*number).map(|parameter| &parameter.field_name)
        }
        ExprKind::ValuePath(ValuePath { origin: Origin::Let { number, .. }, .. }) => {
            write.lets.get(*number).map(|binding| &binding.name)
        }
        _ => None,
    };
    name.map_or_else(|| "a list".to_owned(), |name| format!("`{name}`"))
}

/// Returns the elements a `for` iterates over; empty for a value that is not a list or set.
fn elements(list: Option<AttributeValue>) -> Vec<AttributeValue> {
    match list {
        Some(AttributeValue::L(list)) => list,
        Some(AttributeValue::Ss(set)) => set.into_iter().map(AttributeValue::S).collect(),
        Some(AttributeValue::Ns(set)) => set.into_iter().map(AttributeValue::N).collect(),
        Some(AttributeValue::Bs(set)) => set.into_iter().map(AttributeValue::B).collect(),
        _ => Vec::new(),
    }
}

/// Returns the refusal that the reads decide: a `let` without result, or a `require` that does not hold.
pub(super) fn refused_by_reads(write: &Write, scope: &Scope<'_>) -> Result<Option<Refusal>, BindError> {
    for (number, binding) in write.lets.iter().enumerate() {
        if binding.read().is_some() && binding.outcome.is_some() && scope.lets[number].is_none() {
            return Ok(Some(Refusal::of(binding.outcome.as_ref())));
        }
    }
    for require in &write.requires {
        if scope.condition(&require.condition, "")? == Logic::Known(false) {
            return Ok(Some(Refusal::of(require.outcome.as_ref())));
        }
    }
    Ok(None)
}

/// Extracts the primary key of a whole item.
pub(in super::super) fn key_of(table: &Table, item: &Attributes) -> Attributes {
    table.key_names().filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
}
