//! Rate limit for log lines that clients can trigger: one per second, with the number of suppressed ones.

use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct Seldom {
    /// Moment of the last line on the monotonic clock.
    logged: Option<Duration>,
    unlogged: u64,
}

impl Seldom {
    /// Counts an occurrence. If a line is due, returns the number of occurrences since the last line.
    pub(crate) fn due(&mut self, now: Duration) -> Option<u64> {
        if self.logged.is_some_and(|logged| now.saturating_sub(logged) < INTERVAL) {
            self.unlogged += 1;
            return None;
        }
        self.logged = Some(now);
        Some(std::mem::take(&mut self.unlogged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_one_line_and_a_number() {
        let mut seldom = Seldom::default();
        let due: Vec<_> = [0, 1, 999, 1000, 1001].map(|ms| seldom.due(Duration::from_millis(ms))).into();
        assert_eq!(due, [Some(0), None, None, Some(2), None]);
    }
}
