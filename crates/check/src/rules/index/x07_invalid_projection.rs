//! X07: an index projects key attributes, a name twice, or too many names.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Index, Table};
use keyform_language::span::Spanned;

/// Limits of DynamoDB on projected names, per index and per table.
const NAMES_MAX: usize = 20;
const NAMES_OF_TABLE_MAX: usize = 100;

pub(super) static RULE: Rule = Rule {
    code: Code("X07"),
    severity: Severity::Error,
    title: "the service rejects this projection",
    page: include_str!("../../../../../docs/rules/X07.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for table in &context.model.tables {
        for index in &table.indexes {
            findings.extend(keys(table, index));
            findings.extend(repeated(index));
            findings.extend(too_many(index));
        }
        findings.extend(too_many_together(table));
    }
}

/// Reports projected key attributes: the service always projects them and rejects projections that list them.
fn keys(table: &Table, index: &Index) -> Option<Diagnostic> {
    let of_index = index.partition.iter().chain(&index.sort).map(|attribute| attribute.name.as_str());
    let keys: Vec<&str> = table.key_names().chain(of_index).collect();
    let mut names = index.projection.iter().flatten();
    let Spanned { value: name, span } = names.find(|name| keys.contains(&name.value.as_str()))?;
    let message =
        format!("`{name}` is a key, which `{}` always contains: the service rejects projecting it", index.name);
    Some(Diagnostic::error(RULE.code, *span, message).help(format!("remove `{name}` from the list")))
}

fn repeated(index: &Index) -> Option<Diagnostic> {
    let names: Vec<_> = index.projection.iter().flatten().collect();
    let is_repeated = |number: &usize| names[..*number].iter().any(|earlier| earlier.value == names[*number].value);
    let Spanned { value: name, span } = names[(0..names.len()).find(is_repeated)?];
    let message = format!("`{}` projects `{name}` twice", index.name);
    Some(Diagnostic::error(RULE.code, *span, message).help("name it once"))
}

fn too_many(index: &Index) -> Option<Diagnostic> {
    let names = index.projection.as_ref()?;
    let span = &names.get(NAMES_MAX)?.span;
    let message =
        format!("`{}` projects {} attributes by name; an index can list {NAMES_MAX}", index.name, names.len());
    Some(Diagnostic::error(RULE.code, *span, message).help("project fewer, or `project all`"))
}

fn too_many_together(table: &Table) -> Option<Diagnostic> {
    let mut count = 0;
    let over = table.indexes.iter().find(|index| {
        count += index.projection.as_ref().map_or(0, Vec::len);
        count > NAMES_OF_TABLE_MAX
    })?;
    let all: usize = table.indexes.iter().filter_map(|index| index.projection.as_ref()).map(Vec::len).sum();
    let message =
        format!("the indexes of {} list {all} attributes; together they can list {NAMES_OF_TABLE_MAX}", table.name);
    Some(
        Diagnostic::error(RULE.code, over.name_span, message)
            .help("project fewer, or `project all` in the widest index"),
    )
}
