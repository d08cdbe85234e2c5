//! V18: one item is read too often.

use crate::check::{Context, Rule};
use crate::cost::report::{PARTITION_READS_MAX, top_share};
use crate::cost::text::number;
use crate::cost::{per_second, read};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::RequestKind;
use keyform_language::span::Spanned;

pub(super) static RULE: Rule = Rule {
    code: Code("V18"),
    severity: Severity::Warning,
    title: "one item is read too often",
    page: include_str!("../../../../../docs/rules/V18.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (pattern, plan) in context.plans.planned(context.model) {
        let told = plan.returns.iter().any(|&id| context.model.entity(id).volume.top_percent.is_some());
        let Some(Spanned { value: rate, .. }) = pattern.rate.filter(|_| told && plan.request == RequestKind::Get)
        else {
            continue;
        };
        let units = read::read(context.model, pattern, plan).units;
        let heat = per_second(rate) * units * top_share(context.model, &plan.returns);
        if heat > PARTITION_READS_MAX {
            findings.push(
                Diagnostic::warning(
                    RULE.code,
                    pattern.name_span,
                    format!("`{}` needs {} read units a second from one item", pattern.name, number(heat)),
                )
                .label(format!("a partition serves {}, and an item cannot be split", number(PARTITION_READS_MAX)))
                .help("cache it for a second, or write several copies and read one at random"),
            );
        }
    }
}
