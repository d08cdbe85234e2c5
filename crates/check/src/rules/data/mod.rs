//! Rules D01 to D16: values fit the types of their fields.

mod comparison;
mod d01_value_of_another_type;
mod d02_literal_out_of_bounds;
mod d03_default_does_not_fit;
mod d04_required_field_not_set;
mod d05_required_field_removed;
mod d06_too_many_elements;
mod d07_sum_of_fields;
mod d08_copy_of_another_value;
mod d09_copy_not_refreshed;
mod d10_managed_field_assigned;
mod d11_label_lowered;
mod d12_secret_searched;
mod d13_condition_as_value;
mod d14_value_outside_enumeration;
mod d15_comparison_of_unlike_values;
mod d16_id_of_another_entity;
mod label;
mod site;

use crate::check::Rule;

/// In code order.
pub(super) const RULES: &[&Rule] = &[
    &d01_value_of_another_type::RULE,
    &d02_literal_out_of_bounds::RULE,
    &d03_default_does_not_fit::RULE,
    &d04_required_field_not_set::RULE,
    &d05_required_field_removed::RULE,
    &d06_too_many_elements::RULE,
    &d07_sum_of_fields::RULE,
    &d08_copy_of_another_value::RULE,
    &d09_copy_not_refreshed::RULE,
    &d10_managed_field_assigned::RULE,
    &d11_label_lowered::RULE,
    &d12_secret_searched::RULE,
    &d13_condition_as_value::RULE,
    &d14_value_outside_enumeration::RULE,
    &d15_comparison_of_unlike_values::RULE,
    &d16_id_of_another_entity::RULE,
];
