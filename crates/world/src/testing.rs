//! A world that tests control: its clock moves on request, sleepers wake when it does, and its randomness is a
//! sequence.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use keyform_core::World;
use keyform_core::execute::BoxFuture;
use keyform_core::world::Ulids;
use twox_hash::XxHash3_64;

/// World with a clock that moves only on request. Clones are the same world.
///
/// A test moves the clock with [`ManualWorld::advance`]. Code that sleeps then runs on its own threads, so the test
/// waits for what the code does, not for time. [`ManualWorld::asleep`] shows who sleeps, so that a test can move the
/// clock when the code under test has begun to wait.
#[derive(Clone, Debug, Default)]
pub struct ManualWorld(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    ulids: Ulids,
}

#[derive(Debug, Default)]
struct State {
    now: Duration,
    /// Number of drawn random blocks.
    drawn: u64,
    next_sleeper: u64,
    /// Sleepers by the moment at which they wake.
    sleepers: BTreeMap<(Duration, u64), Waker>,
}

impl ManualWorld {
    /// Creates a world whose clock shows `millis` since 1970.
    #[must_use]
    pub fn at_ms(millis: u64) -> Self {
        let world = Self::default();
        world.state().now = Duration::from_millis(millis);
        world
    }

    /// Moves the clock forward and wakes all whose time has come.
    pub fn advance(&self, time: Duration) {
        let mut state = self.state();
        state.now += time;
        let first_later = (state.now + Duration::from_nanos(1), 0);
        let later = state.sleepers.split_off(&first_later);
        let due = std::mem::replace(&mut state.sleepers, later);
        drop(state);
        due.into_values().for_each(Waker::wake);
    }

    /// Moves the clock forward by milliseconds.
    pub fn advance_ms(&self, millis: u64) {
        self.advance(Duration::from_millis(millis));
    }

    /// Returns the remaining times of all sleepers, the shortest first.
    #[must_use]
    pub fn asleep(&self) -> Vec<Duration> {
        let state = self.state();
        state.sleepers.keys().map(|(until, _)| until.saturating_sub(state.now)).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl World for ManualWorld {
    fn now_millis(&self) -> i64 {
        i64::try_from(self.state().now.as_millis()).unwrap_or(i64::MAX)
    }

    fn monotonic(&self) -> Duration {
        self.state().now
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        let mut state = self.state();
        state.next_sleeper += 1;
        let place = (state.now.saturating_add(time), state.next_sleeper);
        Box::pin(Sleep { world: self.clone(), place })
    }

    fn fill(&self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(16) {
            let mut state = self.state();
            let drawn = state.drawn;
            state.drawn += 1;
            let mut block = [0; 16];
            block[..8].copy_from_slice(&XxHash3_64::oneshot(&drawn.to_be_bytes()).to_be_bytes());
            block[8..].copy_from_slice(&drawn.to_be_bytes());
            part.copy_from_slice(&block[..part.len()]);
        }
    }

    fn ulid(&self) -> String {
        self.0.ulids.next(self)
    }
}

/// Sleeper, registered from its first poll until it wakes or is dropped.
struct Sleep {
    world: ManualWorld,
    place: (Duration, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.world.state();
        if state.now >= self.place.0 {
            return Poll::Ready(());
        }
        state.sleepers.insert(self.place, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.world.state().sleepers.remove(&self.place);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Wake;

    use keyform_core::world::{Elapsed, Ticks, timeout};

    use super::*;

    struct Bell(Mutex<u32>);

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            *self.0.lock().unwrap() += 1;
        }
    }

    fn poll<T>(future: &mut Pin<Box<impl Future<Output = T> + ?Sized>>) -> Poll<T> {
        future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn sleepers_wake_when_the_clock_has_moved_far_enough() {
        let world = ManualWorld::at_ms(1_000);
        let bell = Arc::new(Bell(Mutex::new(0)));
        let waker = Waker::from(bell.clone());
        let mut sleep = world.sleep(Duration::from_secs(5));
        assert!(sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(world.asleep(), [Duration::from_secs(5)]);
        world.advance(Duration::from_secs(4));
        assert_eq!((*bell.0.lock().unwrap(), world.asleep()), (0, vec![Duration::from_secs(1)]));
        world.advance(Duration::from_secs(1));
        assert_eq!((*bell.0.lock().unwrap(), world.now_millis()), (1, 6_000));
        assert!(poll(&mut sleep).is_ready() && world.asleep().is_empty());
    }

    #[test]
    fn a_dropped_sleeper_is_forgotten() {
        let world = ManualWorld::default();
        let mut sleep = world.sleep(Duration::from_secs(5));
        assert!(poll(&mut sleep).is_pending());
        drop(sleep);
        assert!(world.asleep().is_empty());
    }

    #[test]
    fn a_timeout_ends_work_at_its_limit_and_needs_no_timer_before() {
        let world = ManualWorld::default();
        let mut done = Box::pin(timeout(&world, Duration::from_secs(1), async { 7 }));
        assert_eq!(poll(&mut done), Poll::Ready(Ok(7)));
        let mut never = Box::pin(timeout(&world, Duration::from_secs(1), std::future::pending::<()>()));
        assert!(poll(&mut never).is_pending());
        world.advance(Duration::from_secs(1));
        assert_eq!(poll(&mut never), Poll::Ready(Err(Elapsed)));
    }

    #[test]
    fn late_ticks_cause_no_burst_and_cancelled_ones_are_not_lost() {
        let world = ManualWorld::default();
        let mut ticks = Ticks::after_interval(Arc::new(world.clone()), Duration::from_secs(10));
        assert!(poll(&mut Box::pin(ticks.tick())).is_pending());
        world.advance(Duration::from_secs(35));
        assert!(poll(&mut Box::pin(ticks.tick())).is_ready());
        assert!(poll(&mut Box::pin(ticks.tick())).is_pending());
        assert_eq!(world.asleep(), [Duration::from_secs(10)]);
    }

    #[test]
    fn randomness_is_a_sequence() {
        let (one, other) = (ManualWorld::default(), ManualWorld::default());
        let drawn = |world: &ManualWorld| (world.token(20), world.uuid());
        assert_eq!(drawn(&one), drawn(&other));
        assert_ne!(drawn(&one), drawn(&ManualWorld::default()));
    }
}
