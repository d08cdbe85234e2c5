//! Attributes that a table names outside of its keys: each should be a field of some entity.

use crate::diagnostic::Diagnostic;
use crate::schema::key::{Table, TableId};
use crate::schema::{Entity, Model};
use crate::span::Span;

use super::code;
use super::found::{Found, nearest};

/// Warns of projected attributes and TTL attributes that no entity has.
pub(super) fn check(model: &Model, found: &mut Found) {
    for (number, table) in model.tables.iter().enumerate() {
        let entities: Vec<&Entity> = model.entities_of(TableId(number)).map(|(_, entity)| entity).collect();
        if entities.is_empty() {
            continue;
        }
        for index in &table.indexes {
            for (name, span) in index.projection.iter().flatten() {
                one(table, &entities, name, *span, &format!("index `{}` copies `{name}`", index.name), found);
            }
        }
        if let Some((name, span)) = &table.ttl {
            one(table, &entities, name, *span, &format!("items of `{}` expire by `{name}`", table.name), found);
        }
    }
}

fn one(table: &Table, entities: &[&Entity], name: &str, span: Span, what: &str, found: &mut Found) {
    let keys = table.indexes.iter().flat_map(|index| index.partition.iter().chain(&index.sort));
    let mut own =
        table.key_names().chain(keys.map(|key| key.name.as_str())).chain(table.tag.iter().map(|tag| tag.0.as_str()));
    let fields: Vec<&str> =
        entities.iter().flat_map(|entity| &entity.fields).map(|field| field.name.as_str()).collect();
    if fields.contains(&name) || own.any(|other| other == name) {
        return;
    }
    let finding =
        Diagnostic::warning(code::ATTRIBUTE, span, format!("{what}, but no entity of the table has that field"));
    found.add(match nearest(name, &fields) {
        Some(near) => finding.help(format!("did you mean `{near}`?")).edit(span, near),
        None => finding.help("declare the field in the entities that have it"),
    });
}
