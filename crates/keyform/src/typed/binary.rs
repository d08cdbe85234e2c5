//! Type of `binary` fields.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keyform_core::AttributeValue;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{FromAttribute, ToAttribute};

/// Bytes of a `binary` field; base64 in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Binary(pub Vec<u8>);

impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(&self.0))
    }
}

impl AsRef<[u8]> for Binary {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Binary {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for Binary {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl ToAttribute for Binary {
    fn to_attribute(&self) -> Option<AttributeValue> {
        Some(AttributeValue::B(self.0.clone()))
    }
}

impl FromAttribute for Binary {
    fn from_attribute(value: AttributeValue) -> Option<Self> {
        match value {
            AttributeValue::B(bytes) => Some(Self(bytes)),
            _ => None,
        }
    }
}

impl Serialize for Binary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Binary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Self).map_err(serde::de::Error::custom)
    }
}
