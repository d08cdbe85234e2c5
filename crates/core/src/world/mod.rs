//! The world that code runs in: clock, timer, randomness, and the ids made of them.
//!
//! No crate reads the machine's clock or randomness itself. A [`World`] is injected from the top and passed down:
//!
//! ```text
//! settings, options ─► engine, runner, live reads, server, applications
//!   SystemWorld (keyform-world)   the machine's clock, tokio's timer, the operating system's randomness
//!   ManualWorld (its tests)       a clock that moves on request, and wakes sleepers when it does
//! ```
//!
//! `clippy.toml` forbids the functions of the standard library and of tokio that bypass it.

mod ids;
mod ticks;
mod timeout;

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::execute::BoxFuture;

pub use ids::Ulids;
pub use ticks::Ticks;
pub use timeout::{Elapsed, timeout};

/// Clock, timer and randomness.
pub trait World: Send + Sync {
    /// Returns the wall clock in milliseconds since 1970. It may jump.
    fn now_millis(&self) -> i64;

    /// Returns the time since an arbitrary fixed moment; it never goes back. The default suits a world whose wall clock
    /// never jumps.
    fn monotonic(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.now_millis()).unwrap_or(0))
    }

    /// Completes after `time`.
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;

    /// Fills a buffer with random bytes that are fit for keys.
    fn fill(&self, bytes: &mut [u8]);

    /// Returns a new ULID. Those of one world sort in the order in which they were made.
    fn ulid(&self) -> String;

    /// Returns a random UUID.
    fn uuid(&self) -> String {
        ids::uuid(self)
    }

    /// Returns `length` random characters that are easy to type.
    fn code(&self, length: usize) -> String {
        ids::code(self, length)
    }

    /// Returns a random token with this many bytes of entropy, in hexadecimal digits.
    fn token(&self, bytes: usize) -> String {
        ids::token(self, bytes)
    }

    /// Returns a random number in `0.0..=1.0`, which spreads out the retries of concurrent callers.
    fn jitter(&self) -> f64 {
        let mut bytes = [0; 4];
        self.fill(&mut bytes);
        f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX)
    }

    /// Returns how long a thread that waits for `time` may block on a condition variable before it reads the clock
    /// again. Condition variables know only the machine's time, so a world with a time of its own returns a short wait.
    fn blocking_wait(&self, time: Duration) -> Duration {
        time.min(Duration::from_millis(1))
    }
}

impl dyn World + '_ {
    /// Returns random bytes that are fit for keys.
    #[must_use]
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// Returns the wall clock in the type of the standard library.
    #[must_use]
    pub fn system_time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(self.now_millis()).unwrap_or(0))
    }

    /// Completes when the monotonic clock shows `moment`.
    pub fn sleep_until(&self, moment: Duration) -> BoxFuture<'static, ()> {
        self.sleep(moment.saturating_sub(self.monotonic()))
    }
}

impl fmt::Debug for dyn World + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("World")
    }
}
