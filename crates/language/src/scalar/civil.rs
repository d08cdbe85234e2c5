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

/// Parses ISO 8601 of any precision, in UTC or with an offset; drops what is finer than a millisecond. `None` without a
/// zone, which leaves the time open.
pub(crate) fn iso_millis(text: &str) -> Option<i64> {
    let (body, offset_secs) = match text.strip_suffix('Z') {
        Some(body) => (body, 0),
        None => {
            let (body, zone) = text.split_at_checked(text.len().checked_sub("+02:00".len())?)?;
            (body, offset_secs(zone)?)
        }
    };
    let is_plain = body.len() >= "2026-10-31T07:08".len()
        && body.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            10 => byte == b'T',
            13 | 16 => byte == b':',
            19 => byte == b'.',
            _ => byte.is_ascii_digit(),
        });
    let time: DateTime = body.parse().ok().filter(|_| is_plain)?;
    let millis = i64::try_from(time.duration_since(EPOCH).as_nanos().div_euclid(1_000_000)).ok()? - offset_secs * 1000;
    (FIRST_MILLIS..=LAST_MILLIS).contains(&millis).then_some(millis)
}

/// Parses an offset such as `+02:00`.
fn offset_secs(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let part = |text: &str, below: i64| text.parse::<i64>().ok().filter(|part| (0..below).contains(part));
    Some(sign * (part(hours, 24)? * 3600 + part(minutes, 60)? * 60))
}

/// Decides as [`millis`] does, without computing the time: reads check every stored timestamp.
pub(crate) fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = b"0000-00-00T00:00:00.000Z";
    let is_shaped = bytes.len() == shape.len()
        && bytes
            .iter()
            .zip(shape)
            .all(|(byte, wanted)| if *wanted == b'0' { byte.is_ascii_digit() } else { byte == wanted });
    let number =
        |from: usize, to: usize| bytes[from..to].iter().fold(0, |sum: u32, byte| sum * 10 + u32::from(byte - b'0'));
    is_shaped
        && (1..=days(number(0, 4), number(5, 7))).contains(&number(8, 10))
        && number(11, 13) < 24
        && number(14, 16) < 60
        && number(17, 19) < 60
}

/// Returns the number of days in a month; 0 if there is no such month.
fn days(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    }
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
            assert!(is_timestamp(text), "{text}");
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
            assert!(!is_timestamp(text), "{text}");
        }
    }

    #[test]
    fn both_ways_to_decide_agree() {
        for (year, month, day) in (0..2400)
            .step_by(50)
            .flat_map(|year| (0..14).map(move |month| (year, month)))
            .flat_map(|(year, month)| (0..33).map(move |day| (year, month, day)))
        {
            let text = format!("{year:04}-{month:02}-{day:02}T23:59:59.999Z");
            assert_eq!(is_timestamp(&text), millis(&text).is_some(), "{text}");
        }
    }

    #[test]
    fn other_spellings_of_a_time_are_read() {
        for (text, expected) in [
            ("2026-10-31T07:08:09.123Z", Some("2026-10-31T07:08:09.123Z")),
            ("2026-10-31T07:08:09Z", Some("2026-10-31T07:08:09.000Z")),
            ("2026-10-31T07:08Z", Some("2026-10-31T07:08:00.000Z")),
            ("2026-10-31T07:08:09.123456+00:00", Some("2026-10-31T07:08:09.123Z")),
            ("2026-10-31T01:08:09.5-06:30", Some("2026-10-31T07:38:09.500Z")),
            ("1969-12-31T23:59:59.9999Z", Some("1969-12-31T23:59:59.999Z")),
            ("9999-12-31T23:59:59.999Z", Some("9999-12-31T23:59:59.999Z")),
            ("9999-12-31T23:59:59.999-01:00", None),
            ("2026-10-31T07:08:09", None),
            ("2026-10-31 07:08:09Z", None),
            ("2026-10-31T07:08:09+0000", None),
            ("2026-10-31T07:08:09+24:00", None),
            ("2026-02-30T07:08:09Z", None),
            ("2026-10-31", None),
            ("é", None),
        ] {
            assert_eq!(iso_millis(text).map(timestamp).as_deref(), expected, "{text}");
        }
    }
}
