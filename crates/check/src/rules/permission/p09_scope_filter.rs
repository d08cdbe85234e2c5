//! P09: the scope of a read is only a filter.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::{self, Filter, RequestKind};
use keyform_language::schema::Permission;

pub(super) static RULE: Rule = Rule {
    code: Code("P09"),
    severity: Severity::Warning,
    title: "the scope of a read is only a filter",
    page: include_str!("../../../../../docs/rules/P09.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, plan) in context.plans.planned(context.model) {
        let scope = read.allow.as_ref().map(Permission::parameters).unwrap_or_default();
        for filter in plan.filters.iter().filter(|_| plan.request == RequestKind::Query) {
            let Filter::Parameter(number) = filter else { continue };
            let in_key = plan.returns.iter().any(|&entity| {
                plan::arguments_in_place(context.model.entity(entity), plan).iter().any(|it| it.parameter == *number)
            });
            if in_key || !scope.contains(number) {
                continue;
            }
            let parameter = &read.parameters[*number];
            let message = format!("`{}` reads the items of every `{}` and filters", read.name, parameter.field_name);
            let finding = Diagnostic::warning(RULE.code, parameter.span, message)
                .label("it is not part of the key: items are read and paid for, then discarded");
            findings
                .push(finding.help(format!("put `{}` into the key of an index and read by it", parameter.field_name)));
        }
    }
}
