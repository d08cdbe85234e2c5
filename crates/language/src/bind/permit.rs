//! Evaluates `allow` conditions, guards, and the arguments of a write's reads, before the pattern runs.

use keyform_core::expression::{Comparator, Condition, Operand, Path};
use keyform_core::operation::GetItem;
use keyform_core::{AttributeValue, Item};

use crate::schema::{Expr, Guard, Model, Origin, Parameter, ReadId, Type, Write};

use super::condition::{Logic, and, or};
use super::evaluate::Scope;
use super::expiry::Expiry;
use super::fields::Fields;
use super::item;
use super::{BindError, Inputs};

/// Evaluates a condition whose operands are all known; `None` if it is unknown because a value is absent.
///
/// # Errors
///
/// Returns an error if the condition depends on an item or cannot be computed.
pub fn truth(
    model: &Model,
    condition: &Expr,
    parameters: &[Parameter],
    inputs: &Inputs<'_>,
) -> Result<Option<bool>, BindError> {
    let scope = scope(model, parameters, inputs);
    for verdict in [true, false] {
        match scope.certain(condition, verdict, "")? {
            Logic::Known(true) => return Ok(Some(verdict)),
            Logic::Known(false) => {}
            Logic::Test(_) => return Err(BindError::Inexpressible("a condition on an item in `allow`".to_owned())),
        }
    }
    Ok(None)
}

/// Replaces each read in an expression by a `let`, numbered from `first`. Returns the reads with their arguments in the
/// order in which they must run: arguments may refer to the reads before.
#[must_use]
pub fn lift_reads(model: &Model, expr: &Expr, first: usize) -> (Expr, Vec<(ReadId, Vec<Expr>)>) {
    let mut lifted = expr.clone();
    let mut reads = Vec::new();
    lifted.walk_places_mut(&mut |place| {
        let Origin::Read { read, arguments, field } = &mut place.origin else { return };
        let (read, arguments, field) = (*read, std::mem::take(arguments), *field);
        let entity = model.read(read).result.entities().into_iter().next();
        place.origin = Origin::Let { number: first + reads.len(), entity, field };
        reads.push((read, arguments));
    });
    (lifted, reads)
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

/// A guard with its key and condition bound.
#[derive(Clone, Debug)]
pub struct BoundGuard {
    /// Consistent read of the item.
    pub get: GetItem,
    holds: Logic,
    fails: Logic,
    lives: Option<Condition>,
    /// Attribute that every item of the table has.
    partition: String,
}

impl BoundGuard {
    /// Returns whether the guard holds for the item that was read; `None` if that is unknown because the item, or the
    /// caller, lacks a value that the condition compares. A missing or expired item does not pass.
    #[must_use]
    pub fn verdict(&self, item: Option<&Item>) -> Option<bool> {
        let Some(item) = item.filter(|item| self.lives.as_ref().is_none_or(|lives| lives.holds(Some(item)))) else {
            return Some(false);
        };
        let holds = |logic: &Logic| match logic {
            Logic::Known(holds) => *holds,
            Logic::Test(test) => test.holds(Some(item)),
        };
        match (holds(&self.holds), holds(&self.fails)) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }
}

impl BoundGuard {
    /// Returns the condition on the guard's item with which a request holds a verdict: the item exists and passes, or
    /// is absent or fails. Expiry is left out: the verdict was computed a moment ago, and a request that is repeated
    /// must not depend on the clock.
    #[must_use]
    pub fn condition(&self, verdict: bool) -> Condition {
        let path = || Path::attribute(self.partition.clone());
        let logic = if verdict {
            and([Logic::Test(Condition::AttributeExists(path())), self.holds.clone()])
        } else {
            or(Logic::Test(Condition::AttributeNotExists(path())), self.fails.clone())
        };
        match logic {
            Logic::Test(condition) => condition,
            // A condition cannot be empty: the key exists in every item, so this one always holds, and never.
            Logic::Known(true) => {
                Condition::Or(vec![Condition::AttributeExists(path()), Condition::AttributeNotExists(path())])
            }
            Logic::Known(false) => {
                Condition::And(vec![Condition::AttributeExists(path()), Condition::AttributeNotExists(path())])
            }
        }
    }

    /// Returns whether an item that was read has expired.
    #[must_use]
    pub fn is_over(&self, item: &Item) -> bool {
        self.lives.as_ref().is_some_and(|lives| !lives.holds(Some(item)))
    }
}

/// Binds a guard; `None` if a part of the key is absent.
///
/// # Errors
///
/// Returns an error if a part of the key or the condition cannot be computed.
pub fn guard(model: &Model, guard: &Guard, inputs: &Inputs<'_>) -> Result<Option<BoundGuard>, BindError> {
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
    let partition = table.partition.as_ref().map(|key| key.name.clone()).unwrap_or_default();
    let certain = |verdict: bool| match &guard.condition {
        None => Ok(Logic::Known(verdict)),
        Some(condition) => scope.certain(condition, verdict, &partition),
    };
    let mut equal = Vec::new();
    for equality in &guard.equalities {
        let field = entity.field(equality.field);
        let Some(value) = scope.typed(&equality.value, &field.kind)? else { return Ok(None) };
        equal.push(Condition::Compare {
            left: Operand::Path(Path::attribute(field.name.clone())),
            comparator: Comparator::Equal,
            right: Operand::Value(value.into()),
        });
    }
    let lives = Expiry::of(table, entity, inputs.now_millis).map(|expiry| expiry.lives());
    // An item with another value counts as missing, so the guard certainly fails.
    let holds = and(equal.iter().cloned().map(Logic::Test).chain([certain(true)?]));
    let fails = match equal.is_empty() {
        true => certain(false)?,
        false => or(Logic::Test(Condition::Not(Box::new(Condition::And(equal)))), certain(false)?),
    };
    Ok(Some(BoundGuard { get, holds, fails, lives, partition }))
}
