//! Substitutes placeholders and collects flaws.
//!
//! DynamoDB does not report the first flaw in the text but the first by kind: a reserved word anywhere in the
//! expression precedes an undefined placeholder, and so on. [`Flaws`] therefore keeps the flaw with the lowest
//! [`Rank`], and the earlier of two flaws with the same rank.

use super::super::ast::{Path, PathElement};
use super::super::reserved::is_reserved;
use super::super::substitution::Substitutions;
use super::written::{WrittenElement, WrittenPath};
use crate::error::Error;
use crate::error::expression::{ExpressionKind, Flaw, invalid};
use crate::limits::NESTING_DEPTH_MAX;
use crate::value::Value;

/// Largest list index in a path; the service rejects greater ones.
const INDEX_MAX: usize = 0x7fff_ffff;

/// Reporting order of flaws; lower ranks are reported first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Parentheses,
    UnknownFunction,
    MisusedFunction,
    ReservedWord,
    UnknownUpdateFunction,
    Section,
    /// A flaw inside the n-th test of a condition, counted from the left.
    Condition(usize, ConditionRank),
    UndefinedName,
    UndefinedValue,
    Overlap,
    Conflict,
    ActionType,
    Function,
}

/// Reporting order of flaws inside one test of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConditionRank {
    Undefined,
    OperandCount,
    SameOperands,
    OperandType,
}

/// Collects flaws and keeps the one to report.
#[derive(Debug, Default)]
pub(crate) struct Flaws {
    worst: Option<(Rank, Flaw)>,
}

impl Flaws {
    pub(crate) fn note(&mut self, rank: Rank, flaw: Flaw) {
        if self.worst.as_ref().is_none_or(|(worst, _)| rank < *worst) {
            self.worst = Some((rank, flaw));
        }
    }

    /// Returns the flaw with the lowest rank as an error.
    pub(crate) fn check(self, kind: ExpressionKind) -> Result<(), Error> {
        self.worst.map_or(Ok(()), |(_, flaw)| Err(invalid(kind, &flaw)))
    }
}

/// Substitutes placeholders and records flaws.
pub(crate) struct Resolver<'s> {
    pub(crate) substitutions: &'s mut Substitutions,
    pub(crate) flaws: Flaws,
    /// Number of the test being resolved, which ranks its flaws; `None` outside conditions.
    pub(crate) condition: Option<usize>,
}

impl<'s> Resolver<'s> {
    pub(crate) fn new(substitutions: &'s mut Substitutions) -> Self {
        Self { substitutions, flaws: Flaws::default(), condition: None }
    }

    /// Substitutes the names of a path; returns `None` after recording a flaw.
    pub(crate) fn path(&mut self, written: &WrittenPath<'_>) -> Option<Path> {
        let elements = all(written.elements.iter(), |element| self.element(element))?;
        if elements.len() > NESTING_DEPTH_MAX {
            let rank = self.rank(Rank::Function, ConditionRank::OperandType);
            self.flaws.note(rank, Flaw::PathTooDeep(elements.len()));
            return None;
        }
        Some(Path { elements })
    }

    fn element(&mut self, written: &WrittenElement<'_>) -> Option<PathElement> {
        match written {
            WrittenElement::Word(word) if is_reserved(word) => {
                self.flaws.note(Rank::ReservedWord, Flaw::ReservedWord((*word).to_owned()));
                None
            }
            WrittenElement::Word(word) => Some(PathElement::Attribute((*word).to_owned())),
            WrittenElement::Name(placeholder) => self.name(placeholder),
            WrittenElement::Index(digits) => self.index(digits),
        }
    }

    fn name(&mut self, placeholder: &str) -> Option<PathElement> {
        if let Some(name) = self.substitutions.name(placeholder) {
            return Some(PathElement::Attribute(name.to_owned()));
        }
        let rank = self.rank(Rank::UndefinedName, ConditionRank::Undefined);
        self.flaws.note(rank, Flaw::UndefinedName(placeholder.to_owned()));
        None
    }

    fn index(&mut self, digits: &str) -> Option<PathElement> {
        match digits.parse() {
            Ok(index) if index <= INDEX_MAX => Some(PathElement::Index(index)),
            _ => {
                let rank = self.rank(Rank::Function, ConditionRank::OperandType);
                self.flaws.note(rank, Flaw::IndexTooLarge(digits.to_owned()));
                None
            }
        }
    }

    /// Returns the value of a placeholder; returns `None` after recording a flaw if it is undefined.
    pub(crate) fn value(&mut self, placeholder: &str) -> Option<Value> {
        if let Some(value) = self.substitutions.value(placeholder) {
            return Some(value.clone());
        }
        let rank = self.rank(Rank::UndefinedValue, ConditionRank::Undefined);
        self.flaws.note(rank, Flaw::UndefinedValue(placeholder.to_owned()));
        None
    }

    fn rank(&self, elsewhere: Rank, in_condition: ConditionRank) -> Rank {
        self.condition.map_or(elsewhere, |number| Rank::Condition(number, in_condition))
    }
}

/// Resolves all parts, or returns `None` if one has a flaw. Later parts are resolved even then, so that their flaws
/// are recorded.
pub(crate) fn all<P, R>(
    parts: impl ExactSizeIterator<Item = P>,
    mut resolve: impl FnMut(P) -> Option<R>,
) -> Option<Vec<R>> {
    let mut resolved = Vec::with_capacity(parts.len());
    let count = parts.len();
    resolved.extend(parts.filter_map(&mut resolve));
    (resolved.len() == count).then_some(resolved)
}
