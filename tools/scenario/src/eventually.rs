//! Waits for an index that lags behind.

#![expect(clippy::disallowed_methods, reason = "other stores catch up in real time")]

use std::fmt::Debug;
use std::time::{Duration, Instant};

/// Maximum time that an index may lag behind.
pub(crate) const LAG_MAX: Duration = Duration::from_secs(20);

/// Repeats a read until the result is as expected: on some stores an index lags behind its table.
///
/// # Panics
/// Panics if the result does not appear in time.
pub async fn eventually<T: PartialEq + Debug>(expected: T, read: impl AsyncFn() -> T) {
    let start = Instant::now();
    loop {
        let found = read().await;
        if found == expected {
            return;
        }
        assert!(start.elapsed() < LAG_MAX, "{found:?} is not {expected:?}, and does not become it");
        tokio::task::yield_now().await;
    }
}
