//! Signals between operations and the background thread.

use std::collections::BTreeSet;
use std::time::Duration;

use keyform_core::{Error, World};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::key_space::{IndexId, TableId};

/// Wake-up signals, and the work that is left.
#[derive(Debug, Default)]
pub(crate) struct Work {
    signal: Mutex<Signal>,
    changed: Condvar,
    /// Held during a pass, so that passes do not overlap.
    pass: Mutex<()>,
    uncounted: Mutex<BTreeSet<(TableId, IndexId)>>,
    /// Tasks whose last run failed.
    failing: Mutex<BTreeSet<&'static str>>,
    trimmed_ms: Mutex<u64>,
}

#[derive(Debug, Default)]
struct Signal {
    woken: bool,
    stopping: bool,
    closed: bool,
}

impl Work {
    /// Wakes the thread because there is work.
    pub fn wake(&self) {
        self.signal.lock().woken = true;
        self.changed.notify_all();
    }

    /// Asks the thread and the current pass to stop.
    pub fn stop(&self) {
        self.signal.lock().stopping = true;
        self.changed.notify_all();
    }

    /// Marks the database as closed; returns whether it was open.
    pub fn close(&self) -> bool {
        !std::mem::replace(&mut self.signal.lock().closed, true)
    }

    pub fn is_stopping(&self) -> bool {
        self.signal.lock().stopping
    }

    /// Waits until there is work or the interval is over; returns whether to continue.
    pub fn wait(&self, world: &dyn World, interval: Duration) -> bool {
        let until = world.monotonic() + interval;
        let mut signal = self.signal.lock();
        while !signal.woken && !signal.stopping {
            let left = until.saturating_sub(world.monotonic());
            if left.is_zero() {
                break;
            }
            self.changed.wait_for(&mut signal, world.blocking_wait(left));
        }
        signal.woken = false;
        !signal.stopping
    }

    /// Waits for the pass in progress and blocks others.
    pub fn begin_pass(&self) -> MutexGuard<'_, ()> {
        self.pass.lock()
    }

    /// Returns whether `interval_ms` has passed since the last call that returned true.
    pub fn is_trim_due(&self, now_ms: u64, interval_ms: u64) -> bool {
        let mut trimmed_ms = self.trimmed_ms.lock();
        let due = now_ms >= trimmed_ms.saturating_add(interval_ms);
        if due {
            *trimmed_ms = now_ms;
        }
        due
    }

    /// Records that these statistics are unknown.
    pub fn add_uncounted(&self, table: TableId, index: IndexId) {
        self.uncounted.lock().insert((table, index));
    }

    /// Returns the unknown statistics; they stay recorded.
    pub fn uncounted(&self) -> Vec<(TableId, IndexId)> {
        self.uncounted.lock().iter().copied().collect()
    }

    /// Records that these statistics are known, or no longer needed.
    pub fn remove_uncounted(&self, which: (TableId, IndexId)) {
        self.uncounted.lock().remove(&which);
    }

    /// Logs the first failure of a task and its first success after failures; passes the outcome through.
    pub fn note(&self, task: &'static str, outcome: Result<(), Error>) -> Result<(), Error> {
        let mut failing = self.failing.lock();
        match &outcome {
            Err(error) if failing.insert(task) => {
                tracing::error!(task, error = error.message(), "a background task failed; retrying");
            }
            Ok(()) if failing.remove(task) => tracing::warn!(task, "a background task succeeded again"),
            _ => {}
        }
        outcome
    }
}
