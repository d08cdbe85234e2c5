//! What a runner takes from the world: the time, fresh ids, and waiting.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keyform_language::bind::Fresh;

/// Time that passes.
pub type Waiting<'a> = keyform_core::execute::BoxFuture<'a, ()>;

/// The time, fresh ids, and waiting.
pub trait Surroundings: Send + Sync {
    /// Milliseconds since 1970.
    fn now_millis(&self) -> i64;

    /// Where fresh ids come from.
    fn fresh(&self) -> &dyn Fresh;

    /// A number in `0.0..1.0`, so that those who try again do not do so at once.
    fn jitter(&self) -> f64;

    /// Waits.
    fn sleep(&self, time: Duration) -> Waiting<'_>;
}

/// The fresh ids of one call: asked again after a failed try, it gives the same ones, so that the request stays the same under its token.
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

    /// From the first one again.
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
