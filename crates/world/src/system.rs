//! The machine's clock, timer and randomness. Everything else gets them through [`World`].

#![expect(clippy::disallowed_methods, reason = "the one place where the real clock, timer and randomness are read")]

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use keyform_core::World;
use keyform_core::execute::BoxFuture;
use keyform_core::world::Ulids;
use tokio::task::coop::unconstrained;

/// Moment that the monotonic clock of this process counts from.
static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
/// All values of [`SystemWorld`] are one world, so they share one sequence of ULIDs.
static ULIDS: Ulids = Ulids::new();

/// The machine's clock, tokio's timer and the operating system's randomness.
///
/// [`World::sleep`] needs a tokio runtime with a timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemWorld;

/// Returns the real world, for settings that take a shared one.
#[must_use]
pub fn system() -> Arc<dyn World> {
    Arc::new(SystemWorld)
}

/// Returns the moment that [`World::monotonic`] of the real world counts from, for libraries whose interface is
/// [`Instant`].
#[must_use]
pub fn monotonic_origin() -> Instant {
    *ORIGIN
}

impl SystemWorld {
    /// Blocks the thread for `time`.
    pub fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

impl World for SystemWorld {
    fn now_millis(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn monotonic(&self) -> Duration {
        let origin = *ORIGIN;
        Instant::now().saturating_duration_since(origin)
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        // A task that has used up its turn must still notice its deadline, so a sleep does not count as work.
        Box::pin(unconstrained(tokio::time::sleep(time)))
    }

    /// # Panics
    /// If the operating system has no randomness: no key or id could be trusted.
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system has randomness");
    }

    fn ulid(&self) -> String {
        ULIDS.next(self)
    }

    fn blocking_wait(&self, time: Duration) -> Duration {
        time
    }
}

#[cfg(test)]
mod tests {
    use keyform_core::world::{Elapsed, timeout};

    use super::*;

    #[test]
    fn ids_look_as_they_should_and_differ() {
        let (one, other) = (SystemWorld.ulid(), SystemWorld.ulid());
        assert_eq!((one.len(), &one[..7]), (26, &other[..7]));
        assert!(one < other);
        assert_eq!(SystemWorld.uuid().len(), 36);
        assert_ne!(SystemWorld.uuid(), SystemWorld.uuid());
        assert_eq!((SystemWorld.code(10).len(), SystemWorld.token(32).len()), (10, 64));
    }

    #[tokio::test]
    async fn work_that_is_always_ready_ends_at_its_deadline() {
        let endless = async {
            while std::hint::black_box(true) {
                tokio::task::coop::consume_budget().await;
            }
        };
        assert_eq!(timeout(&SystemWorld, Duration::from_millis(5), endless).await, Err(Elapsed));
    }

    #[test]
    fn the_monotonic_clock_does_not_go_back() {
        let first = SystemWorld.monotonic();
        assert!(SystemWorld.monotonic() >= first);
    }
}
