//! Time and randomness for the engine. Tests provide their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Source of time and randomness.
pub trait Env: Send + Sync {
    /// Returns the time in milliseconds since the Unix epoch.
    fn now_ms(&self) -> u64;

    /// Returns 16 random bytes.
    fn random(&self) -> [u8; 16];
}

/// Clock and random numbers of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEnv;

impl Env for SystemEnv {
    fn now_ms(&self) -> u64 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
    }

    fn random(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system has random numbers");
        bytes
    }
}

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

/// Returns a version 4 UUID made from random bytes.
pub(crate) fn uuid(env: &dyn Env) -> String {
    let mut bytes = env.random();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex::encode(bytes);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
