//! Timestamps and dates in UTC with four-digit years, as milliseconds since 1970.
//!
//! `jiff` knows the calendar; this file keeps the one spelling that sorts by time. It computes with civil times, because
//! `jiff::Timestamp` ends a day before the year 9999 does, and `9999-12-31T23:59:59.999Z` is a common "never".

use jiff::SignedDuration;
use jiff::civil::DateTime;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
/// 0000-01-01T00:00:00.000Z
const FIRST_MILLIS: i64 = -62_167_219_200_000;
/// 9999-12-31T23:59:59.999Z
const LAST_MILLIS: i64 = 253_402_300_799_999;

/// Formats a time as `2026-10-31T07:08:09.123Z`. A time outside the years 0 to 9999, which has no such form, becomes the
/// nearest one that has.
pub(crate) fn timestamp(millis: i64) -> String {
    let since = SignedDuration::from_millis(millis.clamp(FIRST_MILLIS, LAST_MILLIS));
    let time = EPOCH.checked_add(since).expect("the years 0 to 9999 are within the range of civil times");
    format!("{time:.3}Z")
}

/// Formats the date of a time as `2026-10-31`.
pub(crate) fn date(millis: i64) -> String {
    let mut text = timestamp(millis);
    text.truncate("2026-10-31".len());
    text
}

/// Parses a timestamp; `None` if the text is not one in the form of [`timestamp`].
pub(crate) fn millis(text: &str) -> Option<i64> {
    let time: DateTime = text.strip_suffix('Z')?.parse().ok()?;
    let millis = i64::try_from(time.duration_since(EPOCH).as_millis()).ok()?;
    // The parser accepts further spellings, such as a space instead of the `T`.
    (timestamp(millis) == text).then_some(millis)
}

/// Parses a date as the time of its start; `None` if the text is not one in the form of [`date`].
pub(crate) fn day_millis(text: &str) -> Option<i64> {
    millis(&format!("{text}T00:00:00.000Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MILLIS: i64 = 86_400_000;

    #[test]
    fn timestamps_and_millis_are_each_others_inverse() {
        for (text, number) in [
            ("0000-01-01T00:00:00.000Z", FIRST_MILLIS),
            ("1969-12-31T23:59:59.999Z", -1),
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T23:59:59.999Z", 951_868_799_999),
            ("2026-10-31T07:08:09.123Z", 1_793_430_489_123),
            ("9999-12-31T23:59:59.999Z", LAST_MILLIS),
        ] {
            assert_eq!(millis(text), Some(number));
            assert_eq!(timestamp(number), text);
        }
        for day in (-700_000..2_900_000).step_by(97) {
            assert_eq!(millis(&timestamp(day * DAY_MILLIS)), Some(day * DAY_MILLIS));
        }
    }

    #[test]
    fn times_outside_the_years_become_the_nearest_one() {
        for (number, text) in [
            (i64::MIN, "0000-01-01T00:00:00.000Z"),
            (FIRST_MILLIS - 1, "0000-01-01T00:00:00.000Z"),
            (LAST_MILLIS + 1, "9999-12-31T23:59:59.999Z"),
            (i64::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(timestamp(number), text);
        }
    }

    #[test]
    fn only_one_spelling_is_a_timestamp() {
        for text in [
            "",
            "2026-04-30",
            "2026-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-04-31T00:00:00.000Z",
            "2026-04-30T24:00:00.000Z",
            "2026-04-30T23:59:60.000Z",
            "2026-04-30T00:00:00Z",
            "2026-04-30T00:00:00.00Z",
            "2026-04-30T00:00:00.0000Z",
            "2026-04-30T00:00:00.000z",
            "2026-04-30t00:00:00.000Z",
            "2026-04-30 00:00:00.000Z",
            "2026-04-30T00:00:00.000+00:00",
            "2026-04-30T00:00:00,000Z",
            "20260430T000000.000Z",
            "+002026-04-30T00:00:00.000Z",
            "-000001-04-30T00:00:00.000Z",
            "10000-01-01T00:00:00.000Z",
            " 2026-04-30T00:00:00.000Z",
            "2026-04-30T00:00:00.000[UTC]Z",
        ] {
            assert_eq!(millis(text), None, "{text}");
        }
    }
}
