//! Times as UTC text.

use jiff::Timestamp;

/// Formats seconds since the Unix epoch as `2026-11-16 10:42 UTC`.
pub(crate) fn utc_minute(secs: u64) -> String {
    of_millis(secs.saturating_mul(1000)).strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// Formats milliseconds since the Unix epoch as `2026-11-16T10:42:00.000`.
pub(crate) fn utc_millisecond(millis: u64) -> String {
    of_millis(millis).strftime("%Y-%m-%dT%H:%M:%S.%3f").to_string()
}

/// Returns the time, or the last one that has a date.
fn of_millis(millis: u64) -> Timestamp {
    i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(utc_minute(0), "1970-01-01 00:00 UTC");
        assert_eq!(utc_minute(951_782_400 + 3_723), "2000-02-29 01:02 UTC");
        assert_eq!(utc_millisecond(951_782_400_000 + 3_723_004), "2000-02-29T01:02:03.004");
        assert_eq!(utc_minute(u64::MAX), "9999-12-30 22:00 UTC");
    }
}
