//! V14: the cost of a backfill.

use crate::check::{Context, Rule};
use crate::cost::migration;
use crate::cost::price::PRICES;
use crate::cost::text::{dollars, number};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Evolution, Model};

pub(super) static RULE: Rule = Rule {
    code: Code("V14"),
    severity: Severity::Note,
    title: "a backfill has a cost",
    page: include_str!("../../../../../docs/rules/V14.md"),
    find,
};

/// Write units per second that a backfill may use.
const BUDGET_UNITS: f64 = 1_000.0;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    findings.extend(context.model.evolutions.iter().filter_map(|evolution| judge(context.model, evolution)));
}

fn judge(model: &Model, evolution: &Evolution) -> Option<Diagnostic> {
    let entity = model.entity(evolution.entity?);
    let items = entity.volume.items? as f64;
    let one = migration::typical(model, evolution)?;
    let class = PRICES.of(entity.table.map(|table| model.table(table).class)?);
    let (writes, removals) = (items * one.units(), items * one.removal_units());
    let reads = migration::scan_units(items * one.new_bytes as f64);
    let money = (writes + removals) * class.million_writes / 1e6 + reads * class.million_reads / 1e6;
    let hours = writes / BUDGET_UNITS / 3_600.0;
    Some(
        Diagnostic::note_at(
            RULE.code,
            evolution.span,
            format!(
                "moving {} items of {} takes {} hours and {}",
                number(items),
                entity.name,
                number(hours),
                dollars(money)
            ),
        )
        .note(format!(
            "{} write units and {} read units, at {} write units a second; the cut-over takes {} more.",
            number(writes),
            number(reads),
            number(BUDGET_UNITS),
            number(removals)
        )),
    )
}
