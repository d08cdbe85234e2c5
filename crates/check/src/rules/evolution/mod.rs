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
use keyform_language::schema::{Entity, EntityKey, Evolution};

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

/// Returns the entities that exist in both models: the previous version, then the current one.
fn kept<'a>(context: &Context<'a>) -> Vec<(&'a Entity, &'a Entity)> {
    let Some(before) = context.before else { return Vec::new() };
    let now = context.model.entities.iter();
    now.filter_map(|entity| before.entity_named(&entity.name).map(|old| (before.entity(old), entity))).collect()
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
