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
//! ends soon after the database is told to close. What fails is remembered and told by the database's health.

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

/// How long old records and tokens may stay beyond their time, unless somebody asks for a pass.
const TRIM_INTERVAL_MS: u64 = 60_000;

impl Engine {
    /// One pass; with `everything`, also what is not worth doing at each interval.
    pub(crate) fn work_once(&self, everything: bool) -> Result<(), Error> {
        self.fill_indexes()?;
        self.fill_expiries()?;
        self.remove_indexes()?;
        self.expire_items()?;
        self.follow_shards()?;
        if self.work.is_trim_due(self.env.now_ms(), TRIM_INTERVAL_MS) || everything {
            self.trim_streams()?;
            self.forget_tokens()?;
        }
        self.collect_garbage()?;
        self.recount()?;
        self.store.flush_if_idle(self.env.now_ms());
        Ok(())
    }
}
