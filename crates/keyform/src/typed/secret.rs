//! Type of `secret` fields.

use std::fmt;

use keyform_core::AttributeValue;
use serde::{Deserialize, Deserializer};

use super::{FromAttribute, ToAttribute};

/// Value of a `secret` field: hidden by `Debug` and never serialized.
///
/// ```
/// let hash = keyform::Secret::new("$argon2id$…".to_owned());
/// assert_eq!(format!("{hash:?}"), "Secret(…)");
/// assert!(hash.expose().starts_with("$argon2id"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value; the name marks places that handle secrets.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Unwraps the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl<T: ToAttribute> ToAttribute for Secret<T> {
    fn to_attribute(&self) -> Option<AttributeValue> {
        self.0.to_attribute()
    }
}

impl<T: FromAttribute> FromAttribute for Secret<T> {
    fn from_attribute(value: AttributeValue) -> Option<Self> {
        T::from_attribute(value).map(Self)
    }

    fn when_absent() -> Option<Self> {
        T::when_absent().map(Self)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Secret<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}
