//! V08: a read or write exceeds the throughput of one partition of an index.

use crate::check::{Context, Rule};
use crate::cost::report::{PARTITION_READS_MAX, PARTITION_WRITES_MAX, report, top_share};
use crate::cost::text::number;
use crate::cost::{per_second, price::PRICES, write};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{EntityId, Index, Model, Part, Write};
use keyform_language::span::Spanned;

pub(super) static RULE: Rule = Rule {
    code: Code("V08"),
    severity: Severity::Warning,
    title: "a partition of an index is too hot",
    page: include_str!("../../../../../docs/rules/V08.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (written, plan) in context.model.writes.iter().zip(&context.plans.writes) {
        if let Some((plan, Spanned { value: rate, .. })) = plan.as_ref().zip(written.rate) {
            let cost = write::write(context.model, written, plan);
            for index in &cost.indexes {
                findings.extend(judge(context.model, written, &index.index, per_second(rate) * index.units));
            }
        }
    }
    let report = report(context.model, context.plans, &PRICES);
    let reads = context.plans.planned(context.model).map(|(read, _)| read);
    for (read, line) in reads.zip(&report.reads).filter(|(_, line)| line.source.contains('.')) {
        if let Some(heat) = line.heat.filter(|heat| *heat > PARTITION_READS_MAX) {
            let message = format!(
                "`{}` needs {} read units a second from one partition of {}",
                read.name,
                number(heat),
                line.source
            );
            findings.push(
                Diagnostic::warning(RULE.code, read.name_span, message)
                    .help("spread the index key, or cache what is read most"),
            );
        }
    }
}

fn judge(model: &Model, written: &Write, name: &str, units: f64) -> Option<Diagnostic> {
    let (table, index) = name.split_once('.')?;
    let table = model.tables.iter().find(|candidate| candidate.name == table)?;
    let index = table.index_at(table.index_named(index)?);
    let entities: Vec<EntityId> = written.actions().iter().filter_map(|action| action.entity).collect();
    let heat = units * share(model, index, &entities);
    (heat > PARTITION_WRITES_MAX).then(|| {
        Diagnostic::warning(
            RULE.code,
            written.name_span,
            format!("`{}` writes {} units a second to one partition of {name}", written.name, number(heat)),
        )
        .label(format!("a partition takes {}", number(PARTITION_WRITES_MAX)))
        .also(index.name_span, "this index")
        .note("If an index cannot keep up, the service throttles writes to the table.")
        .help("use a field with many values in the index's partition key, or a shard number")
    })
}

/// Returns the share of the load on one partition: everything if the partition key is constant, otherwise the share
/// that the author specified.
fn share(model: &Model, index: &Index, entities: &[EntityId]) -> f64 {
    let position =
        |id: &EntityId| model.entity(*id).indexes.iter().find(|key| same(model, *id, key.index, index)).cloned();
    let constant = entities.iter().filter_map(position).any(|key| {
        key.partition.iter().all(|part| part.template.parts.iter().all(|piece| matches!(piece, Part::Text(_))))
    });
    if constant { 1.0 } else { top_share(model, entities) }
}

fn same(model: &Model, entity: EntityId, at: Option<keyform_language::schema::IndexId>, index: &Index) -> bool {
    let table = model.entity(entity).table.map(|table| model.table(table));
    table.zip(at).is_some_and(|(table, at)| table.index_at(at).name == index.name)
}
