//! How full the levels are, which decides what is compacted and whether writers are slowed down.
//!
//! A deletion is small, but what it deletes lies below and may be large. It weighs as much as an average entry below it,
//! so that space comes back after about as many deletions as insertions would have started a compaction: ADR 0028.

use super::background::{LEVEL0_FACTOR_SLOW, LEVEL0_FACTOR_STOP};
use super::levels::Levels;
use super::options::StoreOptions;

/// How much larger each level is than the one above.
const LEVEL_FACTOR: u64 = 10;
/// A level is at most this part of those below it: what it overwrites there takes space twice.
const BELOW_PARTS: u64 = 3;

/// The level that exceeds its size by the largest factor, if any does.
pub(super) fn most_crowded(levels: &Levels, options: &StoreOptions) -> Option<usize> {
    let permille = |depth: &usize| {
        let weight = weight(levels, *depth).saturating_mul(1000);
        match depth {
            0 => {
                let files = levels.level(0).len() as u64 * 1000 / options.level0_files as u64;
                files.max(weight / (level0_bytes_max(levels, options) / 2).max(1))
            }
            deeper => weight / target_bytes(levels, options, *deeper),
        }
    };
    (0..levels.depth()).max_by_key(permille).filter(|depth| permille(depth) >= 1000)
}

/// How crowded level 0 is, in tables: their number, or more when they take so much space that writers must wait.
pub(super) fn level0_pressure(levels: &Levels, options: &StoreOptions) -> usize {
    let (slow, stop) = (options.level0_files * LEVEL0_FACTOR_SLOW, options.level0_files * LEVEL0_FACTOR_STOP);
    let (bytes, most) = (levels.bytes(0), level0_bytes_max(levels, options).max(2));
    // From half of the most on, evenly up to where writers wait.
    let by_bytes = match bytes.checked_sub(most / 2) {
        Some(over) => slow + ((stop - slow) as u64 * over / (most / 2)) as usize,
        None => 0,
    };
    levels.level(0).len().max(by_bytes)
}

fn level0_bytes_max(levels: &Levels, options: &StoreOptions) -> u64 {
    let below: u64 = (1..levels.depth()).map(|depth| levels.bytes(depth)).sum();
    options.level0_bytes + below / 2
}

/// The size of a level beyond which tables go down.
fn target_bytes(levels: &Levels, options: &StoreOptions, depth: usize) -> u64 {
    let usual = options.level1_bytes.saturating_mul(LEVEL_FACTOR.saturating_pow(depth as u32 - 1));
    let (below, _) = below(levels, depth);
    let target = if below == 0 { usual } else { usual.min((below / BELOW_PARTS).max(options.table_bytes as u64)) };
    target.max(1)
}

/// The bytes of a level, with a deletion as large as an average entry below.
fn weight(levels: &Levels, depth: usize) -> u64 {
    let (bytes, entries) = below(levels, depth);
    let deletions: u64 = levels.level(depth).iter().map(|table| table.meta.tombstones).sum();
    levels.bytes(depth) + deletions.saturating_mul(bytes / entries.max(1))
}

/// The bytes and the entries of all deeper levels.
fn below(levels: &Levels, depth: usize) -> (u64, u64) {
    let tables = || (depth + 1..levels.depth()).flat_map(|deeper| levels.level(deeper));
    (tables().map(|table| table.meta.size).sum(), tables().map(|table| table.meta.entries).sum())
}
