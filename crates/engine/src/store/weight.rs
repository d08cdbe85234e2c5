//! How full the levels are, which decides what is compacted and whether writers are slowed down.
//!
//! Space has a bound of its own beside the sizes of levels (ADR 0028). The deepest level holds a key once; what the levels
//! above it hold is dead, or makes something below dead, as far as keys were overwritten or deleted:
//!
//! ```text
//! level 0   a₃ b₂ c✗        dead when merged: a₂ a₁ b₁ c₁ and the deletion of c itself
//! level 1   a₂
//! level 2   a₁ b₁ c₁ d₁     a deletion is small, what it deletes is not: it counts as an average entry below
//! ```
//!
//! How much of what was overwritten is dead is not known before a merge. The last merges tell: loading new data makes
//! nothing dead and is not slowed down.

use std::sync::atomic::{AtomicU64, Ordering};

use super::background::{LEVEL0_FACTOR_SLOW, LEVEL0_FACTOR_STOP};
use super::levels::Levels;
use super::options::StoreOptions;

/// How much larger each level is than the one above.
const LEVEL_FACTOR: u64 = 10;
/// A level is at most this part of those below it: what it overwrites there takes space twice.
const BELOW_PARTS: u64 = 3;
/// Dead data may take this part of what is alive, beside a constant. The estimate knows nothing of deletions that are in
/// memory, and a compaction takes as much space again as it leaves alive, so this is far from the bound of three.
const ALIVE_PARTS: u64 = 4;
/// Assumed before the first merge.
const DEAD_PERMILLE_UNKNOWN: u64 = 500;

/// The part of the upper levels' bytes that merges of late have found to be dead.
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
    /// Notes a merge of `upper` bytes into those of the level below, which made `removed` bytes go away.
    pub(super) fn note(&self, upper: u64, removed: u64) {
        if let Some(found) = removed.saturating_mul(1000).checked_div(upper) {
            let found = found.min(1000);
            let before = self.permille.load(Ordering::Relaxed);
            self.permille.store((before + found) / 2, Ordering::Relaxed);
        }
    }
}

/// The fullness of the levels at one moment.
pub(super) struct Weight<'a> {
    pub(super) levels: &'a Levels,
    pub(super) options: &'a StoreOptions,
    pub(super) dead_share: &'a DeadShare,
}

impl Weight<'_> {
    /// The level to be compacted next, if any is due: where dead data takes too much space, the one with most of it;
    /// otherwise the one that exceeds its size by the largest factor.
    pub(super) fn most_crowded(&self) -> Option<usize> {
        let depths = 0..self.levels.depth();
        if self.dead_bytes() >= (self.dead_bytes_max() / 2).max(1) {
            return depths.max_by_key(|depth| self.dead_bytes_of(*depth));
        }
        depths.max_by_key(|depth| self.permille(*depth)).filter(|depth| self.permille(*depth) >= 1000)
    }

    /// How crowded level 0 is, in tables: their number, or more when dead data takes so much space that writers must wait.
    pub(super) fn level0_pressure(&self) -> usize {
        let trigger = self.options.level0_files;
        let (slow, stop) = (trigger * LEVEL0_FACTOR_SLOW, trigger * LEVEL0_FACTOR_STOP);
        let half = (self.dead_bytes_max() / 2).max(1);
        // From half of the most on, evenly up to where writers wait.
        let by_bytes = match self.dead_bytes().checked_sub(half) {
            Some(over) => slow + ((stop - slow) as u64).saturating_mul(over) as usize / half as usize,
            None => 0,
        };
        self.levels.level(0).len().max(by_bytes)
    }

    fn permille(&self, depth: usize) -> u64 {
        match depth {
            0 => self.levels.level(0).len() as u64 * 1000 / self.options.level0_files as u64,
            deeper => self.levels.bytes(deeper).saturating_mul(1000) / self.target_bytes(deeper),
        }
    }

    /// The size of a level beyond which tables go down.
    fn target_bytes(&self, depth: usize) -> u64 {
        let usual = self.options.level1_bytes.saturating_mul(LEVEL_FACTOR.saturating_pow(depth as u32 - 1));
        let (below, _) = self.below(depth);
        let most = if below == 0 { usual } else { (below / BELOW_PARTS).max(self.options.table_bytes as u64) };
        usual.min(most).max(1)
    }

    /// The most that dead data may take: a constant and a part of what is alive.
    fn dead_bytes_max(&self) -> u64 {
        let all: u64 = (0..self.levels.depth()).map(|depth| self.levels.bytes(depth)).sum();
        self.options.dead_bytes + all.saturating_sub(self.dead_bytes()) / ALIVE_PARTS
    }

    fn dead_bytes(&self) -> u64 {
        (0..self.levels.depth()).map(|depth| self.dead_bytes_of(depth)).sum()
    }

    /// What is dead because of a level, in it and below it: roughly, and nothing where nothing lies below.
    fn dead_bytes_of(&self, depth: usize) -> u64 {
        let (_, entries) = self.below(depth);
        if entries == 0 && (depth > 0 || self.levels.level(0).len() < 2) {
            return 0;
        }
        let deletions: u64 = self.levels.level(depth).iter().map(|table| table.meta.tombstones).sum();
        let overwritten = self.levels.bytes(depth) / 1000 * self.dead_share.permille.load(Ordering::Relaxed);
        overwritten + deletions.saturating_mul(self.entry_bytes_below(depth))
    }

    /// The size of an average entry of all deeper levels, which is what a deletion removes.
    pub(super) fn entry_bytes_below(&self, depth: usize) -> u64 {
        let (bytes, entries) = self.below(depth);
        bytes / entries.max(1)
    }

    /// The bytes and the entries of all deeper levels.
    fn below(&self, depth: usize) -> (u64, u64) {
        let tables = || (depth + 1..self.levels.depth()).flat_map(|deeper| self.levels.level(deeper));
        (tables().map(|table| table.meta.size).sum(), tables().map(|table| table.meta.entries).sum())
    }
}
