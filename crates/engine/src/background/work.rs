//! What operations and the background thread tell each other.

use std::collections::BTreeSet;
use std::time::Duration;

use keyform_core::Error;
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::layout::{IndexId, TableId};

/// Signals, and what is left to do.
#[derive(Debug, Default)]
pub(crate) struct Work {
    signal: Mutex<Signal>,
    changed: Condvar,
    /// Held while a pass goes on.
    pass: Mutex<()>,
    uncounted: Mutex<BTreeSet<(TableId, IndexId)>>,
    /// The tasks that failed when they were last tried.
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
    /// Says that there is something to do.
    pub fn wake(&self) {
        self.signal.lock().woken = true;
        self.changed.notify_all();
    }

    /// Says that nothing more is to be done.
    pub fn stop(&self) {
        self.signal.lock().stopping = true;
        self.changed.notify_all();
    }

    /// Says that the database is closed; tells whether it was not before.
    pub fn close(&self) -> bool {
        !std::mem::replace(&mut self.signal.lock().closed, true)
    }

    /// Whether work is to end soon.
    pub fn is_stopping(&self) -> bool {
        self.signal.lock().stopping
    }

    /// Waits until there is something to do or the interval is over; tells whether to go on.
    pub fn wait(&self, interval: Duration) -> bool {
        let mut signal = self.signal.lock();
        if !signal.woken && !signal.stopping {
            self.changed.wait_for(&mut signal, interval);
        }
        signal.woken = false;
        !signal.stopping
    }

    /// Waits for the pass that goes on, and keeps others out.
    pub fn begin_pass(&self) -> MutexGuard<'_, ()> {
        self.pass.lock()
    }

    /// Whether enough time has passed since this was last answered with yes.
    pub fn is_trim_due(&self, now_ms: u64, interval_ms: u64) -> bool {
        let mut trimmed_ms = self.trimmed_ms.lock();
        let due = now_ms >= trimmed_ms.saturating_add(interval_ms);
        if due {
            *trimmed_ms = now_ms;
        }
        due
    }

    /// Notes statistics that are not known.
    pub fn add_uncounted(&self, table: TableId, index: IndexId) {
        self.uncounted.lock().insert((table, index));
    }

    /// The statistics that are not known; they stay noted.
    pub fn uncounted(&self) -> Vec<(TableId, IndexId)> {
        self.uncounted.lock().iter().copied().collect()
    }

    /// Notes that these statistics are known, or not needed.
    pub fn remove_uncounted(&self, which: (TableId, IndexId)) {
        self.uncounted.lock().remove(&which);
    }

    /// Logs that a task fails, or succeeds again, where that is news.
    pub fn note(&self, task: &'static str, outcome: Result<(), Error>) -> Result<(), Error> {
        let mut failing = self.failing.lock();
        match &outcome {
            Err(error) if failing.insert(task) => {
                tracing::error!(task, error = error.message(), "a background task failed; it is retried");
            }
            Ok(()) if failing.remove(task) => tracing::warn!(task, "a background task succeeded again"),
            _ => {}
        }
        outcome
    }
}
