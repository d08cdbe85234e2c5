//! P03: a guard does not mention the caller.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::scope::call;

pub(super) static RULE: Rule = Rule {
    code: Code("P03"),
    severity: Severity::Warning,
    title: "a guard does not mention the caller",
    page: include_str!("../../../../../docs/rules/P03.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    if context.model.caller.is_none() {
        return;
    }
    let callers = call::caller_parameters(context.model);
    let guards = context.model.guards.iter().zip(&callers).filter(|(guard, _)| guard.entity.is_some());
    for (guard, _) in guards.filter(|(guard, callers)| !call::is_tied(guard, callers)) {
        let message = format!("the guard `{}` holds for every caller or for none", guard.name);
        let finding = Diagnostic::warning(RULE.code, guard.name_span, message)
            .label("neither its key nor its condition uses a claim, so it authorises nothing");
        findings.push(finding.help("put a claim into the key or the condition: `exists Member(orgId, caller.userId)`"));
    }
}
