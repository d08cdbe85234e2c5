//! A counting clock with counting ids, so that every store sees the same calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use keyform::execute::BoxFuture;
use keyform::{SystemWorld, World};

/// A counting clock with counting ids. Tokens contain the stage, because several tests may share an endpoint.
pub struct Counted {
    count: AtomicU64,
    begin_millis: i64,
    is_ticking: bool,
    stage: String,
}

impl Counted {
    /// The clock advances by a millisecond with each id and each reading.
    #[must_use]
    pub fn ticking(begin_millis: i64, stage: String) -> Self {
        Self { count: AtomicU64::new(0), begin_millis, is_ticking: true, stage }
    }

    /// The clock stands still.
    #[must_use]
    pub fn standing(begin_millis: i64, stage: String) -> Self {
        Self { is_ticking: false, ..Self::ticking(begin_millis, stage) }
    }

    fn next(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }
}

impl World for Counted {
    fn now_millis(&self) -> i64 {
        let passed = if self.is_ticking { i64::try_from(self.next()).unwrap() } else { 0 };
        self.begin_millis + passed
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
        format!("01KKP2T8SN{:016}", self.next())
    }

    fn uuid(&self) -> String {
        format!("{:0>21}-{:012x}", self.stage, self.next())
    }

    fn code(&self, length: usize) -> String {
        format!("{:0>length$}", self.next())
    }

    fn token(&self, bytes: usize) -> String {
        format!("{:0>bytes$}", self.next())
    }

    fn jitter(&self) -> f64 {
        0.5
    }
}
