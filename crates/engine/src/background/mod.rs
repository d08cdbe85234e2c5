//! Background work that no caller waits for. One pass runs, in this order:
//!
//! 1. [`fill`]: backfills new indexes and newly enabled expiry, removes deleted indexes;
//! 2. deletion of expired items (`expiry`);
//! 3. splitting of full stream shards and trimming of old records (`stream`);
//! 4. deletion of old idempotency tokens (`tokens`);
//! 5. [`garbage`]: deletion of obsolete keys;
//! 6. [`recount`]: recount of unknown statistics;
//! 7. cutting the journal of an idle store ([`Store::flush_if_idle`](crate::store::Store::flush_if_idle)).
//!
//! A thread runs a pass at each interval and whenever an operation leaves work. A pass works in small steps and stops
//! soon after the database is closed. A failing task does not block the others. The first failure and the first success
//! after it are logged; later passes retry with growing pauses.

mod fill;
mod garbage;
mod recount;
mod thread;
mod tokens;
mod work;

pub use thread::Background;
pub(crate) use work::Work;

use keyform_core::Error;

use crate::engine::Engine;

/// Calls `work` for each element, even after a failure; returns the first failure.
pub(crate) fn for_all<T>(
    all: impl IntoIterator<Item = T>,
    mut work: impl FnMut(T) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut first = Ok(());
    for one in all {
        let done = work(one);
        first = first.and(done);
    }
    first
}

/// Interval of the `SELDOM` tasks: the time that old records and tokens may outlive their limit.
const TRIM_INTERVAL_MS: u64 = 60_000;

/// Task of a pass, with its name in the log.
type Task = (&'static str, fn(&Engine) -> Result<(), Error>);

/// Tasks of each pass.
const ALWAYS: [Task; 5] = [
    ("index backfill", Engine::fill_indexes),
    ("expiry backfill", Engine::fill_expiries),
    ("index removal", Engine::remove_indexes),
    ("expiry", Engine::expire_items),
    ("following of stream shards", Engine::follow_shards),
];
/// Tasks that run once per `TRIM_INTERVAL_MS`.
const SELDOM: [Task; 2] = [("stream trimming", Engine::trim_streams), ("token removal", Engine::forget_tokens)];
/// Tasks at the end of each pass, because the others may leave keys to delete or tables to count.
const AT_LAST: [Task; 2] = [("removal of dropped keys", Engine::collect_garbage), ("item counting", Engine::recount)];

impl Engine {
    /// Runs one pass; `everything` includes the tasks that do not run in each pass.
    ///
    /// # Errors
    /// The first failure; the remaining tasks run anyway.
    pub(crate) fn work_once(&self, everything: bool) -> Result<(), Error> {
        // The store has already logged why it accepts no writes; every task would fail for that reason.
        self.admit()?;
        let seldom = self.work.is_trim_due(self.now_ms(), TRIM_INTERVAL_MS) || everything;
        let tasks = ALWAYS.iter().chain(SELDOM.iter().filter(|_| seldom)).chain(&AT_LAST);
        let done = for_all(tasks, |(name, task)| self.work.note(name, task(self)));
        self.store.flush_if_idle(self.now_ms());
        done
    }
}
