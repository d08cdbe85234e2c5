//! Shared state of the flush thread, the compaction thread and waiting writers.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use keyform_core::World;
use parking_lot::{Condvar, Mutex};

use super::batch::SeqNo;
use super::error::StoreError;
use super::memtable::Memtable;
use super::obstacle::Obstacles;
use super::weight::Weight;

/// Writers wait while this many memtables are waiting for the flush.
const FROZEN_MAX: usize = 3;
/// Multiples of `level0_files`, the number of level 0 tables that starts a compaction. Writers are slowed down
/// gradually from the first multiple on, and wait at the second.
pub(super) const LEVEL0_FACTOR_SLOW: usize = 3;
pub(super) const LEVEL0_FACTOR_STOP: usize = 10;
/// Highest and lowest rate of slowed writers, in bytes per second.
const SLOW_RATE: u64 = 32 << 20;
const SLOWEST_RATE: u64 = 1 << 20;
/// Longest delay of one commit.
const DELAY_MAX: Duration = Duration::from_millis(500);

/// Memtable that accepts no more writes and waits for the flush.
#[derive(Debug, Clone)]
pub(super) struct Frozen {
    pub(super) memtable: Arc<Memtable>,
    pub(super) last_seqno: SeqNo,
    /// First journal segment that is still needed after this memtable is flushed.
    pub(super) first_segment: u64,
    /// Size of the journal that the flush makes obsolete.
    pub(super) journal_bytes: u64,
}

/// Queue of background work, and the backpressure on writers.
#[derive(Debug)]
pub(super) struct Background {
    world: Arc<dyn World>,
    state: Mutex<Work>,
    changed: Condvar,
    /// True while writers must wait. An atomic copy, so that a commit need not take the lock to check it.
    crowded: AtomicBool,
    closing: AtomicBool,
    /// Pressure on level 0, expressed as a number of tables (see `Weight::level0_pressure`).
    level0_pressure: AtomicUsize,
    /// Number of deletions at which a memtable is flushed (see `Weight::deletions_max`).
    deletions_max: AtomicUsize,
    /// Size of the frozen memtables' journal at which writers wait.
    frozen_journal_bytes_max: u64,
    /// Rate limit of writers in bytes per second; 0 means no limit.
    rate: AtomicU64,
    /// Moment at which the next commit may proceed while writers are slowed down.
    next_commit: Mutex<Duration>,
    /// Slowed writers wait on it until their turn; it is never notified.
    turn: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) frozen: VecDeque<Frozen>,
    /// Incremented whenever there may be something to compact.
    pub(super) wanted: u64,
    /// Value of `wanted` when the compaction thread last found nothing to do.
    pub(super) compacted: u64,
    /// Requests a merge of all tables, not only of those that are due.
    pub(super) full: bool,
    /// Causes that currently block the threads.
    pub(super) obstacles: Obstacles,
    /// True after a thread ended with a failure; nothing may wait for it any more.
    pub(super) failed: bool,
}

impl Work {
    fn frozen_journal_bytes(&self) -> u64 {
        self.frozen.iter().map(|frozen| frozen.journal_bytes).sum()
    }
}

impl Background {
    pub(super) fn new(frozen_journal_bytes_max: u64, world: Arc<dyn World>) -> Self {
        Background {
            world,
            state: Mutex::default(),
            changed: Condvar::new(),
            crowded: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            level0_pressure: AtomicUsize::new(0),
            deletions_max: AtomicUsize::new(0),
            frozen_journal_bytes_max,
            rate: AtomicU64::new(0),
            next_commit: Mutex::default(),
            turn: Condvar::new(),
        }
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Asks all threads to end.
    pub(super) fn close(&self) {
        let _work = self.state.lock();
        self.closing.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// Applies `change`, recomputes the backpressure and wakes all waiting threads.
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

    /// Records the state of the tables after a change.
    pub(super) fn set_weight(&self, weight: &Weight<'_>) {
        self.level0_pressure.store(weight.level0_pressure(), Ordering::Relaxed);
        self.deletions_max.store(weight.deletions_max(), Ordering::Relaxed);
    }

    /// Returns the number of deletions at which a memtable is flushed.
    pub(super) fn deletions_max(&self) -> usize {
        self.deletions_max.load(Ordering::Relaxed)
    }

    pub(super) fn frozen_journal_bytes(&self) -> u64 {
        self.state.lock().frozen_journal_bytes()
    }

    /// Waits until `ready` returns a value; returns `None` when the store is closing or a thread has failed.
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

    /// Sleeps for `pause`, or less when the store closes or a thread fails.
    pub(super) fn rest(&self, pause: Duration) {
        let until = self.world.monotonic() + pause;
        let mut work = self.state.lock();
        while !self.is_closing() && !work.failed {
            let left = until.saturating_sub(self.world.monotonic());
            if left.is_zero() {
                return;
            }
            self.changed.wait_for(&mut work, self.world.blocking_wait(left));
        }
    }

    /// Delays a writer of `bytes` while flush and compaction are slower than the commits. When they are blocked (ADR
    /// 0029), waiting would not help: the writer gets an error.
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

    /// Returns the error that writers get while the threads are blocked.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if !self.crowded.load(Ordering::Acquire) {
            return Ok(());
        }
        self.state.lock().obstacles.refusal().map_or(Ok(()), Err)
    }

    fn slow_down(&self, bytes: usize, rate: u64) {
        let now = self.world.monotonic();
        let mut next_commit = self.next_commit.lock();
        let turn = (*next_commit).max(now).min(now + DELAY_MAX);
        *next_commit = turn + Duration::from_secs_f64(bytes as f64 / rate as f64);
        loop {
            let left = turn.saturating_sub(self.world.monotonic());
            if left.is_zero() {
                return;
            }
            self.turn.wait_for(&mut next_commit, self.world.blocking_wait(left));
        }
    }
}

/// Returns the rate limit for the pressure on level 0; 0 means no limit.
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
