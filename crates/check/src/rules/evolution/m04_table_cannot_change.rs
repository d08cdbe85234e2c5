//! M04: a change that `UpdateTable` does not support, or not in one call.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Index, KeyAttribute, Table};

pub(super) static RULE: Rule = Rule {
    code: Code("M04"),
    severity: Severity::Error,
    title: "the table cannot be changed this way",
    page: include_str!("../../../../../docs/rules/M04.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let Some(before) = context.before else { return };
    for table in &context.model.tables {
        let Some(old) = before.tables.iter().find(|old| old.name == table.name) else { continue };
        findings.extend(keys(old, table).or_else(|| locals(old, table)));
        findings.extend(globals(old, table));
    }
}

type Signature<'a> = Vec<(&'a str, keyform_language::document::ast::KeyType)>;

fn signature<'a>(attributes: impl IntoIterator<Item = &'a KeyAttribute>) -> Signature<'a> {
    attributes.into_iter().map(|attribute| (attribute.name.as_str(), attribute.kind)).collect()
}

fn keys(old: &Table, new: &Table) -> Option<Diagnostic> {
    let before = signature(old.partition.iter().chain(&old.sort));
    let now = signature(new.partition.iter().chain(&new.sort));
    let place = new.partition.as_ref().map_or(new.name_span, |attribute| attribute.span);
    let shown: Vec<&str> = before.iter().map(|(name, _)| *name).collect();
    (before != now).then(|| {
        Diagnostic::error(
            RULE.code,
            place,
            format!("the key of table {} was ({}); the key of a table cannot change", new.name, shown.join(", ")),
        )
        .help("declare a new table and move the items with `evolve … { from table … }`")
    })
}

fn locals(old: &Table, new: &Table) -> Option<Diagnostic> {
    let of = |table: &Table| -> Vec<String> {
        let locals = table.indexes.iter().filter(|index| index.local);
        locals.map(|index| format!("{} {:?}", index.name, signature(&index.sort))).collect()
    };
    (of(old) != of(new)).then(|| {
        let added = new.indexes.iter().find(|index| index.local);
        Diagnostic::error(
            RULE.code,
            added.map_or(new.name_span, |index| index.span),
            format!("the local indexes of table {} cannot change after its creation", new.name),
        )
        .help("use a global index, or declare a new table and move the items")
    })
}

/// Reports changes of more than one global index: one `UpdateTable` creates or deletes one. A changed index takes two.
fn globals(old: &Table, new: &Table) -> Option<Diagnostic> {
    let find = |table: &'_ Table, name: &str| table.indexes.iter().position(|index| index.name == name && !index.local);
    let gone = old.indexes.iter().filter(|index| !index.local && find(new, &index.name).is_none()).count();
    let mut steps = gone;
    let mut changed = None;
    for index in new.indexes.iter().filter(|index| !index.local) {
        match find(old, &index.name) {
            None => steps += 1,
            Some(at) if differs(&old.indexes[at], index) => {
                steps += 2;
                changed = Some(index);
            }
            Some(_) => {}
        }
    }
    (steps > 1).then(|| {
        let place = changed.map_or(new.name_span, |index| index.span);
        let finding = Diagnostic::warning(
            RULE.code,
            place,
            format!("table {} needs {steps} updates, one after another", new.name),
        );
        let finding = match changed {
            Some(index) => {
                finding.label(format!("`{}` must be deleted and created again; its reads fail until then", index.name))
            }
            None => finding.label("one UpdateTable creates or deletes one global index"),
        };
        finding.help("give a changed index a new name, move its reads, and drop the old index later")
    })
}

fn differs(old: &Index, new: &Index) -> bool {
    let projected = |index: &Index| {
        index.projection.as_ref().map(|names| names.iter().map(|name| name.value.clone()).collect::<Vec<_>>())
    };
    signature(&old.partition) != signature(&new.partition)
        || signature(&old.sort) != signature(&new.sort)
        || projected(old) != projected(new)
}
