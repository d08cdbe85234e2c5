//! Conditions and filters: [`grammar`] reads them, [`check`] substitutes placeholders and finds what they must not say.

mod check;
mod grammar;

use super::super::ast::Condition;
use super::super::substitution::Substitutions;
use super::resolve::Resolver;
use crate::error::Error;
use crate::error::expression::ExpressionKind;

pub(crate) use check::resolve;
pub(crate) use grammar::{WrittenCondition, read};

/// Which parameter a condition came in.
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
/// When the text is no condition, or uses a placeholder that is not defined.
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

/// A condition that could not be resolved has a flaw, which is reported first; this text is never seen.
pub(crate) fn unreported(kind: ExpressionKind) -> Error {
    Error::internal(format!("A flaw in the {} was not reported; please report this", kind.parameter()))
}
