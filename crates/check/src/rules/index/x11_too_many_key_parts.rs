//! X11: an index key has more attributes than the service allows, or the same attribute twice.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Index, KeyAttribute, Table};

/// Maximum number of attributes in the partition key, and in the sort key, of a global index.
const PARTS_MAX: usize = 4;

pub(super) static RULE: Rule = Rule {
    code: Code("X11"),
    severity: Severity::Error,
    title: "an index key has too many parts",
    page: include_str!("../../../../../docs/rules/X11.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for table in &context.model.tables {
        for index in &table.indexes {
            findings.extend(local(table, index));
            findings.extend(too_many(index, &index.partition, "partition"));
            findings.extend(too_many(index, &index.sort, "sort").filter(|_| !index.local));
            findings.extend(repeated(index));
        }
    }
}

fn local(table: &Table, index: &Index) -> Option<Diagnostic> {
    let second = index.sort.get(1).filter(|_| index.local)?;
    let message =
        format!("the local index `{}` of {} has a sort key of {} attributes", index.name, table.name, index.sort.len());
    let finding = Diagnostic::error(RULE.code, second.span, message).label("a local index accepts one");
    Some(finding.help("join them into one attribute with a template, or make it a global index"))
}

fn too_many(index: &Index, attributes: &[KeyAttribute], which: &str) -> Option<Diagnostic> {
    let fifth = attributes.get(PARTS_MAX)?;
    let message =
        format!("the {which} key of `{}` has {} attributes; the limit is {PARTS_MAX}", index.name, attributes.len());
    let finding = Diagnostic::error(RULE.code, fifth.span, message);
    Some(finding.help("join some of them into one attribute with a template: `\"{region}#{city}\"`"))
}

/// Reports an attribute that occurs twice in a key.
fn repeated(index: &Index) -> Option<Diagnostic> {
    let all: Vec<&KeyAttribute> = index.partition.iter().chain(&index.sort).collect();
    let (number, again) =
        all.iter().enumerate().find(|(number, one)| all[..*number].iter().any(|earlier| earlier.name == one.name))?;
    let first = all[..number].iter().find(|earlier| earlier.name == again.name)?;
    let message = format!("`{}` occurs twice in the key of `{}`", again.name, index.name);
    Some(
        Diagnostic::error(RULE.code, again.span, message)
            .also(first.span, "here first")
            .help("name each attribute once"),
    )
}
