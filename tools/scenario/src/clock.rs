//! A clock that tests set, with the system's ids.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use keyform::execute::BoxFuture;
use keyform::{SystemWorld, World};

/// A clock that stands still until a test moves it. Clones share the time.
#[derive(Clone, Debug)]
pub struct Clock(Arc<AtomicI64>);

impl Clock {
    /// Starts at the system's time.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(AtomicI64::new(SystemWorld.now_millis())))
    }

    /// Moves the clock forward.
    pub fn advance(&self, time: Duration) {
        self.0.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }

    /// Sets the time in milliseconds since 1970.
    pub fn set_millis(&self, millis: i64) {
        self.0.store(millis, Ordering::SeqCst);
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl World for Clock {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Pauses take real time, so their clock is the real one too.
    fn monotonic(&self) -> Duration {
        SystemWorld.monotonic()
    }

    fn sleep(&self, pause: Duration) -> BoxFuture<'static, ()> {
        SystemWorld.sleep(pause)
    }

    fn fill(&self, bytes: &mut [u8]) {
        SystemWorld.fill(bytes);
    }

    fn ulid(&self) -> String {
        SystemWorld.ulid()
    }
}
