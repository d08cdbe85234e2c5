//! X08: no read uses an index, or it repeats another index or the table's key.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{EntityId, EntityKey, FieldId, Index, IndexId, Model, Part, TableId};

use super::{Searched, index_keys, indexes, is_used, searched};
use crate::rules::key::{Keyed, is_filled, reading};

pub(super) static RULE: Rule = Rule {
    code: Code("X08"),
    severity: Severity::Warning,
    title: "an index is not needed",
    page: include_str!("../../../../../docs/rules/X08.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    let searched = searched(context);
    for (table, _, id, index) in indexes(model) {
        if let Some(earlier) = (0..id.0).map(IndexId).find(|&earlier| repeats(model, table, earlier, id)) {
            findings.push(repeated(index, model.table(table).index_at(earlier)));
        } else if is_unread(model, &searched, table, id) {
            findings.push(unread(index));
        }
    }
    for (keyed, id, index) in index_keys(model) {
        if gives_nothing_new(model, keyed, id) && !is_turned_round(keyed, index) {
            findings.push(same_as_table(keyed, index));
        }
    }
}

/// Returns whether neither a read nor a delete uses the index, although reads use the table. An index that no entity fills
/// is K15.
fn is_unread(model: &Model, searched: &Searched, table: TableId, index: IndexId) -> bool {
    let any = model.reads.iter().flat_map(|read| read.result.entities());
    let table_is_read = any.into_iter().any(|id| model.entity(id).table == Some(table));
    table_is_read && is_filled(model, table, index) && !is_used(model, searched, table, index)
}

fn unread(index: &Index) -> Diagnostic {
    let message = format!("no read uses index `{}`", index.name);
    Diagnostic::warning(RULE.code, index.name_span, message)
        .label("every write of its items is paid for a second time")
        .help(format!("remove it, or add the read that needs it: `read … via {}`", index.name))
}

/// Returns whether two indexes have the same key, by the names of their attributes or by the templates of every entity.
fn repeats(model: &Model, table: TableId, earlier: IndexId, later: IndexId) -> bool {
    let (one, two) = (model.table(table).index_at(earlier), model.table(table).index_at(later));
    let names = |index: &Index| -> (Vec<String>, Vec<String>) {
        let of = |attributes: &[keyform_language::schema::KeyAttribute]| {
            attributes.iter().map(|attribute| attribute.name.clone()).collect()
        };
        (of(&index.partition), of(&index.sort))
    };
    let entities: Vec<_> = model.entities_of(table).map(|(_, entity)| entity).collect();
    let keys = |id| entities.iter().map(|entity| entity.key_of(Some(id)).map(templates)).collect::<Vec<_>>();
    let filled = keys(earlier).iter().any(Option::is_some);
    names(one) == names(two) || (filled && keys(earlier) == keys(later))
}

/// Returns the templates of a key in a comparable form, without spans.
fn templates(key: &EntityKey) -> Vec<Vec<String>> {
    let piece = |piece: &Part| match piece {
        Part::Text(text) => format!("text {text}"),
        Part::Field { field, format, .. } => format!("field {} {format:?}", field.0),
        Part::Unknown { name, .. } => format!("unknown {name}"),
    };
    let parts = key.partition.iter().chain(&key.sort);
    parts.map(|part| part.template.parts.iter().map(piece).collect()).collect()
}

fn repeated(index: &Index, earlier: &Index) -> Diagnostic {
    let message = format!("index `{}` has the same key as `{}`", index.name, earlier.name);
    Diagnostic::warning(RULE.code, index.name_span, message)
        .also(earlier.name_span, "the same key")
        .help(format!("remove it and read through `{}`", earlier.name))
}

/// Returns whether every query of the index could use the table's key instead: the index's partition key contains all
/// fields of the table's, its remaining fields are the start of the table's sort key, and its sort key adds no other
/// order.
pub(super) fn gives_nothing_new(model: &Model, keyed: Keyed<'_>, index: IndexId) -> bool {
    let Some(base) = &keyed.entity.key else { return false };
    let fields = |parts: &[keyform_language::schema::KeyPart]| -> Vec<FieldId> {
        parts.iter().flat_map(|part| part.template.fields()).collect()
    };
    let (own_partition, own_sort) = (fields(&keyed.key.partition), fields(&keyed.key.sort));
    let (partition, sort) = (fields(&base.partition), fields(&base.sort));
    let known = !own_partition.is_empty() && partition.iter().all(|field| own_partition.contains(field));
    let narrower: Vec<FieldId> = own_partition.iter().filter(|field| !partition.contains(field)).copied().collect();
    let as_narrow = sort.starts_with(&narrower);
    let no_order = own_sort.iter().all(|field| own_partition.contains(field)) || own_sort == sort;
    let local = keyed.table.index_at(index).local;
    !local && known && as_narrow && no_order && !is_read_with_others(model, keyed.id, index)
}

/// Returns whether the index consists of the table's key attributes only. Every item has those, so no entity can be
/// removed from the index.
fn is_turned_round(keyed: Keyed<'_>, index: &Index) -> bool {
    let mut attributes = index.partition.iter().chain(&index.sort);
    attributes.all(|attribute| keyed.table.key_names().any(|name| name == attribute.name))
}

/// Returns whether a read through the index returns the entity together with others, which the table's key may not
/// allow.
fn is_read_with_others(model: &Model, entity: EntityId, index: IndexId) -> bool {
    reading::reads_through(model, entity, Some(index))
        .any(|read| read.result.entities().iter().any(|other| *other != entity))
}

fn same_as_table(keyed: Keyed<'_>, index: &Index) -> Diagnostic {
    let name = &keyed.entity.name;
    let message = format!("for {name}, `{}` offers nothing that the table's key does not", index.name);
    let finding = Diagnostic::warning(RULE.code, keyed.key.span, message);
    let finding = match &keyed.entity.key {
        Some(base) => finding.also(base.span, "built from the same fields"),
        None => finding,
    };
    finding.help(format!("read {name} by the table's key and remove it from the index"))
}
