//! V12: one pattern accounts for most of the cost.

use crate::check::{Context, Rule};
use crate::cost::price::PRICES;
use crate::cost::report::report;
use crate::cost::text::dollars;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::span::Span;

pub(super) static RULE: Rule = Rule {
    code: Code("V12"),
    severity: Severity::Note,
    title: "one pattern dominates the cost",
    page: include_str!("../../../../../docs/rules/V12.md"),
    find,
};

const MONTH_DOLLARS_SMALL: f64 = 100.0;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let report = report(context.model, context.plans, &PRICES);
    let reads = report.reads.iter().map(|line| (&line.name, line.month_dollars));
    let writes = report.writes.iter().map(|line| (&line.name, line.month_dollars));
    for (name, money) in reads.chain(writes) {
        let Some(money) = money.filter(|&money| money > MONTH_DOLLARS_SMALL && money > report.month_dollars / 2.0)
        else {
            continue;
        };
        if let Some(place) = place(context, name) {
            let message = format!("`{name}` costs {} of {} a month", dollars(money), dollars(report.month_dollars));
            findings.push(
                Diagnostic::note_at(RULE.code, place, message)
                    .note(format!("Prices of {}, {}.", PRICES.region, PRICES.date))
                    .help("`keyform cost` shows a breakdown"),
            );
        }
    }
}

fn place(context: &Context<'_>, name: &str) -> Option<Span> {
    let read = context.model.reads.iter().find(|read| read.name == name).map(|read| read.name_span);
    read.or_else(|| context.model.writes.iter().find(|write| write.name == name).map(|write| write.name_span))
}
