//! V09: an item collection can exceed 10 GB.

use crate::check::{Context, Rule};
use crate::cost::{size, text::bytes};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Model, Table, TableId};

pub(super) static RULE: Rule = Rule {
    code: Code("V09"),
    severity: Severity::Error,
    title: "an item collection can exceed 10 GB",
    page: include_str!("../../../../../docs/rules/V09.md"),
    find,
};

const COLLECTION_BYTES_MAX: u64 = 10 * 1024 * 1024 * 1024;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (number, table) in context.model.tables.iter().enumerate() {
        let local = table.indexes.iter().filter(|index| index.local).count() as u64;
        if local > 0 {
            findings.extend(judge(context.model, TableId(number), table, local));
        }
    }
}

fn judge(model: &Model, id: TableId, table: &Table, local: u64) -> Option<Diagnostic> {
    let mut largest = 0;
    for (_, entity) in model.entities_of(id) {
        let items = entity.volume.per_partition_max.or(entity.volume.per_partition).unwrap_or(0);
        largest += items * size::item(model, entity).0 * (1 + local);
    }
    let index = table.indexes.iter().find(|index| index.local)?;
    (largest > COLLECTION_BYTES_MAX).then(|| {
        Diagnostic::error(
            RULE.code,
            index.span,
            format!("a partition of {} can have {} with its local indexes", table.name, bytes(largest)),
        )
        .label("with a local index the limit is 10 GB; beyond it every write to the partition fails")
        .help("use a global index, which has no such limit, or put less under one partition key")
    })
}
