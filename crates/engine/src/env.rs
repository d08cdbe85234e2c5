//! Time and randomness for the engine. Tests provide their own.

#[cfg(any(test, feature = "testing"))]
mod manual;

use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(any(test, feature = "testing"))]
pub use manual::ManualEnv;

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
        getrandom::fill(&mut bytes).expect("the operating system provides randomness");
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
