//! V07: a read or write exceeds the throughput of one partition.

use crate::check::{Context, Rule};
use crate::cost::Prices;
use crate::cost::price::PRICES;
use crate::cost::report::{PARTITION_READS_MAX, PARTITION_WRITES_MAX, report};
use crate::cost::text::number;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::span::Span;

pub(super) static RULE: Rule = Rule {
    code: Code("V07"),
    severity: Severity::Warning,
    title: "a partition is too hot",
    page: include_str!("../../../../../docs/rules/V07.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let prices: &Prices = &PRICES;
    let report = report(context.model, context.plans, prices);
    let reads = context.plans.planned(context.model).map(|(read, _)| read);
    for (read, line) in reads.zip(&report.reads).filter(|(_, line)| !line.source.contains('.')) {
        let Some(heat) = line.heat else { continue };
        if has_share(context, &read.result.entities()) {
            findings.extend(judge(&read.name, read.name_span, heat, PARTITION_READS_MAX, "read"));
        }
    }
    let planned = context.model.writes.iter().zip(&context.plans.writes).filter(|(_, plan)| plan.is_some());
    for ((write, _), line) in planned.zip(&report.writes) {
        let Some(heat) = line.heat else { continue };
        let entities: Vec<_> = write.actions().iter().filter_map(|action| action.entity).collect();
        if has_share(context, &entities) {
            findings.extend(judge(&write.name, write.name_span, heat, PARTITION_WRITES_MAX, "write"));
        }
    }
}

/// Returns whether the author specified how uneven the partitions are. Without that, the load of the busiest one is
/// unknown.
fn has_share(context: &Context<'_>, entities: &[keyform_language::schema::EntityId]) -> bool {
    entities.iter().any(|&id| context.model.entity(id).volume.top_percent.is_some())
}

fn judge(name: &str, place: Span, heat: f64, limit: f64, kind: &str) -> Option<Diagnostic> {
    (heat > limit).then(|| {
        Diagnostic::warning(
            RULE.code,
            place,
            format!("`{name}` needs {} {kind} units a second from one partition", number(heat)),
        )
        .label(format!("a partition gives {}", number(limit)))
        .note("Automatic splitting does not help when all writes go to the end of an ascending sort key.")
        .help("spread the busiest key over several (`{id}#{shard}`), or cache what is read most")
    })
}
