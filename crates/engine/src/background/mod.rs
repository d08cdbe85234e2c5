//! Work that no caller waits for. One pass does, in this order:
//!
//! 1. [`fill`]: new indexes and new times of expiry get the items that were there before them; removed indexes go;
//! 2. expired items are deleted (`expiry`);
//! 3. full shards of streams are followed by new ones, old records are trimmed (`stream`);
//! 4. old idempotency tokens are forgotten (`write::token`);
//! 5. [`garbage`]: keys that nobody needs any more are dropped;
//! 6. [`recount`]: statistics that are not known are counted;
//! 7. the journal of an idle store is cut ([`Store::flush_if_idle`](crate::store::Store::flush_if_idle)).
//!
//! A thread makes a pass at each interval and whenever an operation leaves something to do. A pass works in small steps and
//! ends soon after the database is closed. A task that fails does not keep the others from their work: it is logged once, and
//! again when it succeeds; the next passes try it again, less and less often.

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

/// Does something for each, also after a failure; returns the first failure.
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

/// How long old records and tokens may stay beyond their time, unless somebody asks for a pass.
const TRIM_INTERVAL_MS: u64 = 60_000;

/// One of the tasks of a pass, by its name in the log.
type Task = (&'static str, fn(&Engine) -> Result<(), Error>);

/// What each pass does.
const ALWAYS: [Task; 5] = [
    ("filling of indexes", Engine::fill_indexes),
    ("filling of times of expiry", Engine::fill_expiries),
    ("removal of indexes", Engine::remove_indexes),
    ("expiry", Engine::expire_items),
    ("following of stream shards", Engine::follow_shards),
];
/// What is done from time to time.
const SELDOM: [Task; 2] = [("trimming of streams", Engine::trim_streams), ("removal of tokens", Engine::forget_tokens)];
/// What each pass does at its end.
const AT_LAST: [Task; 2] =
    [("removal of dropped keys", Engine::collect_garbage), ("counting of items", Engine::recount)];

impl Engine {
    /// One pass; with `everything`, also what is not worth doing at each interval.
    ///
    /// # Errors
    /// The first failure; the tasks after it were done nevertheless.
    pub(crate) fn work_once(&self, everything: bool) -> Result<(), Error> {
        // While the store takes no writes, that is the one failure to report, and the store has reported it.
        self.admit()?;
        let seldom = self.work.is_trim_due(self.env.now_ms(), TRIM_INTERVAL_MS) || everything;
        let tasks = ALWAYS.iter().chain(SELDOM.iter().filter(|_| seldom)).chain(&AT_LAST);
        let done = for_all(tasks, |(name, task)| self.work.note(name, task(self)));
        self.store.flush_if_idle(self.env.now_ms());
        done
    }
}
