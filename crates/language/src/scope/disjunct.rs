//! Alternatives of an `allow`, in disjunctive normal form.

use crate::document::ast::BinaryOp;
use crate::schema::{Expr, ExprKind, Model, Origin, Permission, ValuePath};

/// Limit of alternatives: a condition with more of them is one alternative, of which nothing is known. That is safe,
/// because what is not known authorises nothing.
const DISJUNCTS_MAX: usize = 64;

/// Returns the alternatives of a permission, each as the conditions that hold together. `public` is one alternative
/// without conditions; a permission for code only has none.
#[must_use]
pub fn disjuncts(permission: &Permission) -> Vec<Vec<&Expr>> {
    match permission {
        Permission::Public(_) => vec![Vec::new()],
        Permission::System(_) => Vec::new(),
        Permission::When(condition) => normal(condition),
    }
}

fn normal(expr: &Expr) -> Vec<Vec<&Expr>> {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Or, left, right) => {
            let all = [normal(left), normal(right)].concat();
            if all.len() > DISJUNCTS_MAX { vec![vec![expr]] } else { all }
        }
        ExprKind::Binary(BinaryOp::And, left, right) => {
            let (left, right) = match (normal(left), normal(right)) {
                (one, other) if one.len() * other.len() <= DISJUNCTS_MAX => (one, other),
                (one, other) if one.len() > other.len() => (vec![vec![left.as_ref()]], other),
                (one, _) => (one, vec![vec![right.as_ref()]]),
            };
            left.iter().flat_map(|one| right.iter().map(|other| [one.as_slice(), other].concat())).collect()
        }
        _ => vec![vec![expr]],
    }
}

/// Returns the conditions that must all hold for a condition to hold.
#[must_use]
pub fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => [conjuncts(left), conjuncts(right)].concat(),
        _ => vec![expr],
    }
}

/// Returns both sides of an equality.
#[must_use]
pub fn equality(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Equal, left, right) => Some((left, right)),
        _ => None,
    }
}

/// Returns true if an alternative compares a claim with `global` with a literal: it is for operators.
#[must_use]
pub fn is_for_operators(model: &Model, conditions: &[&Expr]) -> bool {
    let global = model.caller.iter().flat_map(|caller| &caller.global);
    let claims: Vec<usize> = global.map(|(number, _)| *number).collect();
    let is_claim = |expr: &Expr| claim(expr).is_some_and(|number| claims.contains(&number));
    conditions.iter().any(|condition| match equality(condition) {
        Some((left, right)) => is_claim(left) && is_literal(right) || is_claim(right) && is_literal(left),
        None => is_claim(condition),
    })
}

/// Returns the claim that an expression is, by index.
#[must_use]
pub fn claim(expr: &Expr) -> Option<usize> {
    match &expr.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Caller(number), .. }) => Some(*number),
        _ => None,
    }
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Text(_) | ExprKind::Number(_) | ExprKind::Bool(_))
}

/// Returns true if an expression uses a claim.
#[must_use]
pub fn mentions_caller(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| found |= claim(part).is_some());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Compiled;

    #[test]
    fn a_condition_with_too_many_alternatives_authorises_less_instead_of_growing() {
        let check = |parts: usize, expected: usize| {
            let allow = vec!["(userId = caller.userId or admin = caller.userId)"; parts].join(" and ");
            let text = format!(
                "model m\ncaller userId: ulid\ntable T {{ key pk }}\nentity E in T {{\n  key \"E#{{userId}}\"\n  userId: ulid\n  \
                 admin: ulid\n}}\nread e(userId, admin) -> E? allow {allow}\n"
            );
            let model = Compiled::read(&text).model;
            let allow = model.reads[0].allow.as_ref().expect("the read has an `allow`");
            assert_eq!(disjuncts(allow).len(), expected, "{parts} alternatives of two");
        };
        check(1, 2);
        check(6, 64);
        check(30, 64);
    }
}
