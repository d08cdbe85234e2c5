//! D05: a change removes a required field.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Change, ChangeKind, ExprKind, Field, limit};

use super::site::{Site, sites};

pub(super) static RULE: Rule = Rule {
    code: Code("D05"),
    severity: Severity::Error,
    title: "a change removes a required field",
    page: include_str!("../../../../../docs/rules/D05.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for site in sites(context) {
        for (change, _, field) in site.changes() {
            let removed = limit::member_at(field, change.path()).filter(|_| removes(change));
            if let Some(removed) = removed.filter(|removed| removed.must_have_value()) {
                findings.push(finding(&site, change, removed));
            }
        }
    }
}

fn removes(change: &Change) -> bool {
    match &change.kind {
        ChangeKind::Remove => true,
        ChangeKind::Set(value) => matches!(value.kind, ExprKind::None),
        ChangeKind::Increase(_)
        | ChangeKind::Decrease(_)
        | ChangeKind::Append(_)
        | ChangeKind::Add(_)
        | ChangeKind::Take(_) => false,
    }
}

fn finding(site: &Site<'_>, change: &Change, field: &Field) -> Diagnostic {
    let message = format!("`{}` removes `{}` of {}, which is required", site.write.name, field.name, site.entity.name);
    Diagnostic::error(RULE.code, change.span, message)
        .also(field.type_span, "required")
        .help("set another value, or make the field optional with `?`")
}
