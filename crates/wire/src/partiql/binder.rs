//! Binds parsed statements: substitutes parameters, converts literals to values, and rejects invalid operands.
//!
//! DynamoDB reports an invalid literal before an invalid operand, regardless of their positions. An invalid literal
//! is therefore an error immediately, while the first invalid operand is kept until the whole statement is bound.

use keyform_core::error::partiql;
use keyform_core::{AttributeValue, Error};

use super::syntax::{Expr, ExprKind};

/// Parameters, and the errors found so far.
pub(super) struct Binder {
    parameters: Vec<AttributeValue>,
    misuse: Option<Error>,
    refusal: Option<Error>,
}

impl Binder {
    /// Creates a binder without errors.
    pub(super) fn new(parameters: Vec<AttributeValue>) -> Self {
        Self { parameters, misuse: None, refusal: None }
    }

    /// Returns the value of the `?` with this number, starting at zero.
    pub(super) fn parameter(&self, number: usize) -> Result<&AttributeValue, Error> {
        self.parameters.get(number).ok_or_else(partiql::parameter_count_mismatch)
    }

    /// Records an invalid operand; only the first one is reported.
    pub(super) fn refuse(&mut self, error: Error) {
        self.refusal.get_or_insert(error);
    }

    /// Records a comparison with MISSING, which takes precedence over other invalid operands.
    pub(super) fn refuse_missing(&mut self) {
        self.misuse.get_or_insert_with(partiql::missing_compared);
    }

    /// Returns the recorded error, if any. Must be called after everything is bound.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        match self.misuse.take().or_else(|| self.refusal.take()) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// Returns DynamoDB's name of an expression that is used as a value.
pub(super) fn value_class(expr: &Expr) -> &str {
    match &expr.kind {
        ExprKind::Path(path) if path.steps.is_empty() => "VariableReference",
        ExprKind::Path(_) => "Path",
        ExprKind::Call(name, _) => name,
        ExprKind::Missing => "LiteralMissing",
        ExprKind::Parameter(_) => "Parameter",
        ExprKind::Select(_) => "Select",
        _ => "NAry",
    }
}
