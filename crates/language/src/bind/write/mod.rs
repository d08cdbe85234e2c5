//! Binds the arguments of a write to one item request, one transaction or one batch.
//!
//! Two passes visit the actions of a write, in the same walk ([`walk`]): `look` collects the items that must be read
//! first, `actions` computes the request. `demand` collects the conditions of an action, `unique` moves the sentinels
//! of unique values.

mod actions;
mod demand;
mod look;
mod unique;
mod walk;

use keyform_core::Operation;
use keyform_core::expression::Condition;
use keyform_core::operation::{DeleteItem, GetItem};

use crate::document::ast::Verb;
use crate::plan::WritePlan;
use crate::schema::{Action, Model, Outcome, Write};

use super::evaluate::Scope;
use super::intent::Parent;
use super::{BindError, Inputs, request};

pub(super) use unique::{unchanged, values_before};
pub(super) use walk::key_of;

/// A write that is ready to run.
#[derive(Clone, Debug, Default)]
pub struct BoundWrite {
    /// Request; `None` if the write is already refused or has nothing to do.
    pub operation: Option<Operation>,
    /// Possible refusals of each action of the request, in the same order.
    pub actions: Vec<BoundAction>,
    /// Refusal decided before anything is sent.
    pub refused: Option<Refusal>,
    /// Deleted items that other items refer to.
    pub parents: Vec<Parent>,
}

/// An action of a write's request.
#[derive(Clone, Debug, Default)]
pub struct BoundAction {
    /// Step of the write it comes from, as a path of indexes through `for`s. Empty for an intent, which has no step.
    pub step: Vec<usize>,
    /// Conditions in evaluation order. The first that the stored item fails names the refusal (ADR 0010).
    pub demands: Vec<Demand>,
    /// True if the item must not exist yet.
    pub is_new: bool,
    /// Set for an upsert that may meet an expired item.
    pub clearing: Option<Clearing>,
}

/// A condition of an action, with the outcome if it does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Condition on the stored item.
    pub condition: Condition,
    /// Outcome if the item fails the condition.
    pub refusal: Refusal,
}

/// Removal of an expired item that would make an upsert fail (ADR 0017).
#[derive(Clone, Debug)]
pub struct Clearing {
    /// Holds if the item has not expired.
    pub lives: Condition,
    /// Deletes the item if it has expired.
    pub delete: DeleteItem,
}

/// Outcome of a refused write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Name in the model; `keep` is a silent success, empty if the model names none.
    pub outcome: String,
}

impl Refusal {
    fn of(outcome: Option<&Outcome>) -> Self {
        Self { outcome: outcome.map(|outcome| outcome.name.clone()).unwrap_or_default() }
    }
}

/// Binds the arguments of a write.
///
/// # Errors
///
/// Returns an error if an argument or an item that should have been read is missing, or a value has the wrong type.
pub fn write<'a>(
    model: &'a Model,
    write: &'a Write,
    plan: &'a WritePlan,
    inputs: &'a Inputs<'a>,
) -> Result<BoundWrite, BindError> {
    let scope = Scope::new(model, inputs, &write.parameters, &write.lets)?;
    if let Some(refused) = walk::refused_by_reads(write, &scope)? {
        return Ok(BoundWrite { refused: Some(refused), ..BoundWrite::default() });
    }
    let mut actions = actions::Actions::new(plan, scope);
    walk::actions(write, &mut actions)?;
    let actions::Done { refused, requested, actions, parents } = actions.done()?;
    let operation = match refused {
        Some(_) => None,
        None => request::of(write, plan, inputs.token.as_ref(), requested),
    };
    Ok(BoundWrite { operation, actions, refused, parents })
}

/// Returns the consistent reads that must precede binding: items whose unique values the write changes or removes, and
/// deleted items whose dependents refer to a field outside the key.
///
/// # Errors
///
/// Same as [`write()`].
pub fn read_first(model: &Model, write: &Write, inputs: &Inputs<'_>) -> Result<Vec<GetItem>, BindError> {
    let may_depend = |action: &Action| {
        action.entity.is_some_and(|entity| {
            crate::plan::guarded_fields(model.entity(entity)).next().is_some()
                || action.verb == Verb::Delete && !crate::plan::referred_fields(model, entity).is_empty()
        })
    };
    if !write.any_action(&mut |action| may_depend(action)) {
        return Ok(Vec::new());
    }
    let scope = Scope::new(model, inputs, &write.parameters, &write.lets)?;
    // A write that is already refused may lack the values its steps use.
    if walk::refused_by_reads(write, &scope)?.is_some() {
        return Ok(Vec::new());
    }
    let mut look = look::Look::new(scope);
    walk::actions(write, &mut look)?;
    Ok(look.reads)
}

/// Returns the outcome name of a taken unique field: `EmailTaken` for `email`.
pub fn taken_name(field: &str) -> String {
    let mut letters = field.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}Taken", letters.as_str())
}
