//! What the flush thread, the compaction thread and waiting writers tell each other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::batch::SeqNo;
use super::error::StoreError;
use super::memtable::Memtable;
use super::obstacle::Obstacles;

/// Writers wait while this many memtables wait to become tables.
const FROZEN_MAX: usize = 3;
/// Writers are slowed down from this many times the tables of level 0 that start a compaction, more and more, until
/// they wait at the second number.
pub(super) const LEVEL0_FACTOR_SLOW: usize = 3;
pub(super) const LEVEL0_FACTOR_STOP: usize = 10;
/// The rate at which slowed writers begin, and the least, in bytes a second.
const SLOW_RATE: u64 = 32 << 20;
const SLOWEST_RATE: u64 = 1 << 20;
/// No commit is held back longer than this at a time.
const DELAY_MAX: Duration = Duration::from_millis(500);

/// A memtable that takes no more writes.
#[derive(Debug, Clone)]
pub(super) struct Frozen {
    pub(super) memtable: Arc<Memtable>,
    pub(super) last_seqno: SeqNo,
    /// The first journal segment that is still needed when this memtable has become a table.
    pub(super) first_segment: u64,
    /// The bytes of the journal that are not needed any more then.
    pub(super) journal_bytes: u64,
}

/// The work that waits, and who waits for it.
#[derive(Debug, Default)]
pub(super) struct Background {
    state: Mutex<Work>,
    changed: Condvar,
    /// Set while writers should wait, so that they need not take the lock to know.
    crowded: AtomicBool,
    closing: AtomicBool,
    /// How crowded level 0 is, in tables.
    level0_pressure: AtomicUsize,
    /// The journal of frozen memtables at which writers wait.
    frozen_journal_bytes_max: u64,
    /// The bytes a second that writers may commit; 0 while there is no need to slow them down.
    rate: AtomicU64,
    /// When the next commit may go on while writers are slowed down.
    next_commit: Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) frozen: VecDeque<Frozen>,
    /// Rises whenever there may be something to compact.
    pub(super) wanted: u64,
    /// What `wanted` was when the compaction thread last found nothing to do.
    pub(super) compacted: u64,
    /// Whether to merge everything, not only what is due.
    pub(super) full: bool,
    /// What keeps the threads from their work at the moment.
    pub(super) obstacles: Obstacles,
    /// Whether a thread ended because of a failure, so that nobody waits for it.
    pub(super) failed: bool,
}

impl Work {
    fn frozen_journal_bytes(&self) -> u64 {
        self.frozen.iter().map(|frozen| frozen.journal_bytes).sum()
    }
}

impl Background {
    pub(super) fn new(frozen_journal_bytes_max: u64) -> Self {
        Background { frozen_journal_bytes_max, ..Background::default() }
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Tells all threads to end.
    pub(super) fn close(&self) {
        let _work = self.state.lock();
        self.closing.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// Changes the work and wakes whoever waits for that.
    pub(super) fn update(&self, level0_trigger: usize, change: impl FnOnce(&mut Work)) {
        let mut work = self.state.lock();
        change(&mut work);
        let level0 = self.level0_pressure.load(Ordering::Relaxed);
        let crowded = work.frozen.len() >= FROZEN_MAX
            || work.frozen_journal_bytes() >= self.frozen_journal_bytes_max
            || level0 >= level0_trigger * LEVEL0_FACTOR_STOP;
        self.rate.store(if work.failed { 0 } else { rate(level0, level0_trigger) }, Ordering::Relaxed);
        self.crowded.store(crowded && !work.failed, Ordering::Release);
        self.changed.notify_all();
    }

    pub(super) fn set_level0_pressure(&self, tables: usize) {
        self.level0_pressure.store(tables, Ordering::Relaxed);
    }

    pub(super) fn frozen_journal_bytes(&self) -> u64 {
        self.state.lock().frozen_journal_bytes()
    }

    /// Waits until `ready` gives something; `None` when the store is closing or a thread has failed.
    pub(super) fn wait_for<T>(&self, mut ready: impl FnMut(&mut Work) -> Option<T>) -> Option<T> {
        let mut work = self.state.lock();
        loop {
            if self.is_closing() || work.failed {
                return None;
            }
            if let Some(found) = ready(&mut work) {
                return Some(found);
            }
            self.changed.wait(&mut work);
        }
    }

    /// Waits for at most that long; less when the store is closing or a thread has failed.
    pub(super) fn rest(&self, pause: Duration) {
        let until = Instant::now() + pause;
        let mut work = self.state.lock();
        while !self.is_closing() && !work.failed && !self.changed.wait_until(&mut work, until).timed_out() {}
    }

    /// Holds a writer of `bytes` back while files are not written as fast as commits arrive. Where they cannot be written at
    /// all, waiting would not help: the writer is refused.
    pub(super) fn wait_for_room(&self, bytes: usize) -> Result<(), StoreError> {
        if self.crowded.load(Ordering::Acquire) {
            let room = |work: &mut Work| match work.obstacles.refusal() {
                _ if !self.crowded.load(Ordering::Acquire) => Some(Ok(())),
                refusal => refusal.map(Err),
            };
            self.wait_for(room).unwrap_or(Ok(()))?;
        }
        let rate = self.rate.load(Ordering::Relaxed);
        if rate > 0 {
            self.slow_down(bytes, rate);
        }
        Ok(())
    }

    /// Why writers are refused, if they are.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if !self.crowded.load(Ordering::Acquire) {
            return Ok(());
        }
        self.state.lock().obstacles.refusal().map_or(Ok(()), Err)
    }

    fn slow_down(&self, bytes: usize, rate: u64) {
        let now = Instant::now();
        let mut next_commit = self.next_commit.lock();
        let turn = next_commit.map_or(now, |next| next.max(now)).min(now + DELAY_MAX);
        *next_commit = Some(turn + Duration::from_secs_f64(bytes as f64 / rate as f64));
        drop(next_commit);
        thread::sleep(turn - now);
    }
}

/// The rate that writers are slowed down to; 0 when they are not.
fn rate(level0: usize, trigger: usize) -> u64 {
    let (slow, stop) = (trigger * LEVEL0_FACTOR_SLOW, trigger * LEVEL0_FACTOR_STOP);
    if level0 < slow {
        return 0;
    }
    let left = stop.saturating_sub(level0) as u64;
    (SLOW_RATE * left / (stop - slow) as u64).max(SLOWEST_RATE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_are_slowed_down_gradually() {
        assert_eq!(rate(11, 4), 0);
        assert_eq!(rate(12, 4), SLOW_RATE);
        assert_eq!(rate(26, 4), SLOW_RATE / 2);
        assert_eq!(rate(40, 4), SLOWEST_RATE);
    }
}
