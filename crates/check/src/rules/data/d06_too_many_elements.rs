//! D06: `append` or `add` names more elements than the list or set can hold.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Change, ChangeKind, Expr, ExprKind, Field, limit};

use super::site::{Site, sites};

pub(super) static RULE: Rule = Rule {
    code: Code("D06"),
    severity: Severity::Error,
    title: "a change adds more elements than the field can hold",
    page: include_str!("../../../../../docs/rules/D06.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for site in sites(context) {
        for (change, _, field) in site.changes() {
            findings.extend(excess(&site, change, field));
        }
    }
}

fn excess(site: &Site<'_>, change: &Change, field: &Field) -> Option<Diagnostic> {
    let (ChangeKind::Append(expr) | ChangeKind::Add(expr)) = &change.kind else { return None };
    let max = limit::elements(limit::at(&field.kind, change.path())?)?.max?;
    let count = count(expr);
    (i64::try_from(count).is_ok_and(|count| count > max)).then(|| {
        let message = format!("`{}` of {} holds at most {max} elements", field.name, site.entity.name);
        Diagnostic::error(RULE.code, expr.span, message)
            .label(format!("{count} elements"))
            .also(field.type_span, "the field's type")
            .help("add fewer elements, or raise the maximum")
    })
}

/// Returns the least number of elements that an expression adds.
fn count(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::List(parts) => parts.len(),
        _ => 1,
    }
}
