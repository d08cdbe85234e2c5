//! V04: one result takes many round trips.

use crate::check::{Context, Rule};
use crate::cost::read;
use crate::cost::text::bytes;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::RequestKind;

pub(super) static RULE: Rule = Rule {
    code: Code("V04"),
    severity: Severity::Warning,
    title: "one answer takes many round trips",
    page: include_str!("../../../../../docs/rules/V04.md"),
    find,
};

const PAGES_HOPELESS: u64 = 100;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, plan) in context.plans.planned(context.model) {
        let cost = read::read(context.model, read, plan);
        if cost.pages < 2 || cost.assumed || plan.request == RequestKind::Scan {
            continue;
        }
        let severity = if cost.pages > PAGES_HOPELESS { Severity::Error } else { Severity::Warning };
        let message = format!(
            "one answer of `{}` takes {} round trips for {}",
            read.name,
            cost.pages,
            bytes(cost.examined_bytes)
        );
        findings.push(
            Diagnostic::new(RULE.code, severity, read.name_span, message)
                .label("one Query returns at most 1 MB")
                .help("return pages (`page 50`), keep a counter instead of counting, or put less into the partition"),
        );
    }
}
