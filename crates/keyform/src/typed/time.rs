//! Time types: timestamps as text, seconds and milliseconds, and dates.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use keyform_core::{AttributeValue, World as _};
use keyform_language::scalar::Scalar;
use keyform_world::SystemWorld;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{FromAttribute, ToAttribute, WrongText};

/// Value of a `timestamp` field, with millisecond precision, in the years 0 to 9999. Its text is UTC in ISO 8601.
///
/// ```
/// use std::time::Duration;
/// use keyform::Timestamp;
///
/// let at: Timestamp = "2026-10-31T07:08:09.123Z".parse().unwrap();
/// assert_eq!((at + Duration::from_secs(60)).to_string(), "2026-10-31T07:09:09.123Z");
/// assert!(Timestamp::now() > Timestamp::of_millis(0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Returns the current time of the system's clock.
    #[must_use]
    pub fn now() -> Self {
        Self::of_millis(SystemWorld.now_millis())
    }

    /// Creates a timestamp from milliseconds since 1970.
    #[must_use]
    pub const fn of_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since 1970.
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Returns the date in UTC.
    #[must_use]
    pub const fn date(self) -> Date {
        Date(self.0.div_euclid(DAY_MILLIS))
    }
}

fn millis_of(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Self(millis_of(since)),
            Err(before) => Self(-millis_of(before.duration())),
        }
    }
}

impl From<Timestamp> for SystemTime {
    fn from(time: Timestamp) -> Self {
        let distance = Duration::from_millis(time.0.unsigned_abs());
        if time.0 < 0 { UNIX_EPOCH - distance } else { UNIX_EPOCH + distance }
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0.saturating_add(millis_of(time)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(millis_of(time)))
    }
}

/// Formats a time as its scalar stores it.
fn text(scalar: Scalar, millis: i64) -> String {
    scalar.time().map(|time| (time.write)(millis)).unwrap_or_default()
}

/// Parses a time as its scalar stores it, as milliseconds since 1970.
fn millis(scalar: Scalar, text: &str) -> Option<i64> {
    scalar.time().and_then(|time| (time.read)(text))
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(Scalar::Timestamp, self.0))
    }
}

impl FromStr for Timestamp {
    type Err = WrongText;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        millis(Scalar::Timestamp, text)
            .map(Self)
            .ok_or_else(|| WrongText::new(text, "a time such as 2026-10-31T12:00:00.000Z"))
    }
}

const DAY_MILLIS: i64 = 86_400_000;

/// Value of a `date` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i64);

impl Date {
    /// Returns the current date in UTC.
    #[must_use]
    pub fn today() -> Self {
        Timestamp::now().date()
    }

    /// Creates a date from days since 1970.
    #[must_use]
    pub const fn of_days(days: i64) -> Self {
        Self(days)
    }

    /// Returns the days since 1970.
    #[must_use]
    pub const fn days(self) -> i64 {
        self.0
    }

    /// Returns midnight UTC at the start of the day.
    #[must_use]
    pub const fn start(self) -> Timestamp {
        Timestamp(self.0.saturating_mul(DAY_MILLIS))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(Scalar::Date, self.start().0))
    }
}

impl FromStr for Date {
    type Err = WrongText;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let millis = millis(Scalar::Date, text);
        millis.map(|millis| Timestamp(millis).date()).ok_or_else(|| WrongText::new(text, "a date such as 2026-10-31"))
    }
}

/// Implements a type that is stored and serialized as its text.
macro_rules! as_text {
    ($name:ident) => {
        impl ToAttribute for $name {
            fn to_attribute(&self) -> Option<AttributeValue> {
                Some(self.to_string().into())
            }
        }

        impl FromAttribute for $name {
            fn from_attribute(value: AttributeValue) -> Option<Self> {
                String::from_attribute(value)?.parse().ok()
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

as_text!(Timestamp);
as_text!(Date);

/// Defines a timestamp type that is stored as a number.
macro_rules! as_number {
    ($(#[$doc:meta])* $name:ident, $millis:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl From<Timestamp> for $name {
            fn from(time: Timestamp) -> Self {
                Self(time.0.div_euclid($millis))
            }
        }

        impl From<SystemTime> for $name {
            fn from(time: SystemTime) -> Self {
                Timestamp::from(time).into()
            }
        }

        impl From<$name> for Timestamp {
            fn from(time: $name) -> Self {
                Self(time.0.saturating_mul($millis))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl ToAttribute for $name {
            fn to_attribute(&self) -> Option<AttributeValue> {
                self.0.to_attribute()
            }
        }

        impl FromAttribute for $name {
            fn from_attribute(value: AttributeValue) -> Option<Self> {
                i64::from_attribute(value).map(Self)
            }
        }
    };
}

as_number!(
    /// Value of an `epoch` field: seconds since 1970.
    Epoch,
    1000
);
as_number!(
    /// Value of an `epoch_ms` field: milliseconds since 1970.
    EpochMs,
    1
);
