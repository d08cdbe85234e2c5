//! W22: a permission compares a value with `none`, which is never true.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Expr, ExprKind, Permission};

pub(super) static RULE: Rule = Rule {
    code: Code("W22"),
    severity: Severity::Error,
    title: "a permission compares a value with `none`",
    page: include_str!("../../../../../docs/rules/W22.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    let reads = model.reads.iter().map(|read| read.allow.as_ref());
    let allows = reads.chain(model.writes.iter().map(|write| write.allow.as_ref())).flatten();
    let conditions = allows.filter_map(|allow| match allow {
        Permission::When(condition) => Some(condition),
        Permission::Public(_) | Permission::System(_) => None,
    });
    for condition in conditions.chain(model.guards.iter().filter_map(|guard| guard.condition.as_ref())) {
        condition.walk(&mut |part| findings.extend(judge(part)));
    }
}

fn judge(part: &Expr) -> Option<Diagnostic> {
    let ExprKind::Binary(operator, left, right) = &part.kind else { return None };
    let compares = operator.comparator().is_some();
    let has_none = [left, right].into_iter().any(|side| matches!(side.kind, ExprKind::None));
    (compares && has_none).then(|| {
        Diagnostic::error(RULE.code, part.span, "a comparison with `none` is unknown, so it is never true")
            .note("A permission must be true. A comparison with an absent value is neither true nor false.")
            .help("write `is none` or `is some`")
    })
}
