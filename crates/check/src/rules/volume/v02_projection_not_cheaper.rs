//! V02: `select` does not make a read cheaper.

use crate::check::{Context, Rule};
use crate::cost::read;
use crate::cost::text::number;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::RequestKind;

pub(super) static RULE: Rule = Rule {
    code: Code("V02"),
    severity: Severity::Note,
    title: "selecting fewer attributes does not make a read cheaper",
    page: include_str!("../../../../../docs/rules/V02.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, plan) in context.plans.planned(context.model) {
        let Some((first, last)) = read.select.as_ref().and_then(|fields| Some((fields.first()?.1, fields.last()?.1)))
        else {
            continue;
        };
        let cost = read::read(context.model, read, plan);
        if cost.units > 1.0 && plan.request == RequestKind::Query {
            let units = number(cost.units);
            findings.push(
                Diagnostic::note_at(
                    RULE.code,
                    first.to(last),
                    format!("`{}` reads {units} units, with or without `select`", read.name),
                )
                .label("reduces the response, not the cost")
                .help("an index that projects only these attributes (`project (…)`) makes it cheaper"),
            );
        }
    }
}
