//! Conditions and filters: [`grammar`] parses them, [`check`] substitutes placeholders and validates them.

mod check;
mod grammar;

use super::super::ast::Condition;
use super::super::substitution::Substitutions;
use super::resolve::Resolver;
use crate::error::Error;
use crate::error::expression::ExpressionKind;

pub(crate) use check::resolve;
pub(crate) use grammar::{WrittenCondition, read};

/// Request parameter that contains a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// `ConditionExpression`
    Condition,
    /// `FilterExpression`
    Filter,
}

/// Parses a condition or filter.
///
/// # Errors
/// Returns an error if the text is not a valid condition or uses an undefined placeholder.
pub fn parse_condition(text: &str, kind: ConditionKind, substitutions: &mut Substitutions) -> Result<Condition, Error> {
    let kind = match kind {
        ConditionKind::Condition => ExpressionKind::Condition,
        ConditionKind::Filter => ExpressionKind::Filter,
    };
    let written = read(text, kind)?;
    let mut resolver = Resolver::new(substitutions);
    let condition = resolve(&written, &mut resolver);
    resolver.flaws.check(kind)?;
    condition.ok_or_else(|| unreported(kind))
}

/// Internal error for a condition that failed to resolve without a recorded flaw; unreachable, because every failure
/// records one.
pub(crate) fn unreported(kind: ExpressionKind) -> Error {
    Error::internal(format!("A flaw in the {} was not reported; please report this", kind.parameter()))
}
