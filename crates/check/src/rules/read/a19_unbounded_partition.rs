//! A19: one call reads a whole partition that can be large.

use crate::check::{Context, Rule};
use crate::cost::read::{self, PAGE_BYTES, ReadCost};
use crate::cost::text::{bytes, number};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::{BoundPart, ReadPlan, RequestKind, SortRange};
use keyform_language::schema::{Read, Result as ReadResult};

pub(super) static RULE: Rule = Rule {
    code: Code("A19"),
    severity: Severity::Warning,
    title: "one call reads a whole partition that can be large",
    page: include_str!("../../../../../docs/rules/A19.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, plan) in context.plans.planned(context.model) {
        let is_whole = read.all.is_some() || matches!(read.result, ReadResult::Count(..));
        if !is_whole || (plan.unique && !plan.count) || plan.request != RequestKind::Query || is_narrowed(plan) {
            continue;
        }
        // V04 reports reads whose mean partition is large.
        let mean = read::read(context.model, read, plan);
        if mean.pages > 1 && !mean.assumed {
            continue;
        }
        let largest = read::largest(context.model, read, plan);
        findings.extend(largest.filter(|cost| cost.examined_bytes > PAGE_BYTES).map(|cost| finding(read, &cost)));
    }
}

/// Returns true if a range of the sort key limits the read to a part of the partition, of unknown size.
fn is_narrowed(plan: &ReadPlan) -> bool {
    match &plan.sort.range {
        Some(SortRange::Begins(key)) => key.parts.iter().any(|part| !matches!(part, BoundPart::Text(_))),
        Some(
            SortRange::Equal(_)
            | SortRange::Between(..)
            | SortRange::From(_)
            | SortRange::After(_)
            | SortRange::Until(_)
            | SortRange::Before(_),
        ) => true,
        None => !plan.sort.equal.is_empty(),
    }
}

fn finding(read: &Read, cost: &ReadCost) -> Diagnostic {
    let message = format!(
        "one call of `{}` reads up to {} items, {}",
        read.name,
        number(cost.examined_items as f64),
        bytes(cost.examined_bytes)
    );
    let finding = Diagnostic::warning(RULE.code, read.all.unwrap_or(read.name_span), message).label(format!(
        "{} round trips, {} read units",
        cost.pages,
        number(cost.units)
    ));
    finding.help(if matches!(read.result, ReadResult::Count(..)) {
        "keep a counter in the parent item, and change it with each write"
    } else {
        "return pages: `page 50`"
    })
}
