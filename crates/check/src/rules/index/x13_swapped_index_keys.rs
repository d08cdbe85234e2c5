//! X13: the partition key of an index has few values, and every read also specifies the sort key.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::Part;

use super::index_keys;
use crate::rules::key::spread::{Spread, of_field, spread};
use crate::rules::key::{Keyed, reading};
use crate::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("X13"),
    severity: Severity::Warning,
    title: "an index is better with its keys swapped",
    page: include_str!("../../../../../docs/rules/X13.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (keyed, _, index) in index_keys(context.model).filter(|(keyed, _, _)| is_better_turned_round(context, *keyed)) {
        let (partition, sort) = (&keyed.key.partition[0], &keyed.key.sort[0]);
        let low = show::template(keyed.entity, &partition.template);
        let high = show::template(keyed.entity, &sort.template);
        let message = format!(
            "`{}` begins with `{low}`, which has few values, and every read gives `{high}` as well",
            index.name
        );
        let finding = Diagnostic::warning(RULE.code, keyed.span_of(partition), message)
            .label("all items share a few partitions")
            .also(index.span, "partition key first, then sort key");
        findings.push(
            finding
                .help(format!("swap the keys: `index {} ({}, {})`", index.name, sort.attribute, partition.attribute)),
        );
    }
}

/// Returns whether the partition key of an index has few values, and every read specifies a field of the sort key that
/// has many. K16 skips such keys, because swapping them is the better fix.
pub(in crate::rules) fn is_better_turned_round(context: &Context<'_>, keyed: Keyed<'_>) -> bool {
    let Some(index) = keyed.key.index else { return false };
    let few = matches!(spread(keyed.entity, &keyed.key.partition), Some(Spread::Few(_)));
    let Some(first) = keyed.key.sort.first().filter(|_| few && !keyed.table.index_at(index).local) else {
        return false;
    };
    let selective = first.template.parts.iter().find_map(|piece| match piece {
        Part::Field { field, format, .. } if of_field(keyed.entity.field(*field), *format) == Spread::Many => {
            Some(*field)
        }
        _ => None,
    });
    let Some(field) = selective else { return false };
    let mut reads = reading::reads_through(context.model, keyed.id, Some(index)).peekable();
    reads.peek().is_some() && reads.all(|read| read.scan.is_none() && reading::gives(read, keyed.entity, field))
}
