//! Turns what is written into what is meant: parameters are put in their places, literals become values, and what does not
//! fit is refused.
//!
//! The service reports a literal without a value before an operand that does not fit, wherever the two stand. So a bad
//! literal is an error at once, while the first bad operand is kept until everything was read.

use keyform_core::error::partiql;
use keyform_core::{AttributeValue, Error};

use super::syntax::{Expr, ExprKind};

/// The parameters, and what was refused so far.
pub(super) struct Binder {
    parameters: Vec<AttributeValue>,
    misuse: Option<Error>,
    refusal: Option<Error>,
}

impl Binder {
    /// Nothing refused yet.
    pub(super) fn new(parameters: Vec<AttributeValue>) -> Self {
        Self { parameters, misuse: None, refusal: None }
    }

    /// The value of a `?`.
    pub(super) fn parameter(&self, number: usize) -> Result<&AttributeValue, Error> {
        self.parameters.get(number).ok_or_else(partiql::parameter_count_mismatch)
    }

    /// Notes an operand that does not fit; the first one counts.
    pub(super) fn refuse(&mut self, error: Error) {
        self.refusal.get_or_insert(error);
    }

    /// Notes that MISSING is compared, which counts more than any other refusal.
    pub(super) fn refuse_missing(&mut self) {
        self.misuse.get_or_insert_with(partiql::missing_compared);
    }

    /// What was refused, now that all is read.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        match self.misuse.take().or_else(|| self.refusal.take()) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// The name of an expression that stands where a value should.
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
