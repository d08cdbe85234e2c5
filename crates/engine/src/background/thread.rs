//! The thread that makes passes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use keyform_core::Error;
use parking_lot::Mutex;

use crate::engine::Engine;

/// The thread that does the work.
pub struct Background {
    engine: Arc<Engine>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Background {
    /// Starts the thread; without an interval there is none, and work is only done when it is asked for.
    pub fn start(engine: Arc<Engine>, interval: Option<Duration>) -> Self {
        let thread = interval.and_then(|interval| spawn(Arc::clone(&engine), interval));
        Self { engine, thread: Mutex::new(thread) }
    }

    /// Does all there is to do now.
    ///
    /// # Errors
    /// When the store fails.
    pub fn run_now(&self) -> Result<(), Error> {
        let _pass = self.engine.work.begin_pass();
        self.engine.work_once(true)
    }

    /// Ends the thread, soon.
    pub fn stop(&self) {
        self.engine.work.stop();
        let joined = self.thread.lock().take().map(JoinHandle::join);
        if joined.is_some_and(|ended| ended.is_err()) {
            self.engine.work.fail("the background thread ended by itself".to_owned());
        }
    }
}

fn spawn(engine: Arc<Engine>, interval: Duration) -> Option<JoinHandle<()>> {
    let work = Arc::clone(&engine);
    match thread::Builder::new().name("background".to_owned()).spawn(move || run(&engine, interval)) {
        Ok(thread) => Some(thread),
        Err(error) => {
            work.work.fail(format!("the background thread could not be started: {error}"));
            None
        }
    }
}

fn run(engine: &Engine, interval: Duration) {
    engine.work.wake();
    while engine.work.wait(interval) {
        let _pass = engine.work.begin_pass();
        match catch_unwind(AssertUnwindSafe(|| engine.work_once(false))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => engine.work.fail(error.message().to_owned()),
            Err(_) => engine.work.fail("background work panicked; its message is in the log".to_owned()),
        }
    }
}
