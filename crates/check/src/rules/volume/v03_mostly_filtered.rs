//! V03: a read discards most of the items it reads.

use crate::check::{Context, Rule};
use crate::cost::read;
use crate::cost::text::number;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::RequestKind;

pub(super) static RULE: Rule = Rule {
    code: Code("V03"),
    severity: Severity::Warning,
    title: "a read discards most of what it reads",
    page: include_str!("../../../../../docs/rules/V03.md"),
    find,
};

const YIELD_POOR: f64 = 0.5;
const YIELD_HOPELESS: f64 = 0.1;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, plan) in context.plans.planned(context.model) {
        let cost = read::read(context.model, read, plan);
        let share =
            cost.yielded.filter(|&share| share < YIELD_POOR && !cost.assumed && plan.request == RequestKind::Query);
        let Some(share) = share else { continue };
        let severity = if share < YIELD_HOPELESS { Severity::Error } else { Severity::Warning };
        let others: Vec<&str> = plan
            .matches
            .iter()
            .filter(|id| !plan.returns.contains(id))
            .map(|&id| context.model.entity(id).name.as_str())
            .collect();
        findings.push(
            Diagnostic::new(
                RULE.code,
                severity,
                read.name_span,
                format!("`{}` returns {} % of what it reads and pays for", read.name, number(share * 100.0)),
            )
            .label(format!("also reads {}", others.join(", ")))
            .help("give the items of this read their own prefix in the sort key, or an index"),
        );
    }
}
