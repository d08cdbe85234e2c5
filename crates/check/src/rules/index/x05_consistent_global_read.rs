//! X05: a read through a global index is marked `strong`.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Read, TableId};

use crate::rules::key::reading;

pub(super) static RULE: Rule = Rule {
    code: Code("X05"),
    severity: Severity::Error,
    title: "a global index cannot be read consistently",
    page: include_str!("../../../../../docs/rules/X05.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for read in &context.model.reads {
        let (Some(Some(index)), Some(strong)) = (reading::index_of(read), read.strong) else { continue };
        let Some(index) = table_of(context, read).map(|table| context.model.table(table).index_at(index)) else {
            continue;
        };
        if index.local {
            continue;
        }
        let via = read.via.as_ref().map_or(read.name_span, |(_, span, _)| *span);
        let message = format!(
            "`{}` asks for a strongly consistent read of `{}`, which a global index does not \
            support",
            read.name, index.name
        );
        let finding =
            Diagnostic::error(RULE.code, strong, message).also(via, "a global index is updated asynchronously");
        findings.push(finding.help("drop `strong`, or read by the table's key"));
    }
}

fn table_of(context: &Context<'_>, read: &Read) -> Option<TableId> {
    read.result.entities().first().and_then(|&id| context.model.entity(id).table)
}
