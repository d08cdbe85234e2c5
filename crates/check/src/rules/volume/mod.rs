//! Rules V01 to V20: sizes, load and cost, computed from `volume` and rates. A rule reports nothing if the numbers it
//! needs are missing.

mod v01_item_size;
mod v02_projection_not_cheaper;
mod v03_mostly_filtered;
mod v04_many_round_trips;
mod v05_small_change_large_item;
mod v06_index_write_cost;
mod v07_hot_partition;
mod v08_hot_index_partition;
mod v09_collection_too_large;
mod v10_shards_needed;
mod v11_volume_contradicts_rate;
mod v12_dominant_cost;
mod v13_contended_item;
mod v14_backfill_cost;
mod v15_unique_cost;
mod v16_samples_contradict;
mod v17_stream_shard_limit;
mod v18_hot_item;
mod v19_bounds_above_limit;
mod v20_contradictory_figures;

use crate::check::Rule;

/// In code order.
pub(super) const RULES: &[&Rule] = &[
    &v01_item_size::RULE,
    &v02_projection_not_cheaper::RULE,
    &v03_mostly_filtered::RULE,
    &v04_many_round_trips::RULE,
    &v05_small_change_large_item::RULE,
    &v06_index_write_cost::RULE,
    &v07_hot_partition::RULE,
    &v08_hot_index_partition::RULE,
    &v09_collection_too_large::RULE,
    &v10_shards_needed::RULE,
    &v11_volume_contradicts_rate::RULE,
    &v12_dominant_cost::RULE,
    &v13_contended_item::RULE,
    &v14_backfill_cost::RULE,
    &v15_unique_cost::RULE,
    &v16_samples_contradict::RULE,
    &v17_stream_shard_limit::RULE,
    &v18_hot_item::RULE,
    &v19_bounds_above_limit::RULE,
    &v20_contradictory_figures::RULE,
];
