//! Evaluates `allow`: over parameters, claims, values read by the call, and guards.
//!
//! The logic is three-valued: a comparison with an absent value is unknown, and only a condition that is true permits.

use std::borrow::Cow;

use keyform_core::AttributeValue;

use keyform_language::bind::{self, BoundGuard, Inputs};
use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{Expr, ExprKind, GuardId, Parameter, Permission, ReadId};

use super::attempt::let_value;
use super::{Call, Caller, RunError, Runner};

/// Verdict of `allow` on a caller.
pub(super) enum Permitted<'a> {
    Always,
    Never,
    /// Permitted if this condition holds.
    If(&'a Expr),
}

/// Guard that decided a permission, and what it said.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub(super) guard: GuardId,
    pub(super) bound: BoundGuard,
    pub(super) verdict: bool,
}

/// Value of a condition in `allow`, and the guards that decided it.
#[derive(Default)]
struct Decision {
    /// `None` if it is unknown, because a value is absent.
    truth: Option<bool>,
    guards: Vec<Evidence>,
}

impl Decision {
    /// Joins the two sides of an `and` or `or` that neither side decides alone.
    fn and(mut self, other: Self) -> Self {
        self.guards.extend(other.guards);
        Self { truth: self.truth.and(other.truth), guards: self.guards }
    }
}

impl Runner {
    /// Refuses a caller that `allow` does not permit. `lets` holds the values that a write has read. Returns the guards
    /// that decided it.
    ///
    /// Application code bypasses `allow`. In a model with callers, a pattern without `allow` is only for application
    /// code.
    pub(super) async fn permit(
        &self,
        allow: Option<&Permission>,
        parameters: &[Parameter],
        call: &Call,
        lets: &[Option<AttributeValue>],
    ) -> Result<Vec<Evidence>, RunError> {
        let decision = match self.permitted(allow, call) {
            Permitted::Always => return Ok(Vec::new()),
            Permitted::Never => return Err(RunError::Forbidden),
            Permitted::If(condition) => Box::pin(self.decision(condition, parameters, call, lets)).await?,
        };
        if decision.truth == Some(true) { Ok(decision.guards) } else { Err(RunError::Forbidden) }
    }

    /// Returns what `allow` says about a caller before its condition is evaluated.
    pub(super) fn permitted<'a>(&self, allow: Option<&'a Permission>, call: &Call) -> Permitted<'a> {
        match (&call.caller, allow) {
            (Caller::System, _) | (Caller::Claims(_), Some(Permission::Public(_))) => Permitted::Always,
            (Caller::Claims(_), Some(Permission::System(_))) => Permitted::Never,
            (Caller::Claims(_), Some(Permission::When(condition))) => Permitted::If(condition),
            (Caller::Claims(_), None) if self.checked.model.caller.is_none() => Permitted::Always,
            (Caller::Claims(_), None) => Permitted::Never,
        }
    }

    /// Evaluates the condition of an `allow`.
    async fn decision(
        &self,
        condition: &Expr,
        parameters: &[Parameter],
        call: &Call,
        lets: &[Option<AttributeValue>],
    ) -> Result<Decision, RunError> {
        match &condition.kind {
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                // `false` decides an `and`, `true` an `or`; the other side is then not read.
                let decides = Some(*op == BinaryOp::Or);
                let left = Box::pin(self.decision(left, parameters, call, lets)).await?;
                if left.truth == decides {
                    return Ok(left);
                }
                let right = Box::pin(self.decision(right, parameters, call, lets)).await?;
                Ok(if right.truth == decides { right } else { left.and(right) })
            }
            ExprKind::Not(of) => {
                let of = Box::pin(self.decision(of, parameters, call, lets)).await?;
                Ok(Decision { truth: of.truth.map(|holds| !holds), ..of })
            }
            ExprKind::Guard { guard, arguments } => {
                let mut values = Vec::new();
                for argument in arguments {
                    match self.permit_value(argument, parameters, call, lets).await? {
                        Some(value) => values.push(value),
                        None => return Ok(Decision::default()),
                    }
                }
                self.guard(*guard, values, call).await
            }
            _ => {
                let (known, lets) = self.with_reads(condition, parameters, call, lets).await?;
                let inputs = Inputs { lets, ..self.inputs(call) };
                let truth = bind::truth(&self.checked.model, &known, parameters, &inputs)?;
                Ok(Decision { truth, guards: Vec::new() })
            }
        }
    }

    /// Evaluates an argument of a guard, which may be the result of a read.
    async fn permit_value(
        &self,
        expr: &Expr,
        parameters: &[Parameter],
        call: &Call,
        lets: &[Option<AttributeValue>],
    ) -> Result<Option<AttributeValue>, RunError> {
        let (known, lets) = self.with_reads(expr, parameters, call, lets).await?;
        let inputs = Inputs { lets, ..self.inputs(call) };
        Ok(bind::evaluate(&self.checked.model, &known, parameters, &inputs)?)
    }

    /// Runs the reads in an expression. Their results are further `let`s, which the returned expression refers to.
    async fn with_reads(
        &self,
        expr: &Expr,
        parameters: &[Parameter],
        call: &Call,
        lets: &[Option<AttributeValue>],
    ) -> Result<(Expr, Vec<Option<AttributeValue>>), RunError> {
        let model = &self.checked.model;
        let (expr, reads) = bind::lift_reads(model, expr, lets.len());
        let mut lets = lets.to_vec();
        for (read, arguments) in reads {
            let inputs = Inputs { lets: lets.clone(), ..self.inputs(call) };
            let values = arguments.iter().map(|argument| bind::evaluate(model, argument, parameters, &inputs));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            lets.push(self.read_for_permit(read, values, call).await?);
        }
        Ok((expr, lets))
    }

    async fn read_for_permit(
        &self,
        id: ReadId,
        values: Vec<Option<AttributeValue>>,
        call: &Call,
    ) -> Result<Option<AttributeValue>, RunError> {
        let read = self.checked.model.read(id);
        let names = read.parameters.iter().flat_map(|parameter| parameter.arguments.iter().cloned());
        let arguments = names.zip(values).filter_map(|(name, value)| Some((name, value?))).collect();
        let inner = Call { arguments, caller: call.caller.clone(), cursor: None, token: None };
        match self.run_read(id, read, &inner).await {
            // An item that cannot be read permits nothing, and its key is not for the caller.
            Err(RunError::Broken(_)) => Err(RunError::Forbidden),
            Ok(answer) => let_value(answer).map_err(|_| RunError::Forbidden),
            Err(RunError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Evaluates a guard: one consistent GetItem, and the guard's condition on the item. Unknown if an argument of its
    /// key or a compared value is absent.
    async fn guard(&self, id: GuardId, values: Vec<AttributeValue>, call: &Call) -> Result<Decision, RunError> {
        let model = &self.checked.model;
        let guard = &model.guards[id.0];
        let mut inputs = self.inputs(call);
        let names = guard.parameters.iter().map(|parameter| parameter.field_name.clone());
        inputs.arguments = Cow::Owned(names.zip(values).collect());
        let Some(bound) = bind::guard(model, guard, &inputs)? else { return Ok(Decision::default()) };
        let forms = self.open_forms(guard.entity.as_slice()).await?;
        let item = self.get_both(&forms, bound.get.clone()).await?;
        let truth = bound.verdict(item.as_ref());
        // An item of an older form, or one that is over, is not where a condition of the request would look for it.
        let is_there = forms.is_empty() && item.as_ref().is_none_or(|item| !bound.is_over(item));
        let verdict = truth.filter(|_| is_there);
        let guards = verdict.map(|verdict| Evidence { guard: id, bound, verdict }).into_iter().collect();
        Ok(Decision { truth, guards })
    }
}
