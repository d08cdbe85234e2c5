//! Clock, fresh ids and sleeping, injected into the runner.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keyform_language::bind::Fresh;

/// Future that completes after a delay.
pub type Waiting<'a> = keyform_core::execute::BoxFuture<'a, ()>;

/// Clock, source of ids and timer of a runner. Tests supply deterministic ones.
pub trait Surroundings: Send + Sync {
    /// Returns the current time in milliseconds since 1970.
    fn now_millis(&self) -> i64;

    /// Returns the generator of fresh ids.
    fn fresh(&self) -> &dyn Fresh;

    /// Returns a random number in `0.0..1.0`, which spreads out the retries of concurrent callers.
    fn jitter(&self) -> f64;

    /// Completes after `time`.
    fn sleep(&self, time: Duration) -> Waiting<'_>;
}

/// Fresh ids of one call. A retry gets the same ids again, so that the request stays identical under its token (ADR
/// 0010).
pub(super) struct Remembered<'a> {
    fresh: &'a dyn Fresh,
    given: Mutex<Given>,
}

#[derive(Default)]
struct Given {
    values: Vec<String>,
    next: usize,
}

impl<'a> Remembered<'a> {
    pub(super) fn new(fresh: &'a dyn Fresh) -> Self {
        Self { fresh, given: Mutex::default() }
    }

    /// Starts again at the first id.
    pub(super) fn rewind(&self) {
        self.locked().next = 0;
    }

    fn locked(&self) -> MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn value(&self, make: impl FnOnce() -> String) -> String {
        let mut given = self.locked();
        if given.next == given.values.len() {
            given.values.push(make());
        }
        given.next += 1;
        given.values[given.next - 1].clone()
    }
}

impl Fresh for Remembered<'_> {
    fn ulid(&self) -> String {
        self.value(|| self.fresh.ulid())
    }

    fn uuid(&self) -> String {
        self.value(|| self.fresh.uuid())
    }

    fn code(&self, length: usize) -> String {
        self.value(|| self.fresh.code(length))
    }

    fn token(&self, bytes: usize) -> String {
        self.value(|| self.fresh.token(bytes))
    }
}
