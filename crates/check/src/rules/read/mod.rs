//! Rules A01 to A20: reads.
//!
//! ADR 0009: the planner decides whether a read is served by one request. These rules turn the obstacles that it found
//! into findings and do not repeat its analysis.

mod a01_missing_partition_key;
mod a02_partition_equality;
mod a03_parameter_only_filters;
mod a04_partial_item_key;
mod a05_nothing_at_key;
mod a06_several_may_match;
mod a07_other_entities_read;
mod a08_filter_on_key;
mod a09_other_order;
mod a10_open_range;
mod a11_unpaged_list;
mod a12_stale_index;
mod a13_two_step_lookup;
mod a14_parameter_type;
mod a15_unused_entity;
mod a16_expired_items;
mod a17_count_per_element;
mod a18_cursor_parameter;
mod a19_unbounded_partition;
mod a20_for_over_page;
mod lookup;
mod remedy;
mod words;

use crate::check::{Context, Rule};
use keyform_language::plan::{Blocked, Obstacle, ReadOutcome};
use keyform_language::schema::Read;

/// In code order.
pub(super) const RULES: &[&Rule] = &[
    &a01_missing_partition_key::RULE,
    &a02_partition_equality::RULE,
    &a03_parameter_only_filters::RULE,
    &a04_partial_item_key::RULE,
    &a05_nothing_at_key::RULE,
    &a06_several_may_match::RULE,
    &a07_other_entities_read::RULE,
    &a08_filter_on_key::RULE,
    &a09_other_order::RULE,
    &a10_open_range::RULE,
    &a11_unpaged_list::RULE,
    &a12_stale_index::RULE,
    &a13_two_step_lookup::RULE,
    &a14_parameter_type::RULE,
    &a15_unused_entity::RULE,
    &a16_expired_items::RULE,
    &a17_count_per_element::RULE,
    &a18_cursor_parameter::RULE,
    &a19_unbounded_partition::RULE,
    &a20_for_over_page::RULE,
];

/// Returns the obstacles of every read that has no plan.
fn obstacles<'a>(context: &Context<'a>) -> impl Iterator<Item = (&'a Read, &'a Blocked, &'a Obstacle)> {
    context
        .model
        .reads
        .iter()
        .zip(&context.plans.reads)
        .filter_map(|(read, outcome)| match outcome {
            ReadOutcome::Blocked(blocked) => Some((read, blocked)),
            ReadOutcome::Planned(_) | ReadOutcome::Broken => None,
        })
        .flat_map(|(read, blocked)| blocked.obstacles.iter().map(move |obstacle| (read, blocked, obstacle)))
}
