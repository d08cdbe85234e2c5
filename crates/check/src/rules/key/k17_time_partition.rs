//! K17: a partition key is a period of time, so all current writes share one partition.

use super::k16_few_partitions::is_local;
use super::spread::{Spread, spread};
use super::{Keyed, keys};
use crate::check::{Context, Rule};
use crate::rules::show;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};

pub(super) static RULE: Rule = Rule {
    code: Code("K17"),
    severity: Severity::Warning,
    title: "a partition key is a period of time",
    page: include_str!("../../../../../docs/rules/K17.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for keyed in keys(context.model).filter(|keyed| !is_local(*keyed) && holds_many(*keyed)) {
        if spread(keyed.entity, &keyed.key.partition) == Some(Spread::Moment) {
            findings.push(finding(keyed));
        }
    }
}

/// Returns whether a partition can hold more than one item: always in an index, in a table if the sort key adds fields.
fn holds_many(keyed: Keyed<'_>) -> bool {
    let of_partition: Vec<_> = keyed.key.partition.iter().flat_map(|part| part.template.fields()).collect();
    let mut of_sort = keyed.key.sort.iter().flat_map(|part| part.template.fields());
    keyed.key.index.is_some() || of_sort.any(|field| !of_partition.contains(&field))
}

fn finding(keyed: Keyed<'_>) -> Diagnostic {
    let part = &keyed.key.partition[0];
    let text = show::template(keyed.entity, &part.template);
    let message = format!("all items of {} written at the same time share the partition `{text}`", keyed.entity.name);
    Diagnostic::warning(RULE.code, keyed.span_of(part), message)
        .note("one partition serves 1000 writes a second, and a hot index partition throttles the table's writes")
        .help(
            "add a field that spreads simultaneous writes: an owner's id, or a shard such as `#{shard}` with \
            `shard: int(0..9)`",
        )
}
