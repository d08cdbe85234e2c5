//! V15: the cost of a unique field.

use crate::check::{Context, Rule};
use crate::cost::price::PRICES;
use crate::cost::text::{dollars, number};
use crate::cost::{MONTH_SECS, per_second, write};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::span::Spanned;

pub(super) static RULE: Rule = Rule {
    code: Code("V15"),
    severity: Severity::Note,
    title: "a unique field has a cost",
    page: include_str!("../../../../../docs/rules/V15.md"),
    find,
};

const MONTH_DOLLARS_SMALL: f64 = 10.0;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (written, plan) in context.model.writes.iter().zip(&context.plans.writes) {
        let Some((plan, Spanned { value: rate, .. })) = plan.as_ref().zip(written.rate) else { continue };
        let cost = write::write(context.model, written, plan);
        let money = cost.sentinel_units * per_second(rate) * MONTH_SECS * PRICES.standard.million_writes / 1e6;
        if money > MONTH_DOLLARS_SMALL {
            findings.push(
                Diagnostic::note_at(
                    RULE.code,
                    written.name_span,
                    format!(
                        "sentinels of unique fields are {} units of each `{}`, {} a month",
                        number(cost.sentinel_units),
                        written.name,
                        dollars(money)
                    ),
                )
                .note("They also make the write a transaction, which doubles the units of its item.")
                .help("a field that is the partition key is unique without a sentinel"),
            );
        }
    }
}
