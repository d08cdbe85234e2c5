//! D15: a comparison of values that have no value in common.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::relation::{Relation, relation};
use keyform_language::schema::{ExprKind, Origin, Type, ValuePath, words};

use super::comparison::{Comparison, comparisons};

pub(super) static RULE: Rule = Rule {
    code: Code("D15"),
    severity: Severity::Error,
    title: "two values that are never alike are compared",
    page: include_str!("../../../../../docs/rules/D15.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for compared in comparisons(context) {
        let kinds = compared.names.kind(compared.left).zip(compared.names.kind(compared.right));
        // P06 judges claims.
        let is_claim = |expr: &keyform_language::schema::Expr| {
            matches!(&expr.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Caller(_), .. }))
        };
        if let Some((left, right)) = kinds.filter(|(left, right)| are_unlike(left.resolved(), right.resolved()))
            && !is_claim(compared.left)
            && !is_claim(compared.right)
        {
            findings.push(finding(&compared, &left, &right));
        }
    }
}

/// Returns true if no value of one type is a value of the other. Numbers and times of different bounds or precision
/// still have an order.
fn are_unlike(left: &Type, right: &Type) -> bool {
    let is_scalar = |kind: &Type| matches!(kind, Type::Scalar(..) | Type::OneOf(_));
    let have_order = left.stored() == right.stored() && (left.is_numeric() || left.is_time() && right.is_time());
    let apart = |one: &Type, other: &Type| relation(one, other) == Relation::Disjoint;
    is_scalar(left) && is_scalar(right) && !have_order && apart(left, right) && apart(right, left)
}

fn finding(compared: &Comparison<'_>, left: &Type, right: &Type) -> Diagnostic {
    let message = format!("{} is compared with {}", words::described(left), words::described(right));
    Diagnostic::error(RULE.code, compared.right.span, message)
        .label("the result is the same for every item")
        .also(compared.left.span, "the other side")
        .help("compare values of the same type")
}
