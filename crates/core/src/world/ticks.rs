//! Periodic ticks.

use std::sync::Arc;
use std::time::Duration;

use super::World;
use crate::execute::BoxFuture;

/// Ticks at an interval. A tick that is taken late delays the next one and causes no burst.
pub struct Ticks {
    world: Arc<dyn World>,
    every: Duration,
    /// Moment of the next tick on the monotonic clock.
    next: Duration,
    /// Timer of the next tick. It outlives a `tick` that was cancelled, so a loop with several events arms it once.
    timer: Option<BoxFuture<'static, ()>>,
}

impl Ticks {
    /// Ticks at once, and then every `every`.
    #[must_use]
    pub fn at_once(world: Arc<dyn World>, every: Duration) -> Self {
        let next = world.monotonic();
        Self { world, every, next, timer: None }
    }

    /// Ticks every `every`, the first time after one interval.
    #[must_use]
    pub fn after_interval(world: Arc<dyn World>, every: Duration) -> Self {
        let next = world.monotonic() + every;
        Self { world, every, next, timer: None }
    }

    /// Completes at the next tick. A cancelled call loses no tick.
    pub async fn tick(&mut self) {
        let (world, next) = (&self.world, self.next);
        self.timer.get_or_insert_with(|| world.sleep_until(next)).as_mut().await;
        self.timer = None;
        self.next = self.world.monotonic() + self.every;
    }
}
