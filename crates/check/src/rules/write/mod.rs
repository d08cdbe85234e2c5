//! Rules W01 to W37: writes.

mod belongs;
mod origin;
mod satisfy;
mod subject;
mod w01_unconditional_put;
mod w02_item_twice;
mod w03_transaction_too_large;
mod w04_index_key_partly_known;
mod w05_unique_bypassed;
mod w06_check_then_write;
mod w07_not_idempotent;
mod w08_stale_copy;
mod w09_partial_upsert;
mod w10_conflicting_changes;
mod w11_version_ignored;
mod w12_unbounded_growth;
mod w13_orphaned_children;
mod w14_store_unsupported;
mod w15_missing_parent;
mod w16_vacuous_check;
mod w17_self_comparison;
mod w18_immutable_changed;
mod w19_unfindable_references;
mod w20_inexpressible_batch;
mod w21_elements_left_out;
mod w22_comparison_with_none;
mod w23_unchecked_reference;
mod w24_unreferenced_children;
mod w25_personal_data_left;
mod w26_undelivered_change;
mod w27_count_replaced;
mod w30_unique_within_itself;
mod w31_never_true;
mod w32_unconditional_transition;
mod w33_unreachable_state;
mod w34_decision_by_list;
mod w35_late_permission;
mod w36_unlimited_decrease;
mod w37_unheld_permission;

use std::collections::BTreeMap;
mod w28_copy_of_old_target;
mod w29_unrelated_items;

use crate::check::{Context, Rule};
use keyform_language::schema::{Action, Entity, EntityId, FieldId, Model, Write};

/// In code order.
pub(super) const RULES: &[&Rule] = &[
    &w01_unconditional_put::RULE,
    &w02_item_twice::RULE,
    &w03_transaction_too_large::RULE,
    &w04_index_key_partly_known::RULE,
    &w05_unique_bypassed::RULE,
    &w06_check_then_write::RULE,
    &w07_not_idempotent::RULE,
    &w08_stale_copy::RULE,
    &w09_partial_upsert::RULE,
    &w10_conflicting_changes::RULE,
    &w11_version_ignored::RULE,
    &w12_unbounded_growth::RULE,
    &w13_orphaned_children::RULE,
    &w14_store_unsupported::RULE,
    &w15_missing_parent::RULE,
    &w16_vacuous_check::RULE,
    &w17_self_comparison::RULE,
    &w18_immutable_changed::RULE,
    &w19_unfindable_references::RULE,
    &w20_inexpressible_batch::RULE,
    &w21_elements_left_out::RULE,
    &w22_comparison_with_none::RULE,
    &w23_unchecked_reference::RULE,
    &w24_unreferenced_children::RULE,
    &w25_personal_data_left::RULE,
    &w26_undelivered_change::RULE,
    &w27_count_replaced::RULE,
    &w30_unique_within_itself::RULE,
    &w31_never_true::RULE,
    &w32_unconditional_transition::RULE,
    &w33_unreachable_state::RULE,
    &w34_decision_by_list::RULE,
    &w35_late_permission::RULE,
    &w36_unlimited_decrease::RULE,
    &w37_unheld_permission::RULE,
    &w28_copy_of_old_target::RULE,
    &w29_unrelated_items::RULE,
];

/// Returns every action of every write whose entity is known and has a complete key.
fn actions<'a>(context: &Context<'a>) -> Vec<(&'a Write, &'a Action, &'a Entity)> {
    let model = context.model;
    let of = |write: &'a Write| write.actions().into_iter().map(move |action| (write, action));
    let all = model.writes.iter().flat_map(of);
    let known = all.filter_map(|(write, action)| action.entity.map(|id| (write, action, model.entity(id))));
    known.filter(|(_, _, entity)| entity.has_whole_key()).collect()
}

/// Returns the actions of all writes by entity.
fn actions_by_entity(model: &Model) -> BTreeMap<EntityId, Vec<(&Write, &Action)>> {
    let mut found: BTreeMap<EntityId, Vec<(&Write, &Action)>> = BTreeMap::new();
    for write in &model.writes {
        for action in write.actions() {
            if let Some(id) = action.entity {
                found.entry(id).or_default().push((write, action));
            }
        }
    }
    found
}

/// Returns the field that is the entity's optimistic lock.
fn version_of(entity: &Entity) -> Option<FieldId> {
    entity.fields.iter().position(|field| field.flags.version.is_some()).map(FieldId)
}
