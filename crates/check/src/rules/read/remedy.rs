//! Suggests how to serve a read that has no plan.

use crate::check::Context;
use keyform_language::document::ast::KeyType;
use keyform_language::plan::Blocked;
use keyform_language::scalar::Resolution;
use keyform_language::schema::{Entity, EntityId, Format, Index, IndexId, KeyAttribute, Model, Read, Test};

use super::words;
use keyform_language::template::Order;
use keyform_language::template::order::order;

/// Suggests an index that serves the read with its current parameters, or the line that adds one.
pub(super) fn with_its_parameters(context: &Context<'_>, read: &Read, blocked: &Blocked) -> Option<String> {
    let model = context.model;
    let entity = read.result.entities().first().copied()?;
    let table = model.table(model.entity(entity).table?);
    if let Some(served) = blocked.served_by.first() {
        return Some(match served {
            Some(index) => format!("read it `via {}`, whose key matches the parameters", table.index_at(*index).name),
            None => "remove `via`: the table's own key matches the parameters".to_owned(),
        });
    }
    new_entry(model, read, entity)
}

/// Suggests a line for an existing index or, if no index is free, a new index for the table.
fn new_entry(model: &Model, read: &Read, id: EntityId) -> Option<String> {
    let entity = model.entity(id);
    let table = model.table(entity.table?);
    let equal = given(read, entity, |test| test == Test::Equal);
    // A line for one entity does not bring the others of a read into the index.
    if equal.is_empty() || read.key.is_some() || read.result.entities().len() > 1 {
        return None;
    }
    let ranged = given(read, entity, |test| !matches!(test, Test::Equal | Test::In));
    let free = table.indexes.iter().enumerate().find(|(number, index)| is_free(model, entity, index, IndexId(*number)));
    Some(match free {
        Some((_, index)) if ranged.len() <= 1 && ranged.iter().all(|name| ordered(entity, name).is_some()) => {
            format!(
                "add `{}` to {} and read it `via {}`",
                entry(index, entity, &equal, &ranged),
                entity.name,
                index.name
            )
        }
        _ => {
            let key = line(&equal, &ranged);
            let name = index_name(&equal);
            format!("add `index {name} ({key})` to table {} and read it `via {name}`", table.name)
        }
    })
}

/// Returns the fields of the entity that the parameters specify with a matching test.
fn given<'a>(read: &'a Read, entity: &Entity, how: impl Fn(Test) -> bool) -> Vec<&'a str> {
    let mut names = Vec::new();
    for parameter in read.parameters.iter().filter(|parameter| how(parameter.test)) {
        let name = parameter.field_name.as_str();
        if entity.field_named(name).is_some() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns whether the entity can be added to the index by templates: it is not in the index yet, and the key
/// attributes are strings that no entity has as a field.
fn is_free(model: &Model, entity: &Entity, index: &Index, id: IndexId) -> bool {
    let of_table = || model.entities.iter().filter(|other| other.table == entity.table);
    let is_field = |name: &str| of_table().any(|other| other.field_named(name).is_some());
    let is_open = |key: &KeyAttribute| key.kind == KeyType::String && !is_field(&key.name);
    !index.local
        && entity.key_of(Some(id)).is_none()
        && index.partition.len() == 1
        && index.sort.len() == 1
        && index.partition.iter().chain(&index.sort).all(is_open)
}

/// Formats a template line of the specified fields, followed by the entity's id to distinguish items.
fn entry(index: &Index, entity: &Entity, equal: &[&str], ranged: &[&str]) -> String {
    let partition: Vec<String> = equal.iter().map(|name| format!("{}#{{{name}}}", name.to_uppercase())).collect();
    let id = entity
        .id_field()
        .map(|id| entity.field(id).name.as_str())
        .filter(|id| !equal.contains(id) && !ranged.contains(id));
    let mut sort: Vec<String> = ranged.iter().filter_map(|name| ordered(entity, name)).collect();
    sort.extend(id.map(|id| format!("{{{id}}}")));
    let sort = format!("{}#{}", entity.name.to_uppercase(), sort.join("#"));
    format!("{} \"{}\", \"{sort}\"", index.name, partition.join("#"))
}

/// Formats a field of a sort key so that the text sorts like the values; `None` if no format does.
fn ordered(entity: &Entity, name: &str) -> Option<String> {
    let kind = &entity.field(entity.field_named(name)?).kind;
    let padding = match kind.time().map(|time| time.resolution) {
        Some(Resolution::Seconds) => Format::Seconds,
        Some(Resolution::Milliseconds) => Format::Milliseconds,
        Some(Resolution::Mixed | Resolution::Days) => Format::Plain,
        None => {
            let most = kind.value_bounds().and_then(|bounds| bounds.max).unwrap_or(0);
            Format::Pad(u32::try_from(most.to_string().len()).ok()?)
        }
    };
    let is_ordered = |format: &Format| order(kind, *format) == Order::Value;
    let format = [Format::Plain, padding].into_iter().find(is_ordered)?;
    Some(format!("{{{name}{format}}}"))
}

fn line(equal: &[&str], ranged: &[&str]) -> String {
    let partition = equal.join(" + ");
    if ranged.is_empty() { partition } else { format!("{partition}, {}", ranged.join(" + ")) }
}

fn index_name(equal: &[&str]) -> String {
    let capital = |name: &&str| {
        let mut letters = name.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        first + letters.as_str()
    };
    format!("by{}", equal.iter().map(capital).collect::<Vec<_>>().join("And"))
}

/// Suggests taking the missing fields as parameters, after the alternative if there is one.
pub(super) fn or_take(
    entity: &Entity,
    missing: &[keyform_language::schema::FieldId],
    otherwise: Option<String>,
) -> String {
    let take = format!(
        "take {} as {}",
        words::fields(entity, missing),
        if missing.len() == 1 { "a parameter" } else { "parameters" }
    );
    match otherwise {
        Some(otherwise) => format!("{otherwise}; or {take}"),
        None => take,
    }
}
