//! Options and statistics of a store.

use std::sync::Arc;

use keyform_core::World;

use super::memory;

/// Point at which a commit is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// After the journal is synced: the commit survives a power cut.
    #[default]
    Sync,
    /// After the operating system has the data: the commit survives the end of the process, but not a power cut.
    Os,
}

/// Options of a store on disk. The defaults suit a server.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Point at which a commit is acknowledged.
    pub durability: Durability,
    /// Size at which the memtable is frozen and flushed to a file.
    pub memtable_bytes: usize,
    /// Maximum size of the journal. A quarter of it starts a flush; writers wait while three quarters wait for the
    /// flush. Commits admitted before can exceed it.
    pub journal_bytes: u64,
    /// Time without commits after which [`Store::flush_if_idle`](super::Store::flush_if_idle) cuts the journal.
    pub idle_ms: u64,
    /// Smallest journal that an idle store cuts; replaying a smaller one costs less than another table.
    pub idle_journal_bytes: u64,
    /// Writes everything to tables on close, so that opening has nothing to replay.
    pub flush_at_close: bool,
    /// Maximum size of the cache of decrypted blocks. Default: an eighth of the memory of the machine or container.
    pub block_cache_bytes: usize,
    /// Target size of a block before compression.
    pub block_bytes: usize,
    /// Compresses blocks with LZ4 before encryption.
    pub compression: bool,
    /// Target size of a table file written by compaction.
    pub table_bytes: usize,
    /// Number of level 0 tables that starts a compaction.
    pub level0_files: usize,
    /// Maximum estimated size of overwritten and deleted data in tables, in addition to a quarter of the live data.
    /// Half of it starts a compaction and begins to slow writers down.
    pub dead_bytes: u64,
    /// Target size of level 1; each deeper level is ten times as large. A level above other levels is also kept below a
    /// third of their size.
    pub level1_bytes: u64,
    /// Size of the zeros preallocated in the journal, which make small syncs faster; 0 disables it.
    pub journal_reserve_bytes: usize,
    /// File names in the directory that belong to the caller. The store ignores them.
    pub neighbours: Vec<String>,
    /// Clock for pauses and retries, and randomness for salts; the real ones by default.
    pub world: Arc<dyn World>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        StoreOptions {
            durability: Durability::Sync,
            memtable_bytes: 16 << 20,
            journal_bytes: 64 << 20,
            idle_ms: 5_000,
            idle_journal_bytes: 1 << 20,
            flush_at_close: true,
            block_cache_bytes: memory::cache_bytes(),
            block_bytes: 8 << 10,
            compression: true,
            table_bytes: 32 << 20,
            level0_files: 4,
            dead_bytes: 48 << 20,
            level1_bytes: 128 << 20,
            journal_reserve_bytes: 256 << 10,
            neighbours: Vec::new(),
            world: keyform_world::system(),
        }
    }
}

/// Statistics of a store. Counters start at zero when it is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Calls of `Store::commit`, including rejected ones.
    pub commits: u64,
    /// Journal frames written. The ratio of commits to frames is the number of commits that share one write.
    pub frames: u64,
    /// Syncs of the journal.
    pub syncs: u64,
    /// Sequence number of the last commit.
    pub latest_seqno: u64,
    /// Sequence number up to which all commits are durable.
    pub durable_seqno: u64,
    /// Approximate memory of the memtables.
    pub memtable_bytes: u64,
    /// Size of the journal that a restart would replay.
    pub journal_bytes: u64,
    /// Size of the journal that was replayed when the store was opened.
    pub replayed_bytes: u64,
    /// Size of all table files.
    pub table_bytes: u64,
    /// Number of table files by level.
    pub level_files: Vec<usize>,
    /// Blocks and filters found in the cache.
    pub cache_hits: u64,
    /// Blocks and filters read from files.
    pub block_reads: u64,
    /// Lookups that a filter answered without reading a block.
    pub filter_skips: u64,
    /// Size of the block cache.
    pub cache_bytes: u64,
    /// Memtables written to files.
    pub flushes: u64,
    /// Number of completed compaction jobs.
    pub compactions: u64,
    /// Ids of the data keys in use, including the current one. After the store is opened under a new key, a flush moves
    /// the journal to it and a compaction the tables; then older keys are no longer needed.
    pub key_ids: Vec<u32>,
}
