//! K15: a table without entities, or an index whose key no entity fills.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Index, IndexId, Model, Table, TableId};

use crate::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("K15"),
    severity: Severity::Note,
    title: "no entity fills this key",
    page: include_str!("../../../../../docs/rules/K15.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    for (number, table) in model.tables.iter().enumerate() {
        let id = TableId(number);
        if model.entities_of(id).next().is_none() {
            findings.extend(unused_table(model, id, table));
            continue;
        }
        for (number, index) in table.indexes.iter().enumerate() {
            if !is_filled(model, id, IndexId(number)) {
                findings.push(unfilled(index));
            }
        }
    }
}

/// Returns whether an entity is in the index.
pub(in crate::rules) fn is_filled(model: &Model, table: TableId, index: IndexId) -> bool {
    model.entities_of(table).any(|(_, entity)| entity.key_of(Some(index)).is_some())
}

/// Reports a table without entities, unless an `evolve` reads from it or an entity names an unknown table.
fn unused_table(model: &Model, id: TableId, table: &Table) -> Option<Diagnostic> {
    let is_source = model.evolutions.iter().any(|evolution| evolution.table == Some(id));
    let broken = model.entities.iter().any(|entity| entity.table.is_none());
    let message = format!("no entity uses table {}", table.name);
    (!is_source && !broken).then(|| {
        Diagnostic::note_at(RULE.code, table.name_span, message).help("declare an entity in it, or remove the table")
    })
}

fn unfilled(index: &Index) -> Diagnostic {
    let names = show::listed(index.partition.iter().chain(&index.sort).map(|attribute| attribute.name.as_str()));
    let message = format!("no entity uses index `{}`: it stays empty", index.name);
    Diagnostic::note_at(RULE.code, index.name_span, message)
        .help(format!("add a line `{} …` or fields {names} to an entity, or remove the index", index.name))
}
