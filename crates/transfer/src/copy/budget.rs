//! Write budget in units per second, shared by all segments of a copy.

use std::sync::Arc;
use std::time::Duration;

use keyform_core::World;
use tokio::sync::Mutex;

const UNIT_BYTES: usize = 1024;

/// Returns the write units of an item: one per started kilobyte.
pub(crate) fn units(bytes: usize) -> u64 {
    bytes.div_ceil(UNIT_BYTES).max(1) as u64
}

/// Rate limiter for write units.
pub(crate) struct Budget {
    per_second: Option<u64>,
    world: Arc<dyn World>,
    /// Time until which the units handed out so far are paid for, in milliseconds.
    paid_until: Mutex<f64>,
}

impl Budget {
    pub(crate) fn new(per_second: Option<u64>, world: Arc<dyn World>) -> Self {
        Self { per_second, world, paid_until: Mutex::new(0.0) }
    }

    /// Waits until the units may be used.
    pub(crate) async fn take(&self, units: u64) {
        let Some(per_second) = self.per_second else { return };
        let mut paid_until = self.paid_until.lock().await;
        let now = self.world.now_millis() as f64;
        let begins = paid_until.max(now);
        *paid_until = begins + units as f64 * 1000.0 / per_second.max(1) as f64;
        drop(paid_until);
        if begins > now {
            self.world.sleep(Duration::from_millis((begins - now) as u64)).await;
        }
    }
}
