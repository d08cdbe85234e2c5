//! Tree form of attribute values, used to build requests and to apply updates.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::Number;

/// Attributes by name, in name order.
pub type Attributes = BTreeMap<String, AttributeValue>;

/// An attribute value in tree form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    /// A string.
    S(String),
    /// A number.
    N(Number),
    /// Binary data.
    B(Vec<u8>),
    /// A boolean.
    Bool(bool),
    /// NULL.
    Null,
    /// A map.
    M(Attributes),
    /// A list.
    L(Vec<AttributeValue>),
    /// A string set, never empty in an item.
    Ss(BTreeSet<String>),
    /// A number set, never empty in an item.
    Ns(BTreeSet<Number>),
    /// A binary set, never empty in an item.
    Bs(BTreeSet<Vec<u8>>),
}

/// Type of an attribute value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttributeType {
    /// String.
    S,
    /// Number.
    N,
    /// Binary.
    B,
    /// Boolean.
    Bool,
    /// Null.
    Null,
    /// Map.
    M,
    /// List.
    L,
    /// String set.
    Ss,
    /// Number set.
    Ns,
    /// Binary set.
    Bs,
}

impl AttributeType {
    /// All types, in the order of their tag bytes in the encoding.
    pub const ALL: [Self; 10] =
        [Self::S, Self::N, Self::B, Self::Bool, Self::Null, Self::M, Self::L, Self::Ss, Self::Ns, Self::Bs];

    /// Returns the name used in JSON and by `attribute_type`, such as `S`, `BOOL` or `NS`.
    pub fn name(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::N => "N",
            Self::B => "B",
            Self::Bool => "BOOL",
            Self::Null => "NULL",
            Self::M => "M",
            Self::L => "L",
            Self::Ss => "SS",
            Self::Ns => "NS",
            Self::Bs => "BS",
        }
    }

    /// Returns the type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns whether this is one of the three set types.
    pub fn is_set(self) -> bool {
        matches!(self, Self::Ss | Self::Ns | Self::Bs)
    }
}

impl fmt::Display for AttributeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl AttributeValue {
    /// Returns the type of the value.
    pub fn kind(&self) -> AttributeType {
        match self {
            Self::S(_) => AttributeType::S,
            Self::N(_) => AttributeType::N,
            Self::B(_) => AttributeType::B,
            Self::Bool(_) => AttributeType::Bool,
            Self::Null => AttributeType::Null,
            Self::M(_) => AttributeType::M,
            Self::L(_) => AttributeType::L,
            Self::Ss(_) => AttributeType::Ss,
            Self::Ns(_) => AttributeType::Ns,
            Self::Bs(_) => AttributeType::Bs,
        }
    }
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::S(text.to_owned())
    }
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        Self::S(text)
    }
}

impl From<i64> for AttributeValue {
    fn from(number: i64) -> Self {
        Self::N(Number::from(number))
    }
}

impl From<bool> for AttributeValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Number> for AttributeValue {
    fn from(number: Number) -> Self {
        Self::N(number)
    }
}
