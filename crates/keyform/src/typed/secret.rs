//! Values that are not shown.

use std::fmt;

use keyform_core::AttributeValue;
use serde::{Deserialize, Deserializer};

use super::{FromAttribute, ToAttribute};

/// The value of a `secret` field: not shown by `Debug`, and never serialised.
///
/// ```
/// let hash = keyform::Secret::new("$argon2id$…".to_owned());
/// assert_eq!(format!("{hash:?}"), "Secret(…)");
/// assert!(hash.expose().starts_with("$argon2id"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// A secret.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// The value itself.
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
