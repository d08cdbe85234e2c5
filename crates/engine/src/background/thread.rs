//! The thread that runs background passes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use keyform_core::Error;
use parking_lot::Mutex;

use crate::engine::Engine;

/// Name of a whole pass in the log.
const PASS: &str = "background pass";
/// Longest pause after failed passes, unless the interval is longer.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Handle of the background thread.
pub struct Background {
    engine: Arc<Engine>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Background {
    /// Starts the thread. Without an interval it starts none, and work runs only in [`Background::run_now`].
    pub fn start(engine: Arc<Engine>, interval: Option<Duration>) -> Self {
        let thread = interval.and_then(|interval| spawn(Arc::clone(&engine), interval));
        Self { engine, thread: Mutex::new(thread) }
    }

    /// Runs a full pass now.
    ///
    /// # Errors
    /// The first failure of a task.
    pub fn run_now(&self) -> Result<(), Error> {
        let _pass = self.engine.work.begin_pass();
        self.engine.work_once(true)
    }

    /// Asks the thread to stop and waits for it; a pass in progress ends after its current step.
    pub fn stop(&self) {
        self.engine.work.stop();
        let joined = self.thread.lock().take().map(JoinHandle::join);
        if joined.is_some_and(|ended| ended.is_err()) {
            tracing::error!("the background thread ended unexpectedly");
        }
    }
}

fn spawn(engine: Arc<Engine>, interval: Duration) -> Option<JoinHandle<()>> {
    match thread::Builder::new().name("background".to_owned()).spawn(move || run(&engine, interval)) {
        Ok(thread) => Some(thread),
        Err(error) => {
            tracing::error!(%error, "cannot start the background thread: items do not expire, indexes are not \
                backfilled");
            None
        }
    }
}

fn run(engine: &Engine, interval: Duration) {
    let mut failures = 0;
    engine.work.wake();
    while engine.work.wait(&*engine.world, pause(interval, failures)) {
        let _pass = engine.work.begin_pass();
        let done = match catch_unwind(AssertUnwindSafe(|| engine.work_once(false))) {
            Ok(done) => engine.work.note(PASS, Ok(())).and(done),
            Err(_) => engine.work.note(PASS, Err(Error::internal("it panicked; the message is in the log"))),
        };
        failures = if done.is_ok() { 0 } else { failures + 1 };
    }
}

/// Doubles the pause with each failure: a failing pass may read much data before it fails.
fn pause(interval: Duration, failures: u32) -> Duration {
    let longest = PAUSE_MAX.max(interval);
    interval.saturating_mul(1 << failures.min(16)).min(longest)
}
