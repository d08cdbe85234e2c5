//! Generates the structs of entities, and the enums over all of them.

use keyform_language::schema::{Entity, EntityId, FieldId, Model, TableId};

use super::fields::{self, Shown};
use super::names::{Scope, snake};
use super::types::Types;
use super::{Items, docs, layout};

/// Generates all entities, each with its enums and records.
pub(super) fn all(types: &mut Types<'_>, items: &Items) -> String {
    let model = &types.checked.model;
    let mut code = String::new();
    for id in model.entity_ids() {
        let name = types.entity(id).to_owned();
        let about = about(model, model.entity(id));
        code.push_str(&part(types, id, &name, &about, &|_| true));
        code.push_str(&std::mem::take(&mut types.unprinted));
    }
    if write_of_several(types) {
        code.push_str(&any(types, items));
    }
    code.push_str(&changes(types, items));
    code
}

/// Generates a struct with the wanted fields of an entity.
pub(super) fn part(
    types: &mut Types<'_>,
    id: EntityId,
    name: &str,
    about: &[String],
    wanted: &dyn Fn(FieldId) -> bool,
) -> String {
    let entity = types.checked.model.entity(id);
    let mut scope = Scope::default();
    let mut shown = Vec::new();
    for (number, field) in entity.fields.iter().enumerate().filter(|(number, _)| wanted(FieldId(*number))) {
        let kind = types.of_field(id, FieldId(number));
        shown.push(Shown::of(types.checked, field, scope.take(&snake(&field.name), "_"), kind));
    }
    fields::print(name, about, &shown)
}

/// Writes the documentation of an entity: the author's, and its keys.
fn about(model: &Model, entity: &Entity) -> Vec<String> {
    let keys = entity.key.iter().flat_map(|key| key.parts()).map(|part| {
        let template = part.template.text(|field| entity.field(field).name.as_str());
        format!("{} = \"{template}\"", part.attribute)
    });
    let keys: Vec<String> = keys.collect();
    let table = entity.table.map(|table| format!("Items of table {}", docs::code(&model.table(table).name)));
    let place = table.map(|table| vec![format!("{table}: {}.", docs::code(&keys.join(", ")))]).unwrap_or_default();
    let mut own = docs::of(&entity.docs);
    if own.is_empty() {
        own = vec![format!("The entity {}.", docs::code(&entity.name))];
    }
    docs::joined(vec![own, place])
}

/// Returns whether any write touches items of several entities.
fn write_of_several(types: &Types<'_>) -> bool {
    types.checked.plans.writes.iter().flatten().any(|plan| {
        let mut entities = plan.actions.iter().map(|action| action.entity);
        let first = entities.next();
        entities.any(|entity| Some(entity) != first)
    })
}

/// Generates the enum of all entities, for conflicts of writes that touch several.
fn any(types: &Types<'_>, items: &Items) -> String {
    let ids: Vec<EntityId> = types.checked.model.entity_ids().collect();
    let about = "/// An item of any entity.\n#[derive(Clone, Debug, PartialEq, Eq)]\n";
    let variants: String = ids
        .iter()
        .map(|&id| {
            let name = types.entity(id);
            format!("    /// A [`{name}`].\n    {name}(Box<{name}>),\n")
        })
        .collect();
    let pairs: Vec<String> = ids.iter().map(|&id| format!("{} = {}", types.entity(id), id.0)).collect();
    let implementation = layout::implementation("entities", &items.entity, &pairs);
    format!("{about}pub enum {} {{\n{variants}}}\n\n{implementation}\n", items.entity)
}

/// Returns the tables with streams.
pub(super) fn streamed(model: &Model) -> Vec<TableId> {
    let numbered = model.tables.iter().enumerate();
    numbered.filter(|(_, table)| table.stream.is_some()).map(|(number, _)| TableId(number)).collect()
}

/// Generates the enum of changes of all entities whose tables have streams.
fn changes(types: &Types<'_>, items: &Items) -> String {
    let model = &types.checked.model;
    let tables = streamed(model);
    if tables.is_empty() {
        return String::new();
    }
    let ids = model.entity_ids().filter(|&id| model.entity(id).table.is_some_and(|table| tables.contains(&table)));
    let ids: Vec<EntityId> = ids.collect();
    let mut scope = Scope::with(&["Self", "Unknown"]);
    let names: Vec<String> = ids.iter().map(|&id| scope.take(types.entity(id), "Entity")).collect();
    let variants = ids.iter().zip(&names).map(|(&id, variant)| {
        let name = types.entity(id);
        format!("    /// Change of a [`{name}`].\n    {variant}(Box<keyform::EntityChange<{name}>>),\n")
    });
    let variants: String = variants.collect();
    let pairs: Vec<String> = ids.iter().zip(&names).map(|(id, variant)| format!("{variant} = {}", id.0)).collect();
    let implementation = layout::implementation("changes", &items.change, &pairs);
    format!(
        "/// A change in a stream.\n#[derive(Clone, Debug, PartialEq)]\npub enum {} {{\n{variants}    /// Change of an item that belongs to no entity, such as the sentinel of a unique field.\n    Unknown,\n}}\n\n{implementation}\n",
        items.change
    )
}
