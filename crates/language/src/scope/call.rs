//! Calls of guards: a claim may be an argument, `member(orgId, caller.userId)`, instead of standing in the guard itself.

use std::collections::BTreeSet;

use crate::schema::{Expr, ExprKind, Guard, GuardId, Model, Permission};

use super::disjunct::mentions_caller;

/// Returns, for each guard, the parameters that every call of it fills with a claim.
#[must_use]
pub fn caller_parameters(model: &Model) -> Vec<BTreeSet<usize>> {
    let mut found: Vec<Option<BTreeSet<usize>>> = vec![None; model.guards.len()];
    let allows = model.reads.iter().map(|read| &read.allow).chain(model.writes.iter().map(|write| &write.allow));
    for condition in allows.flatten().filter_map(Permission::condition) {
        condition.walk(&mut |part| {
            let ExprKind::Guard { guard: GuardId(number), arguments } = &part.kind else { return };
            let claims = claimed(arguments);
            found[*number] = Some(match &found[*number] {
                Some(known) => known & &claims,
                None => claims,
            });
        });
    }
    found.into_iter().map(Option::unwrap_or_default).collect()
}

/// Returns true if a guard's item belongs to the caller, with a claim for each of these parameters: a claim stands in its
/// key or in its condition.
#[must_use]
pub fn is_tied(guard: &Guard, callers: &BTreeSet<usize>) -> bool {
    let keys = guard.keys.iter().map(|(_, value)| value);
    let equal = guard.equalities.iter().map(|it| &it.value);
    keys.chain(equal).chain(&guard.condition).any(|value| is_of_caller(value, callers))
}

/// Returns true if a value in a guard is a claim, or a parameter that calls fill with a claim.
#[must_use]
pub fn is_of_caller(value: &Expr, callers: &BTreeSet<usize>) -> bool {
    mentions_caller(value) || value.parameters().iter().any(|number| callers.contains(number))
}

/// Returns the parameters that one call fills with a claim.
#[must_use]
pub fn claimed(arguments: &[Expr]) -> BTreeSet<usize> {
    arguments.iter().enumerate().filter(|(_, argument)| mentions_caller(argument)).map(|(number, _)| number).collect()
}
