//! Values that callers choose: the arguments of a call, also those that reach a step through `let` and `for`.

use crate::schema::{Action, Expr, ExprKind, LetSource, Origin, Type, ValuePath, Write, WriteStep, limit};

/// The `let`s of a write and the lists of the `for`s around a step.
#[derive(Clone, Debug)]
pub struct Given<'a> {
    write: &'a Write,
    lists: Vec<&'a Expr>,
}

/// Returns the actions of a write in order, each with the values that callers choose there.
#[must_use]
pub fn actions(write: &Write) -> Vec<(&Action, Given<'_>)> {
    let mut found = Vec::new();
    collect(&mut Given::of(write), &write.steps, &mut found);
    found
}

fn collect<'a>(given: &mut Given<'a>, steps: &'a [WriteStep], found: &mut Vec<(&'a Action, Given<'a>)>) {
    for step in steps {
        match step {
            WriteStep::Action(action) => found.push((action, given.clone())),
            WriteStep::For(each) => {
                given.enter(&each.list);
                collect(given, &each.steps, found);
                given.leave();
            }
        }
    }
}

impl<'a> Given<'a> {
    /// Returns the values outside of every `for`.
    #[must_use]
    pub const fn of(write: &'a Write) -> Self {
        Self { write, lists: Vec::new() }
    }

    /// Enters a `for`, whose elements come from this list.
    pub fn enter(&mut self, list: &'a Expr) {
        self.lists.push(list);
    }

    /// Leaves a `for`.
    pub fn leave(&mut self) {
        self.lists.pop();
    }

    /// Returns the parameters that a value depends on, by index. What a `let` reads was chosen by the caller who stored
    /// it.
    #[must_use]
    pub fn arguments(&self, value: &'a Expr) -> Vec<usize> {
        let mut numbers = Vec::new();
        value.walk(&mut |part| {
            let ExprKind::ValuePath(ValuePath { origin, .. }) = &part.kind else { return };
            match origin {
                Origin::Parameter(number) => numbers.push(*number),
                Origin::Let { .. } | Origin::Element(_) => {
                    numbers.extend(self.source(origin).map(|of| self.arguments(of)).unwrap_or_default());
                }
                Origin::Field(..) | Origin::Caller(_) | Origin::Read { .. } => {}
            }
        });
        numbers
    }

    /// Returns true if the caller chooses a value. A hash is computed by the request, so it is not chosen.
    #[must_use]
    pub fn is_chosen(&self, value: &'a Expr) -> bool {
        let is_hash = matches!(&self.resolved(value).kind, ExprKind::Call { function, .. } if function == "hash");
        !is_hash && !self.arguments(value).is_empty()
    }

    /// Returns the expression that a value is bound to, through each `let x = …`.
    #[must_use]
    pub fn resolved(&self, value: &'a Expr) -> &'a Expr {
        match &value.kind {
            ExprKind::ValuePath(ValuePath { origin: origin @ Origin::Let { .. }, path }) if path.is_empty() => {
                self.source(origin).map_or(value, |of| self.resolved(of))
            }
            _ => value,
        }
    }

    /// Returns the type of an argument or of a part of one; `None` for any other value.
    #[must_use]
    pub fn kind(&self, value: &'a Expr) -> Option<&'a Type> {
        let ExprKind::ValuePath(ValuePath { origin, path }) = &value.kind else { return None };
        let kind = match origin {
            Origin::Parameter(number) => &self.write.parameters.get(*number)?.kind,
            Origin::Let { .. } => self.kind(self.source(origin)?)?,
            Origin::Element(_) => match self.kind(self.source(origin)?)?.resolved() {
                Type::List(of, _) | Type::Set(of, _) => of,
                _ => return None,
            },
            Origin::Field(..) | Origin::Caller(_) | Origin::Read { .. } => return None,
        };
        limit::at(kind, path)
    }

    /// Returns the value of a `let`, or the list of a `for`.
    pub(super) fn source(&self, origin: &Origin) -> Option<&'a Expr> {
        match origin {
            Origin::Let { number, .. } => match &self.write.lets.get(*number)?.source {
                LetSource::Value(value) => Some(value),
                LetSource::Read { .. } | LetSource::Unknown => None,
            },
            Origin::Element(depth) => self.lists.get(*depth).copied(),
            Origin::Field(..) | Origin::Parameter(_) | Origin::Caller(_) | Origin::Read { .. } => None,
        }
    }
}
