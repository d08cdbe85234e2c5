//! Fresh ids of one call, remembered for its retries.

use std::sync::{Mutex, MutexGuard, PoisonError};

use keyform_language::bind::Fresh;

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
