//! Evaluates `allow` conditions, guards, and the arguments of a write's reads, before the pattern runs.

use keyform_core::AttributeValue;
use keyform_core::expression::Condition;
use keyform_core::operation::GetItem;

use crate::schema::{Expr, Guard, Model, Parameter, Type, Write};

use super::condition::{Logic, and};
use super::evaluate::Scope;
use super::expiry::Expiry;
use super::fields::Fields;
use super::item;
use super::{BindError, Inputs};

/// Evaluates a condition whose operands are all known.
///
/// # Errors
///
/// Returns an error if the condition depends on an item or a value is missing.
pub fn holds(
    model: &Model,
    condition: &Expr,
    parameters: &[Parameter],
    inputs: &Inputs<'_>,
) -> Result<bool, BindError> {
    match scope(model, parameters, inputs).condition(condition, "")? {
        Logic::Known(holds) => Ok(holds),
        Logic::Test(_) => Err(BindError::Inexpressible("a condition on an item in `allow`".to_owned())),
    }
}

/// Evaluates an expression whose operands are all known; `None` if the value is absent.
///
/// # Errors
///
/// Returns an error if the expression cannot be computed.
pub fn value(
    model: &Model,
    expr: &Expr,
    parameters: &[Parameter],
    inputs: &Inputs<'_>,
) -> Result<Option<AttributeValue>, BindError> {
    scope(model, parameters, inputs).typed(expr, &Type::Unknown)
}

fn scope<'a>(model: &'a Model, parameters: &'a [Parameter], inputs: &'a Inputs<'a>) -> Scope<'a> {
    Scope::with_lets(model, inputs, parameters, inputs.lets.clone())
}

/// Evaluates the arguments of a `let`'s read; `inputs` holds the results of the preceding `let`s.
///
/// # Errors
///
/// Returns an error if an argument cannot be computed.
pub fn arguments(
    model: &Model,
    write: &Write,
    arguments: &[Expr],
    inputs: &Inputs<'_>,
) -> Result<Vec<Option<AttributeValue>>, BindError> {
    let scope = Scope::new(model, inputs, &write.parameters, &write.lets[..inputs.lets.len()])?;
    arguments.iter().map(|argument| scope.typed(argument, &Type::Unknown)).collect()
}

/// Binds a guard: one consistent GetItem and the condition on its item; `None` if a part of the key is absent.
///
/// # Errors
///
/// Returns an error if a part of the key cannot be computed.
pub fn guard(
    model: &Model,
    guard: &Guard,
    inputs: &Inputs<'_>,
) -> Result<Option<(GetItem, Option<Condition>)>, BindError> {
    let Some(entity) = guard.entity.map(|id| model.entity(id)) else { return Ok(None) };
    let Some(table) = entity.table.map(|table| model.table(table)) else { return Ok(None) };
    let scope = scope(model, &guard.parameters, inputs);
    let mut keys = Fields::of(entity.fields.len());
    for (field, expr) in &guard.keys {
        match scope.typed(expr, &entity.field(*field).kind)? {
            Some(value) => keys.insert(*field, value),
            None => return Ok(None),
        }
    }
    let get = GetItem {
        table: inputs.table_name(table),
        key: item::key(table, entity, &keys)?,
        projection: None,
        consistent: true,
        return_capacity: Default::default(),
    };
    let stated = match &guard.condition {
        None => Logic::Known(true),
        Some(condition) => scope.condition(condition, "")?,
    };
    let lives = Expiry::of(table, entity, inputs.now_millis).map(|expiry| Logic::Test(expiry.lives()));
    let condition = match and([stated].into_iter().chain(lives)) {
        Logic::Known(true) => None,
        Logic::Known(false) => return Ok(None),
        Logic::Test(test) => Some(test),
    };
    Ok(Some((get, condition)))
}
