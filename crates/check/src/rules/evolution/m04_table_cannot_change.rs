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
        let same = before.tables.iter().find(|old| old.physical == table.physical);
        let Some(old) = same.or_else(|| before.tables.iter().find(|old| old.name == table.name)) else { continue };
        findings.extend(keys(old, table).or_else(|| locals(old, table)));
        match other_indexes(old, table) {
            found if found.is_empty() => findings.extend(globals(old, table)),
            found => findings.extend(found),
        }
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

/// Reports global indexes that the table in the store has with another key, or with fewer attributes: nothing changes an
/// existing index, so its reads fail.
fn other_indexes(old: &Table, new: &Table) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for index in new.indexes.iter().filter(|index| !index.local) {
        let before = old.indexes.iter().find(|old| !old.local && old.name == index.name);
        found.extend(before.and_then(|before| other_index(before, index)));
    }
    found
}

fn other_index(old: &Index, new: &Index) -> Option<Diagnostic> {
    let is_same =
        signature(&old.partition) == signature(&new.partition) && signature(&old.sort) == signature(&new.sort);
    let was = if is_same {
        format!("does not hold {}", unprojected(old, new)?)
    } else {
        let names: Vec<&str> = old.partition.iter().chain(&old.sort).map(|key| key.name.as_str()).collect();
        format!("has the key ({})", names.join(", "))
    };
    let message = format!("the index `{}` in the store {was}; an index cannot change", new.name);
    let help = "give the changed index a new name, move its reads, and drop the old index later";
    Some(Diagnostic::error(RULE.code, new.span, message).label("its reads fail").help(help))
}

/// Returns what the new projection holds and the old one does not.
fn unprojected(old: &Index, new: &Index) -> Option<String> {
    let had = old.projection.as_ref()?;
    let Some(wanted) = &new.projection else { return Some("all attributes".to_owned()) };
    let missing = wanted.iter().find(|name| had.iter().all(|had| had.value != name.value))?;
    Some(format!("`{}`", missing.value))
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
