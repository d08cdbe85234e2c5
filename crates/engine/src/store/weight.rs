//! Fullness of the levels, which decides what is compacted and whether writers are slowed down.
//!
//! In addition to the sizes of levels, the space taken by dead data is bounded (ADR 0028). The deepest level holds each
//! key once. Data in the levels above is dead, or makes data below dead, to the extent that keys were overwritten or
//! deleted:
//!
//! ```text
//! level 0   a₃ b₂ c✗        dead when merged: a₂ a₁ b₁ c₁ and the deletion of c itself
//! level 1   a₂
//! level 2   a₁ b₁ c₁ d₁     a deletion is small, what it deletes is not: it counts as an average entry below
//! ```
//!
//! The share of overwritten data is unknown before a merge, so it is estimated from recent merges. Loading new data
//! makes nothing dead and is therefore not slowed down.

use std::sync::atomic::{AtomicU64, Ordering};

use super::background::{LEVEL0_FACTOR_SLOW, LEVEL0_FACTOR_STOP};
use super::levels::Levels;
use super::options::StoreOptions;

/// Growth factor from one level to the next.
const LEVEL_FACTOR: u64 = 10;
/// A level is at most one part in this many of the levels below it: what it overwrites there takes space twice.
const BELOW_PARTS: u64 = 3;
/// Dead data may take one part in this many of the live data, in addition to a constant. The value is well below the
/// documented bound of three: the estimate ignores deletions in memory, and a compaction needs space for its output.
const ALIVE_PARTS: u64 = 4;
/// Upper bound of the data that the deletions in one memtable make dead: one part in this many of the maximum of dead
/// data. There are at most four memtables, so together they account for half of the maximum.
const MEMTABLE_PARTS: u64 = 8;
/// Share assumed before the first merge.
const DEAD_PERMILLE_UNKNOWN: u64 = 500;

/// Share of the upper levels' bytes that recent merges found to be dead.
#[derive(Debug)]
pub(super) struct DeadShare {
    permille: AtomicU64,
}

impl Default for DeadShare {
    fn default() -> Self {
        DeadShare { permille: AtomicU64::new(DEAD_PERMILLE_UNKNOWN) }
    }
}

impl DeadShare {
    /// Records a merge of `upper` bytes into the level below that removed `removed` bytes.
    pub(super) fn note(&self, upper: u64, removed: u64) {
        if let Some(found) = removed.saturating_mul(1000).checked_div(upper) {
            let found = found.min(1000);
            let before = self.permille.load(Ordering::Relaxed);
            self.permille.store((before + found) / 2, Ordering::Relaxed);
        }
    }
}

/// Fullness of the levels at one point in time.
pub(super) struct Weight<'a> {
    pub(super) levels: &'a Levels,
    pub(super) options: &'a StoreOptions,
    pub(super) dead_share: &'a DeadShare,
}

impl Weight<'_> {
    /// Returns the level to compact next, if any is due: when dead data takes too much space, the level with most of
    /// it; otherwise the one that exceeds its size by the largest factor.
    pub(super) fn most_crowded(&self) -> Option<usize> {
        let depths = 0..self.levels.depth();
        if self.dead_bytes() >= (self.dead_bytes_max() / 2).max(1) {
            return depths.max_by_key(|depth| self.dead_bytes_of(*depth));
        }
        depths.max_by_key(|depth| self.permille(*depth)).filter(|depth| self.permille(*depth) >= 1000)
    }

    /// Returns the pressure on level 0 as a number of tables: their actual number, or a higher one when dead data takes
    /// so much space that writers must be slowed down.
    pub(super) fn level0_pressure(&self) -> usize {
        let trigger = self.options.level0_files;
        let (slow, stop) = (trigger * LEVEL0_FACTOR_SLOW, trigger * LEVEL0_FACTOR_STOP);
        let half = (self.dead_bytes_max() / 2).max(1);
        // Grows linearly from half of the maximum up to the point where writers wait.
        let by_bytes = match self.dead_bytes().checked_sub(half) {
            Some(over) => slow + ((stop - slow) as u64).saturating_mul(over) as usize / half as usize,
            None => 0,
        };
        self.levels.level(0).len().max(by_bytes)
    }

    /// Returns the number of deletions that a memtable may hold. What they delete stays in tables until they are there
    /// too, so it must be small compared to the dead data that tables may hold.
    pub(super) fn deletions_max(&self) -> usize {
        let tables = || self.levels.tables().map(|table| &table.meta);
        let bytes: u64 = tables().map(|meta| meta.size).sum();
        let items: u64 = tables().map(|meta| meta.entries - meta.tombstones.min(meta.entries)).sum();
        match bytes.checked_div(items) {
            Some(item_bytes) => {
                let count = self.dead_bytes_max() / MEMTABLE_PARTS / item_bytes.max(1);
                usize::try_from(count).unwrap_or(usize::MAX).max(1)
            }
            None => usize::MAX,
        }
    }

    fn permille(&self, depth: usize) -> u64 {
        match depth {
            0 => self.levels.level(0).len() as u64 * 1000 / self.options.level0_files as u64,
            deeper => self.levels.bytes(deeper).saturating_mul(1000) / self.target_bytes(deeper),
        }
    }

    /// Returns the size of a level beyond which its tables move down.
    fn target_bytes(&self, depth: usize) -> u64 {
        let usual = self.options.level1_bytes.saturating_mul(LEVEL_FACTOR.saturating_pow(depth as u32 - 1));
        let (below, _) = self.below(depth);
        let most = if below == 0 { usual } else { (below / BELOW_PARTS).max(self.options.table_bytes as u64) };
        usual.min(most).max(1)
    }

    /// Returns the maximum size of dead data: a constant plus a fraction of the live data.
    fn dead_bytes_max(&self) -> u64 {
        let all: u64 = (0..self.levels.depth()).map(|depth| self.levels.bytes(depth)).sum();
        self.options.dead_bytes + all.saturating_sub(self.dead_bytes()) / ALIVE_PARTS
    }

    fn dead_bytes(&self) -> u64 {
        (0..self.levels.depth()).map(|depth| self.dead_bytes_of(depth)).sum()
    }

    /// Estimates the data that is dead because of a level, in it and below it. Zero if nothing lies below.
    fn dead_bytes_of(&self, depth: usize) -> u64 {
        let (_, entries) = self.below(depth);
        if entries == 0 && (depth > 0 || self.levels.level(0).len() < 2) {
            return 0;
        }
        let deletions: u64 = self.levels.level(depth).iter().map(|table| table.meta.tombstones).sum();
        let overwritten = self.levels.bytes(depth) / 1000 * self.dead_share.permille.load(Ordering::Relaxed);
        overwritten + deletions.saturating_mul(self.entry_bytes_below(depth))
    }

    /// Returns the average size of an entry in all deeper levels, which is what a deletion removes.
    pub(super) fn entry_bytes_below(&self, depth: usize) -> u64 {
        let (bytes, entries) = self.below(depth);
        bytes / entries.max(1)
    }

    /// Returns the bytes and the number of entries of all deeper levels.
    fn below(&self, depth: usize) -> (u64, u64) {
        let tables = || (depth + 1..self.levels.depth()).flat_map(|deeper| self.levels.level(deeper));
        (tables().map(|table| table.meta.size).sum(), tables().map(|table| table.meta.entries).sum())
    }
}
