//! Everything the engine does not decide itself: the time and chance. Tests bring their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where time and chance come from.
pub trait Env: Send + Sync {
    /// The time, in milliseconds of the Unix epoch.
    fn now_ms(&self) -> u64;

    /// Sixteen random bytes.
    fn random(&self) -> [u8; 16];
}

/// The machine's clock and random numbers.
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

/// A clock that stands still until it is moved, and random numbers that are counted.
#[derive(Clone, Debug, Default)]
pub struct ManualEnv {
    now_ms: Arc<AtomicU64>,
    drawn: Arc<AtomicU64>,
}

impl ManualEnv {
    /// A clock that shows that time.
    pub fn at_ms(now_ms: u64) -> Self {
        Self { now_ms: Arc::new(AtomicU64::new(now_ms)), drawn: Arc::default() }
    }

    /// Moves the clock.
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

/// Random bytes in the form of a version 4 UUID.
pub(crate) fn uuid(env: &dyn Env) -> String {
    let mut bytes = env.random();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
