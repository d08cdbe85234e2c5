//! P14: two guards demand the same.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Expr, Guard};

pub(super) static RULE: Rule = Rule {
    code: Code("P14"),
    severity: Severity::Warning,
    title: "two guards demand the same",
    page: include_str!("../../../../../docs/rules/P14.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let guards = &context.model.guards;
    for (number, guard) in guards.iter().enumerate() {
        let Some(first) = guards[..number].iter().find(|other| is_same(other, guard)) else { continue };
        let message = format!("the guards `{}` and `{}` demand the same", first.name, guard.name);
        let finding = Diagnostic::warning(RULE.code, guard.name_span, message)
            .label("every caller that passes one passes the other")
            .also(first.name_span, "the other guard");
        findings.push(finding.help("add the condition that distinguishes it, or remove one of them"));
    }
}

fn is_same(one: &Guard, other: &Guard) -> bool {
    let is_key = |(field, value): &(_, Expr), of: &(_, Expr)| *field == of.0 && value.same(&of.1);
    let keys = one.keys.len() == other.keys.len() && one.keys.iter().zip(&other.keys).all(|(a, b)| is_key(a, b));
    let equal = one.equalities.len() == other.equalities.len()
        && one.equalities.iter().zip(&other.equalities).all(|(a, b)| a.field == b.field && a.value.same(&b.value));
    let condition = match (&one.condition, &other.condition) {
        (None, None) => true,
        (Some(one), Some(other)) => one.same(other),
        (Some(_), None) | (None, Some(_)) => false,
    };
    one.entity.is_some() && one.entity == other.entity && keys && equal && condition
}
