//! Labels used by the streams of deleted tables.
//!
//! A stream's label is the millisecond of its creation; two streams of tables with the same name must have different
//! labels. Streams outlive their tables by a day, in the store and not in memory. Their labels are therefore kept in a
//! hash table of fixed size that holds only the newest label of each bucket. After a collision, a stream gets a label
//! that is later than needed.

use twox_hash::XxHash3_64;

const BUCKETS: usize = 1024;

/// Newest label of each hash bucket of table names.
#[derive(Debug)]
pub struct Labels {
    newest_ms: Box<[u64; BUCKETS]>,
}

impl Default for Labels {
    fn default() -> Self {
        Self { newest_ms: Box::new([0; BUCKETS]) }
    }
}

impl Labels {
    /// Records the label of a stream of the named table.
    pub fn note(&mut self, table: &str, created_ms: u64) {
        let newest_ms = &mut self.newest_ms[bucket(table)];
        *newest_ms = created_ms.max(*newest_ms);
    }

    /// Returns a time not before any label of that name, or zero.
    pub fn newest_ms(&self, table: &str) -> u64 {
        self.newest_ms[bucket(table)]
    }
}

fn bucket(table: &str) -> usize {
    XxHash3_64::oneshot(table.as_bytes()) as usize % BUCKETS
}
