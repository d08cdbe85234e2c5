//! Timestamps in the format of signatures, such as `20150830T123600Z`.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

const FORMAT: &str = "%Y%m%dT%H%M%SZ";

/// Seconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u64);

impl Moment {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (day, time) = text.strip_suffix('Z')?.split_once('T')?;
        if day.len() != 8 || time.len() != 6 || !(day.bytes().chain(time.bytes())).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let part = |text: &str, start: usize| text[start..start + 2].parse::<i8>().ok();
        let date = Date::new(day[..4].parse().ok()?, part(day, 4)?, part(day, 6)?).ok()?;
        let time = Time::new(part(time, 0)?, part(time, 2)?, part(time, 4)?, 0).ok()?;
        let time = TimeZone::UTC.to_timestamp(date.to_datetime(time)).ok()?;
        u64::try_from(time.as_second()).ok().map(Self)
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
        let time = i64::try_from(self.0).ok().and_then(|second| Timestamp::from_second(second).ok());
        write!(f, "{}", time.unwrap_or(Timestamp::MAX).strftime(FORMAT))
    }
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
            let moment = Moment(day * 24 * 60 * 60 + 7);
            assert_eq!(Moment::parse(&moment.to_string()), Some(moment));
        }
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "20150830",
            "20150830T1236Z",
            "2015-08-30T12:36:00Z",
            "20151330T123600Z",
            "20150830T250000Z",
            "20150229T123600Z",
            "19691231T235959Z",
            "+2015830T123600Z",
            " 2015830T123600Z",
            "20150830t123600z",
            "20150830T123600é",
        ] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
