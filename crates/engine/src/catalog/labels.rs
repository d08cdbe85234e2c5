//! The labels that streams of removed tables have used.
//!
//! A stream's label is the millisecond in which it began, and no two streams of tables with one name may share it. Streams
//! outlive their tables by a day, in the store and not in memory, so their labels are kept in a table of fixed size: of
//! all names with the same hash the newest label. A name that meets another one's label gets a later millisecond.

use twox_hash::XxHash3_64;

const BUCKETS: usize = 1024;

/// The newest label of each bucket of names.
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
    /// Notes that a stream of a table with that name has the label.
    pub fn note(&mut self, table: &str, created_ms: u64) {
        let newest_ms = &mut self.newest_ms[bucket(table)];
        *newest_ms = created_ms.max(*newest_ms);
    }

    /// A time not before that of any label of that name; zero if there is none.
    pub fn newest_ms(&self, table: &str) -> u64 {
        self.newest_ms[bucket(table)]
    }
}

fn bucket(table: &str) -> usize {
    XxHash3_64::oneshot(table.as_bytes()) as usize % BUCKETS
}
