//! V10: the number of shards that a hot key needs.

use crate::check::{Context, Rule};
use crate::cost::price::PRICES;
use crate::cost::report::{PARTITION_WRITES_MAX, report};
use crate::cost::text::number;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};

pub(super) static RULE: Rule = Rule {
    code: Code("V10"),
    severity: Severity::Note,
    title: "a hot key needs sharding",
    page: include_str!("../../../../../docs/rules/V10.md"),
    find,
};

/// Target utilisation of a shard.
const HEADROOM: f64 = 0.5;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let planned = context.model.writes.iter().zip(&context.plans.writes).filter(|(_, plan)| plan.is_some());
    for ((write, _), line) in planned.zip(report(context.model, context.plans, &PRICES).writes) {
        let Some(heat) = line.heat.filter(|heat| *heat > PARTITION_WRITES_MAX) else { continue };
        let told = write
            .actions()
            .iter()
            .filter_map(|action| action.entity)
            .any(|id| context.model.entity(id).volume.top_percent.is_some());
        if told {
            let shards = (heat / (PARTITION_WRITES_MAX * HEADROOM)).ceil();
            findings.push(
                Diagnostic::note_at(
                    RULE.code,
                    write.name_span,
                    format!("{} shards would carry `{}` at half load", number(shards), write.name),
                )
                .note(format!("A read of the whole key then takes {} Queries instead of one.", number(shards)))
                .help("add a field `shard: int(0..n)` to the partition template and write to a random one"),
            );
        }
    }
}
