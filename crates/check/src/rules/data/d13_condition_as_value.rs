//! D13: a condition stands where a value is needed.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{Expr, ExprKind, LetSource};

use super::site::{Site, sites, stored_values};

pub(super) static RULE: Rule = Rule {
    code: Code("D13"),
    severity: Severity::Error,
    title: "a condition stands where a value is needed",
    page: include_str!("../../../../../docs/rules/D13.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for site in sites(context) {
        let keys = site.action.keys.iter().map(|(_, expr)| expr).filter(|_| !site.makes());
        let wrong: Vec<&Expr> = keys.filter(|expr| is_condition(expr)).collect();
        findings.extend(wrong.into_iter().map(|expr| finding(expr, hint(&site, expr))));
        for (change, _, field) in site.changes() {
            let values = stored_values(field, change).into_iter().map(|(expr, _)| expr);
            findings.extend(values.filter(|expr| is_condition(expr)).map(|expr| finding(expr, None)));
        }
    }
    for write in &context.model.writes {
        for binding in &write.lets {
            let values: &[Expr] = match &binding.source {
                LetSource::Read { arguments, .. } => arguments,
                LetSource::Value(value) => std::slice::from_ref(value),
                LetSource::Unknown => &[],
            };
            findings.extend(values.iter().filter(|expr| is_condition(expr)).map(|expr| finding(expr, None)));
        }
    }
    for field in context.model.entities.iter().flat_map(|entity| &entity.fields) {
        findings.extend(field.default.iter().filter(|expr| is_condition(expr)).map(|expr| finding(expr, None)));
    }
}

/// Returns true if the expression can only be tested.
fn is_condition(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary(op, ..) => !matches!(op, BinaryOp::Plus | BinaryOp::Minus),
        ExprKind::Not(_)
        | ExprKind::Between(..)
        | ExprKind::In(..)
        | ExprKind::IsNone(_)
        | ExprKind::IsSome(_)
        | ExprKind::Absent
        | ExprKind::Exists
        | ExprKind::Guard { .. } => true,
        ExprKind::Text(_)
        | ExprKind::Number(_)
        | ExprKind::Duration(_)
        | ExprKind::Bool(_)
        | ExprKind::None
        | ExprKind::List(_)
        | ExprKind::Record(_)
        | ExprKind::ValuePath(_)
        | ExprKind::Call { .. }
        | ExprKind::Unknown => false,
    }
}

/// Returns the correct form of a key that was written as an equality.
fn hint(site: &Site<'_>, expr: &Expr) -> Option<String> {
    let ExprKind::Binary(BinaryOp::Equal, ..) = &expr.kind else { return None };
    let name = &site.entity.name;
    Some(format!("name a key field with a colon: `{name}(field: value)`"))
}

fn finding(expr: &Expr, hint: Option<String>) -> Diagnostic {
    Diagnostic::error(RULE.code, expr.span, "this is a condition, and a value is needed here").help(
        hint.unwrap_or_else(|| {
            "write the value; a condition belongs after `if`, `where`, `require` or `allow`".to_owned()
        }),
    )
}
