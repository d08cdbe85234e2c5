//! Rules M01 to M08: changes between two versions of a model. All but M05 require the previous model.

mod m01_key_changed_without_evolve;
mod m02_index_without_backfill;
mod m03_old_items_do_not_fit;
mod m04_table_cannot_change;
mod m05_ambiguous_new_key;
mod m06_unique_without_claims;
mod m07_encryption_changed;
mod m08_expiry_attribute_renamed;

use crate::check::{Context, Rule};
use keyform_language::schema::{Entity, EntityKey, Evolution, Model};

/// The rules of this group.
pub(super) const RULES: &[&Rule] = &[
    &m01_key_changed_without_evolve::RULE,
    &m02_index_without_backfill::RULE,
    &m03_old_items_do_not_fit::RULE,
    &m04_table_cannot_change::RULE,
    &m05_ambiguous_new_key::RULE,
    &m06_unique_without_claims::RULE,
    &m07_encryption_changed::RULE,
    &m08_expiry_attribute_renamed::RULE,
];

/// Returns the entities that exist in both models: the previous version, then the current one. An entity that has only
/// changed its name exists in both.
fn kept<'a>(context: &Context<'a>) -> Vec<(&'a Entity, &'a Entity)> {
    let Some(before) = context.before else { return Vec::new() };
    let previous = |entity: &Entity| match before.entity_named(&entity.name) {
        Some(old) => Some(before.entity(old)),
        None => renamed_from(context.model, before, entity),
    };
    context.model.entities.iter().filter_map(|entity| Some((previous(entity)?, entity))).collect()
}

/// Returns the entity whose items a new entity finds: no longer declared, in the same table of the store, with the same
/// key but for the names of its fields.
fn renamed_from<'a>(model: &Model, before: &'a Model, new: &Entity) -> Option<&'a Entity> {
    let table = &model.table(new.table?).physical;
    let key = key_shape(new)?;
    let mut gone = before.entities.iter().filter(|old| model.entity_named(&old.name).is_none());
    gone.find(|old| {
        old.table.is_some_and(|id| before.table(id).physical == *table) && key_shape(old).as_ref() == Some(&key)
    })
}

/// Returns the key templates of an entity without the names of its fields.
fn key_shape(entity: &Entity) -> Option<Vec<String>> {
    Some(entity.key.as_ref()?.parts().map(|part| part.template.text(|_| "")).collect())
}

/// Returns the `evolve` declaration of an entity.
fn evolution<'a>(context: &Context<'a>, entity: &Entity) -> Option<&'a Evolution> {
    context
        .model
        .evolutions
        .iter()
        .find(|evolution| evolution.entity.is_some_and(|id| context.model.entity(id).name == entity.name))
}

/// Formats the templates of a key as in the source.
fn written(entity: &Entity, key: &EntityKey) -> Vec<String> {
    key.parts().map(|part| format!("\"{}\"", part.template.text(|field| &entity.field(field).name))).collect()
}
