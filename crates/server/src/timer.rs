//! hyper's timer on the server's world.
//!
//! hyper makes a sleep for the head of each request and drops it when the head has arrived. The sleep of the world is
//! kept for the next request of the connection: when it ends too early, it is started again for the rest. A connection
//! thus arms one timer per timeout instead of one per request.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt;
use keyform_core::World;
use keyform_core::execute::BoxFuture;
use keyform_world::monotonic_origin;

/// Timer of one connection.
pub(crate) struct Timer {
    world: Arc<dyn World>,
    running: Arc<Mutex<Option<Running>>>,
}

/// Sleep of the world that ends at a moment of the monotonic clock.
struct Running {
    end: Duration,
    sleep: BoxFuture<'static, ()>,
}

impl Timer {
    pub(crate) fn new(world: Arc<dyn World>) -> Self {
        Self { world, running: Arc::default() }
    }

    fn sleep_to(&self, deadline: Duration) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(Sleep { world: self.world.clone(), deadline, running: self.running.clone() })
    }
}

impl rt::Timer for Timer {
    fn sleep(&self, time: Duration) -> Pin<Box<dyn rt::Sleep>> {
        self.sleep_to(self.world.monotonic() + time)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn rt::Sleep>> {
        self.sleep_to(deadline.saturating_duration_since(monotonic_origin()))
    }

    fn now(&self) -> Instant {
        monotonic_origin() + self.world.monotonic()
    }
}

struct Sleep {
    world: Arc<dyn World>,
    /// Moment on the monotonic clock.
    deadline: Duration,
    /// Shared by the sleeps of the connection. hyper uses one at a time.
    running: Arc<Mutex<Option<Running>>>,
}

impl rt::Sleep for Sleep {}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut running: MutexGuard<'_, Option<Running>> = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        while self.world.monotonic() < self.deadline {
            let reused = running.take().filter(|running| running.end <= self.deadline);
            let current = running.insert(
                reused.unwrap_or_else(|| Running { end: self.deadline, sleep: self.world.sleep_until(self.deadline) }),
            );
            ready!(current.sleep.as_mut().poll(cx));
            *running = None;
        }
        Poll::Ready(())
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use hyper::rt::Timer as _;
    use keyform_world::testing::ManualWorld;

    use super::*;

    fn is_over(sleep: &mut Pin<Box<dyn rt::Sleep>>) -> bool {
        sleep.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn the_sleep_of_an_earlier_request_serves_the_next_one() {
        let world = ManualWorld::at_ms(5_000);
        let timer = Timer::new(Arc::new(world.clone()));
        let mut first = timer.sleep_until(timer.now() + Duration::from_secs(10));
        assert!(!is_over(&mut first));
        drop(first);
        world.advance(Duration::from_secs(9));
        let mut second = timer.sleep_until(timer.now() + Duration::from_secs(10));
        assert!(!is_over(&mut second));
        assert_eq!(world.asleep(), [Duration::from_secs(1)]);
        world.advance(Duration::from_secs(9));
        assert!(!is_over(&mut second));
        assert_eq!(world.asleep(), [Duration::from_secs(1)]);
        world.advance(Duration::from_secs(1));
        assert!(is_over(&mut second));
    }

    #[test]
    fn a_sleep_with_an_earlier_deadline_starts_its_own() {
        let world = ManualWorld::default();
        let timer = Timer::new(Arc::new(world.clone()));
        assert!(!is_over(&mut timer.sleep(Duration::from_secs(60))));
        let mut short = timer.sleep(Duration::from_secs(2));
        assert!(!is_over(&mut short));
        world.advance(Duration::from_secs(2));
        assert!(is_over(&mut short));
    }
}
