//! D07: a field with bounds is set to a sum that no condition can test.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::limit::{self, Range};
use keyform_language::schema::{Change, ChangeKind, Expr, ExprKind, Field};

use super::site::{Site, sites};

pub(super) static RULE: Rule = Rule {
    code: Code("D07"),
    severity: Severity::Error,
    title: "no condition can test the bounds of this sum",
    page: include_str!("../../../../../docs/rules/D07.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for site in sites(context).into_iter().filter(|site| !site.makes()) {
        for (change, _, field) in site.changes() {
            findings.extend(untested(change, field).map(|expr| finding(&site, expr, field)));
        }
    }
}

/// Returns the sum of two fields of the item that a change stores in a field with bounds: conditions cannot add.
fn untested<'a>(change: &'a Change, field: &Field) -> Option<&'a Expr> {
    let is_bounded = limit::at(&field.kind, change.path()).is_some_and(|kind| !Range::of(kind).is_open());
    match &change.kind {
        ChangeKind::Increase(by) | ChangeKind::Decrease(by) => Some(by).filter(|by| is_bounded && by.has_own_fields()),
        ChangeKind::Set(expr) => {
            let ExprKind::Binary(BinaryOp::Plus | BinaryOp::Minus, left, right) = &expr.kind else { return None };
            Some(expr).filter(|_| is_bounded && left.has_own_fields() && right.has_own_fields())
        }
        ChangeKind::Append(_) | ChangeKind::Add(_) | ChangeKind::Take(_) | ChangeKind::Remove => None,
    }
}

fn finding(site: &Site<'_>, expr: &Expr, field: &Field) -> Diagnostic {
    let message = format!("`{}` of {} may leave its bounds", field.name, site.entity.name);
    Diagnostic::error(RULE.code, expr.span, message)
        .label("depends on another field of the stored item, and a condition cannot add two fields")
        .also(field.type_span, "the field's type")
        .help("read the item first (`let x = …`) and use its value: the condition then tests the sum")
}
