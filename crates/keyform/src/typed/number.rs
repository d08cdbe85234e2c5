//! Numeric types besides `i64`: decimals and money.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};
use std::str::FromStr;

use keyform_core::value::NumberError;
use keyform_core::{AttributeValue, Number};
use keyform_runtime::run::json;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{FromAttribute, ToAttribute};

/// Value of a `number` field: a decimal of up to 38 digits. In JSON a number, or a string where a number would lose
/// digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(pub Number);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Decimal {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl From<i64> for Decimal {
    fn from(number: i64) -> Self {
        Self(number.into())
    }
}

impl From<Number> for Decimal {
    fn from(number: Number) -> Self {
        Self(number)
    }
}

impl From<Decimal> for Number {
    fn from(decimal: Decimal) -> Self {
        decimal.0
    }
}

impl TryFrom<f64> for Decimal {
    type Error = NumberError;

    /// Converts to the shortest decimal that parses to the same number.
    fn try_from(number: f64) -> Result<Self, Self::Error> {
        number.to_string().parse().map(Self)
    }
}

impl ToAttribute for Decimal {
    fn to_attribute(&self) -> Option<AttributeValue> {
        Some(self.0.into())
    }
}

impl FromAttribute for Decimal {
    fn from_attribute(value: AttributeValue) -> Option<Self> {
        match value {
            AttributeValue::N(number) => Some(Self(number)),
            _ => None,
        }
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json::to_json(&self.0.into()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::Number(number) => number.to_string(),
            serde_json::Value::String(text) => text,
            _ => return Err(serde::de::Error::custom("expected a number")),
        };
        digits.parse().map_err(|_| serde::de::Error::custom(format!("`{digits}` is not a number")))
    }
}

/// Nano-units per unit.
const UNIT: i128 = 1_000_000_000;

/// Value of a `money` field, in whole nano-units. The currency is a separate field.
///
/// ```
/// use keyform::Money;
///
/// let price = Money::of_cents(1299);
/// assert_eq!((price + Money::of_units(1)).to_string(), "13.99");
/// assert_eq!(price.nanos(), 12_990_000_000);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(i128);

impl Money {
    /// Zero amount.
    pub const ZERO: Self = Self(0);

    /// Creates an amount from nano-units.
    #[must_use]
    pub const fn of_nanos(nanos: i128) -> Self {
        Self(nanos)
    }

    /// Creates an amount from cents.
    #[must_use]
    pub const fn of_cents(cents: i64) -> Self {
        Self(cents as i128 * (UNIT / 100))
    }

    /// Creates an amount from units.
    #[must_use]
    pub const fn of_units(units: i64) -> Self {
        Self(units as i128 * UNIT)
    }

    /// Returns the amount in nano-units.
    #[must_use]
    pub const fn nanos(self) -> i128 {
        self.0
    }

    fn number(self) -> Option<Number> {
        match i64::try_from(self.0) {
            Ok(nanos) => Some(nanos.into()),
            // Amounts beyond 38 digits cannot be stored.
            Err(_) => self.0.to_string().parse().ok(),
        }
    }
}

/// Formats units, with the necessary digits after the decimal point.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanos = self.0.unsigned_abs();
        let (units, rest) = (nanos / UNIT.unsigned_abs(), nanos % UNIT.unsigned_abs());
        match rest {
            0 => write!(f, "{sign}{units}"),
            rest => write!(f, "{sign}{units}.{}", format!("{rest:09}").trim_end_matches('0')),
        }
    }
}

impl Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Money {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Money {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Neg for Money {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl ToAttribute for Money {
    fn to_attribute(&self) -> Option<AttributeValue> {
        self.number().map(AttributeValue::N)
    }
}

impl FromAttribute for Money {
    fn from_attribute(value: AttributeValue) -> Option<Self> {
        match value {
            AttributeValue::N(number) => match number.to_i64() {
                Some(nanos) => Some(Self(nanos.into())),
                None => number.to_string().parse().ok().map(Self),
            },
            _ => None,
        }
    }
}

/// Serializes nano-units, as the model API does.
impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.number() {
            Some(number) => Decimal(number).serialize(serializer),
            None => Err(serde::ser::Error::custom("an amount of more than 38 digits")),
        }
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Decimal::deserialize(deserializer)?;
        Self::from_attribute(number.0.into()).ok_or_else(|| serde::de::Error::custom("expected whole nano-units"))
    }
}
