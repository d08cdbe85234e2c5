//! Clock and random numbers that a test controls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Env;

/// Deterministic source for tests: the clock moves only on request, and "random" bytes come from a counter.
#[derive(Clone, Debug, Default)]
pub struct ManualEnv {
    now_ms: Arc<AtomicU64>,
    drawn: Arc<AtomicU64>,
}

impl ManualEnv {
    /// Creates a clock that shows `now_ms`.
    pub fn at_ms(now_ms: u64) -> Self {
        Self { now_ms: Arc::new(AtomicU64::new(now_ms)), drawn: Arc::default() }
    }

    /// Moves the clock forward. Clones share the clock.
    pub fn advance_ms(&self, by_ms: u64) {
        self.now_ms.fetch_add(by_ms, Ordering::SeqCst);
    }
}

impl Env for ManualEnv {
    fn now_ms(&self) -> u64 {
        self.now_ms.load(Ordering::SeqCst)
    }

    fn random(&self) -> [u8; 16] {
        let drawn = self.drawn.fetch_add(1, Ordering::SeqCst);
        let high = twox_hash::XxHash3_64::oneshot(&drawn.to_be_bytes());
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&high.to_be_bytes());
        bytes[8..].copy_from_slice(&drawn.to_be_bytes());
        bytes
    }
}
