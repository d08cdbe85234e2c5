//! Timestamps in the format of signatures, such as `20150830T123600Z`.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY_SECS: u64 = 24 * 60 * 60;

/// Seconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u64);

impl Moment {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (day, time) = text.strip_suffix('Z')?.split_once('T')?;
        if day.len() != 8 || time.len() != 6 || !(day.bytes().chain(time.bytes())).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (day, time): (u64, u64) = (day.parse().ok()?, time.parse().ok()?);
        let (year, month, day) = (day / 10_000, day / 100 % 100, day % 100);
        let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100);
        let known = (1970..).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
        let known = known && hour < 24 && minute < 60 && second < 61;
        known.then(|| Self(days(year, month, day) * DAY_SECS + hour * 3600 + minute * 60 + second))
    }

    pub(super) fn plus(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time.as_secs()))
    }

    pub(super) fn minus(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(time.as_secs()))
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        Self(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.0 / DAY_SECS);
        let second = self.0 % DAY_SECS;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
    }
}

/// Returns the days from 1970 to a date. Years start in March, so that the leap day is the last day of a year.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let before_march_first_of_year_zero = 719_468;
    year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - before_march_first_of_year_zero
}

/// Returns the date of a day since 1970. The first guess of the year may be too low and is then corrected.
fn civil(day: u64) -> (u64, u64, u64) {
    let mut year = 1970 + day / 366;
    while days(year + 1, 1, 1) <= day {
        year += 1;
    }
    let mut month = 12;
    while days(year, month, 1) > day {
        month -= 1;
    }
    (year, month, day - days(year, month, 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_read_and_printed() {
        for (text, second) in [
            ("19700101T000000Z", 0),
            ("20000229T235959Z", 951_868_799),
            ("20150830T123600Z", 1_440_938_160),
            ("20240301T000000Z", 1_709_251_200),
            ("21000301T000000Z", 4_107_542_400),
        ] {
            assert_eq!(Moment::parse(text), Some(Moment(second)));
            assert_eq!(Moment(second).to_string(), text);
        }
    }

    #[test]
    fn every_day_of_a_century_is_printed_as_it_is_read() {
        for day in 0..36_525 {
            let moment = Moment(day * DAY_SECS + 7);
            assert_eq!(Moment::parse(&moment.to_string()), Some(moment));
        }
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in ["", "20150830", "20150830T1236Z", "2015-08-30T12:36:00Z", "20151330T123600Z", "20150830T250000Z"] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
