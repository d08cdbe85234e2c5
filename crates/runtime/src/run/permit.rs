//! Evaluates `allow`: over parameters, claims, values read by the call, and guards.

use std::borrow::Cow;

use keyform_core::AttributeValue;

use keyform_language::bind;
use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{Expr, ExprKind, GuardId, Origin, Parameter, Permission, ReadId, ValuePath};

use super::{Answer, Call, Caller, RunError, Runner};

/// Verdict of `allow` on a caller.
pub(super) enum Permitted<'a> {
    Always,
    Never,
    /// Permitted if this condition holds.
    If(&'a Expr),
}

impl Runner {
    /// Refuses a caller that `allow` does not permit. `lets` holds the values that a write has read.
    ///
    /// Application code bypasses `allow`. In a model with callers, a pattern without `allow` is only for application
    /// code.
    pub(super) async fn permit(
        &self,
        allow: Option<&Permission>,
        parameters: &[Parameter],
        call: &Call,
        lets: &[Option<AttributeValue>],
    ) -> Result<(), RunError> {
        let holds = match self.permitted(allow, call) {
            Permitted::Always => true,
            Permitted::Never => false,
            Permitted::If(condition) => Box::pin(self.holds(condition, parameters, call, lets)).await?,
        };
        if holds { Ok(()) } else { Err(RunError::Forbidden) }
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

    async fn holds(
        &self,
        condition: &Expr,
        parameters: &[Parameter],
        call: &Call,
        lets: &[Option<AttributeValue>],
    ) -> Result<bool, RunError> {
        match &condition.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => Ok(Box::pin(self.holds(left, parameters, call, lets))
                .await?
                && Box::pin(self.holds(right, parameters, call, lets)).await?),
            ExprKind::Binary(BinaryOp::Or, left, right) => Ok(Box::pin(self.holds(left, parameters, call, lets))
                .await?
                || Box::pin(self.holds(right, parameters, call, lets)).await?),
            ExprKind::Not(of) => Ok(!Box::pin(self.holds(of, parameters, call, lets)).await?),
            ExprKind::Guard { guard, arguments } => {
                let mut values = Vec::new();
                for argument in arguments {
                    match self.permit_value(argument, parameters, call, lets).await? {
                        Some(value) => values.push(value),
                        None => return Ok(false),
                    }
                }
                self.guard(*guard, values, call).await
            }
            _ => {
                let known = self.with_reads(condition, parameters, call, lets).await?;
                let mut inputs = self.inputs(call);
                inputs.lets = lets.to_vec();
                Ok(bind::holds(&self.checked.model, &known, parameters, &inputs)?)
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
        let known = self.with_reads(expr, parameters, call, lets).await?;
        let mut inputs = self.inputs(call);
        inputs.lets = lets.to_vec();
        Ok(bind::evaluate(&self.checked.model, &known, parameters, &inputs)?)
    }

    /// Replaces each read in an expression by its result.
    async fn with_reads(
        &self,
        expr: &Expr,
        parameters: &[Parameter],
        call: &Call,
        lets: &[Option<AttributeValue>],
    ) -> Result<Expr, RunError> {
        if let ExprKind::ValuePath(ValuePath { origin: Origin::Read { read, arguments, field }, .. }) = &expr.kind {
            let mut values = Vec::new();
            for argument in arguments {
                values.push(Box::pin(self.permit_value(argument, parameters, call, lets)).await?);
            }
            let value = self.read_for_permit(*read, values, call).await?;
            let value = value.zip(*field).and_then(|(found, field)| {
                let name = &self.checked.model.entity(found.entity).field(field).name;
                found.fields.get(name).cloned()
            });
            return Ok(Expr { kind: literal(value), span: expr.span });
        }
        let ExprKind::Binary(op, left, right) = &expr.kind else { return Ok(expr.clone()) };
        let left = Box::pin(self.with_reads(left, parameters, call, lets)).await?;
        let right = Box::pin(self.with_reads(right, parameters, call, lets)).await?;
        Ok(Expr { kind: ExprKind::Binary(*op, Box::new(left), Box::new(right)), span: expr.span })
    }

    async fn read_for_permit(
        &self,
        id: ReadId,
        values: Vec<Option<AttributeValue>>,
        call: &Call,
    ) -> Result<Option<super::Found>, RunError> {
        let read = self.checked.model.read(id);
        let names = read.parameters.iter().flat_map(|parameter| parameter.arguments.iter().cloned());
        let arguments = names.zip(values).filter_map(|(name, value)| Some((name, value?))).collect();
        let inner = Call { arguments, caller: call.caller.clone(), cursor: None, token: None };
        match self.run_read(id, read, &inner).await {
            Ok(Answer::One(found)) => Ok(found),
            Ok(_) | Err(RunError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Evaluates a guard: one consistent GetItem, and the guard's condition on the item.
    async fn guard(&self, id: GuardId, values: Vec<AttributeValue>, call: &Call) -> Result<bool, RunError> {
        let model = &self.checked.model;
        let guard = &model.guards[id.0];
        let mut inputs = self.inputs(call);
        let names = guard.parameters.iter().map(|parameter| parameter.field_name.clone());
        inputs.arguments = Cow::Owned(names.zip(values).collect());
        let Some((get, condition)) = bind::guard(model, guard, &inputs)? else { return Ok(false) };
        let forms = self.open_forms(guard.entity.as_slice()).await?;
        let item = match self.get_both(&forms, get).await? {
            Some(item) => item,
            None => return Ok(false),
        };
        Ok(condition.is_none_or(|condition| condition.holds(Some(&item))))
    }
}

fn literal(value: Option<AttributeValue>) -> ExprKind {
    match value {
        Some(AttributeValue::S(text)) => ExprKind::Text(text),
        Some(AttributeValue::N(number)) => ExprKind::Number(number.to_string()),
        Some(AttributeValue::Bool(value)) => ExprKind::Bool(value),
        _ => ExprKind::None,
    }
}
