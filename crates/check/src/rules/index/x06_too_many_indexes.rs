//! X06: a table has more indexes than the service allows, or local indexes without a sort key.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Index, Table};

/// Quotas of DynamoDB per table. The one for global indexes can be raised, so exceeding it is a warning.
const LOCAL_MAX: usize = 5;
const GLOBAL_MAX: usize = 20;

pub(super) static RULE: Rule = Rule {
    code: Code("X06"),
    severity: Severity::Error,
    title: "a table has more indexes than the service allows",
    page: include_str!("../../../../../docs/rules/X06.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for table in &context.model.tables {
        let (local, global): (Vec<&Index>, Vec<&Index>) = table.indexes.iter().partition(|index| index.local);
        findings.extend(without_sort_key(table, &local));
        findings.extend(local.get(LOCAL_MAX).map(|index| too_many_local(table, index, local.len())));
        findings.extend(global.get(GLOBAL_MAX).map(|index| too_many_global(table, index, global.len())));
    }
}

fn without_sort_key(table: &Table, local: &[&Index]) -> Option<Diagnostic> {
    let index = local.first().filter(|_| table.sort.is_none() && table.partition.is_some())?;
    let message = format!("table {} has no sort key, so it cannot have the local index `{}`", table.name, index.name);
    let finding = Diagnostic::error(RULE.code, index.name_span, message);
    Some(finding.help("make it a global index: `index` instead of `local index`, with a partition key"))
}

fn too_many_local(table: &Table, index: &Index, count: usize) -> Diagnostic {
    let message = format!("table {} has {count} local indexes; a table can have {LOCAL_MAX}", table.name);
    Diagnostic::error(RULE.code, index.name_span, message).help("make the others global indexes")
}

fn too_many_global(table: &Table, index: &Index, count: usize) -> Diagnostic {
    let message = format!("table {} has {count} global indexes; an account gets {GLOBAL_MAX} by default", table.name);
    let finding = Diagnostic::warning(RULE.code, index.name_span, message);
    finding.help("let several entities share an index through templates, or request a higher quota")
}
