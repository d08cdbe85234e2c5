//! The settings of a store and the figures it reports.

use super::memory;

/// When a commit counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// After the journal is synced: it survives a power cut.
    #[default]
    Sync,
    /// After the operating system has taken it: it survives the end of the process, not a power cut.
    Os,
}

/// How a store on disk behaves. The defaults suit a server.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// When a commit counts as done.
    pub durability: Durability,
    /// The size at which the newest data goes from memory into a file.
    pub memtable_bytes: usize,
    /// The most that the journal takes on disk: a quarter of it starts a flush, three quarters that wait for the flush
    /// hold writers back. Commits that were admitted before may exceed it.
    pub journal_bytes: u64,
    /// The time without commits after which [`Store::flush_if_idle`](super::Store::flush_if_idle) cuts the journal.
    pub idle_ms: u64,
    /// An idle store keeps a journal smaller than this, because replaying it costs less than another table.
    pub idle_journal_bytes: u64,
    /// Whether closing writes everything to tables, so that opening replays nothing.
    pub flush_at_close: bool,
    /// The most that decrypted blocks may take in memory: by default an eighth of the machine's or the container's.
    pub block_cache_bytes: usize,
    /// The size of a block, before compression.
    pub block_bytes: usize,
    /// Whether blocks are compressed before they are sealed.
    pub compression: bool,
    /// The size of a table file.
    pub table_bytes: usize,
    /// How many files of level 0 start a compaction.
    pub level0_files: usize,
    /// The most that overwritten and deleted data takes in tables, by estimate, beside a quarter of what is alive. Half of it
    /// starts a compaction; writers are slowed down from there on.
    pub dead_bytes: u64,
    /// The size of level 1; each further level is ten times larger. A level that has others below it stays below a third
    /// of their size.
    pub level1_bytes: u64,
    /// How much of the journal is written ahead with zeros, which makes small syncs faster; 0 switches it off.
    pub journal_reserve_bytes: usize,
    /// Names in the directory that belong to the caller: they are left alone and do not make it foreign.
    pub neighbours: Vec<String>,
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
            dead_bytes: 64 << 20,
            level1_bytes: 128 << 20,
            journal_reserve_bytes: 256 << 10,
            neighbours: Vec::new(),
        }
    }
}

/// What a store has done and holds; counters start at zero when it is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Commits accepted.
    pub commits: u64,
    /// Journal frames written: commits ÷ frames is how many writers share one sync.
    pub frames: u64,
    /// Syncs of the journal.
    pub syncs: u64,
    /// The sequence number of the last commit.
    pub latest_seqno: u64,
    /// The sequence number up to which everything is durable.
    pub durable_seqno: u64,
    /// The bytes in memtables, roughly.
    pub memtable_bytes: u64,
    /// The bytes of the journal that a restart would replay.
    pub journal_bytes: u64,
    /// The bytes of the journal that opening the store replayed.
    pub replayed_bytes: u64,
    /// The bytes in table files.
    pub table_bytes: u64,
    /// The number of table files of each level.
    pub level_files: Vec<usize>,
    /// Blocks found in the cache.
    pub cache_hits: u64,
    /// Blocks read from files.
    pub block_reads: u64,
    /// Lookups that a filter answered without reading a block.
    pub filter_skips: u64,
    /// The bytes in the block cache.
    pub cache_bytes: u64,
    /// Memtables written to files.
    pub flushes: u64,
    /// Compactions done.
    pub compactions: u64,
    /// The ids of the data keys that files are sealed with. A store opened under a new key has moved its journal to it
    /// after a flush, and all its tables after a compaction; then an older key can be forgotten.
    pub key_ids: Vec<u32>,
}
