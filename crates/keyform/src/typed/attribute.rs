//! Conversion between Rust values and attribute values.

use std::collections::{BTreeMap, BTreeSet};

use keyform_core::{AttributeValue, Attributes};

/// Value that an attribute can hold.
pub trait ToAttribute {
    /// Returns the attribute value, or `None` for values that are not stored: absent ones and empty sets.
    fn to_attribute(&self) -> Option<AttributeValue>;
}

/// Value that can be read from an attribute.
pub trait FromAttribute: Sized {
    /// Converts an attribute value; returns `None` if it has another type.
    fn from_attribute(value: AttributeValue) -> Option<Self>;

    /// Returns the value of an absent attribute, or `None` if the attribute is required.
    fn when_absent() -> Option<Self> {
        None
    }
}

impl<T: ToAttribute + ?Sized> ToAttribute for &T {
    fn to_attribute(&self) -> Option<AttributeValue> {
        (**self).to_attribute()
    }
}

impl ToAttribute for str {
    fn to_attribute(&self) -> Option<AttributeValue> {
        Some(self.into())
    }
}

impl ToAttribute for String {
    fn to_attribute(&self) -> Option<AttributeValue> {
        self.as_str().to_attribute()
    }
}

impl FromAttribute for String {
    fn from_attribute(value: AttributeValue) -> Option<Self> {
        match value {
            AttributeValue::S(text) => Some(text),
            _ => None,
        }
    }
}

impl ToAttribute for i64 {
    fn to_attribute(&self) -> Option<AttributeValue> {
        Some((*self).into())
    }
}

impl FromAttribute for i64 {
    fn from_attribute(value: AttributeValue) -> Option<Self> {
        match value {
            AttributeValue::N(number) => number.to_i64(),
            _ => None,
        }
    }
}

impl ToAttribute for bool {
    fn to_attribute(&self) -> Option<AttributeValue> {
        Some((*self).into())
    }
}

impl FromAttribute for bool {
    fn from_attribute(value: AttributeValue) -> Option<Self> {
        match value {
            AttributeValue::Bool(value) => Some(value),
            _ => None,
        }
    }
}

impl<T: ToAttribute> ToAttribute for Option<T> {
    fn to_attribute(&self) -> Option<AttributeValue> {
        self.as_ref()?.to_attribute()
    }
}

impl<T: FromAttribute> FromAttribute for Option<T> {
    fn from_attribute(value: AttributeValue) -> Option<Self> {
        match value {
            AttributeValue::Null => Some(None),
            value => T::from_attribute(value).map(Some),
        }
    }

    fn when_absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: ToAttribute> ToAttribute for [T] {
    fn to_attribute(&self) -> Option<AttributeValue> {
        Some(AttributeValue::L(self.iter().map(|part| part.to_attribute().unwrap_or(AttributeValue::Null)).collect()))
    }
}

impl<T: ToAttribute> ToAttribute for Vec<T> {
    fn to_attribute(&self) -> Option<AttributeValue> {
        self.as_slice().to_attribute()
    }
}

impl<T: FromAttribute> FromAttribute for Vec<T> {
    fn from_attribute(value: AttributeValue) -> Option<Self> {
        match value {
            AttributeValue::L(parts) => parts.into_iter().map(T::from_attribute).collect(),
            _ => None,
        }
    }
}

impl<T: ToAttribute> ToAttribute for BTreeMap<String, T> {
    fn to_attribute(&self) -> Option<AttributeValue> {
        let entries = self.iter().filter_map(|(name, part)| Some((name.clone(), part.to_attribute()?)));
        Some(AttributeValue::M(entries.collect::<Attributes>()))
    }
}

impl<T: FromAttribute> FromAttribute for BTreeMap<String, T> {
    fn from_attribute(value: AttributeValue) -> Option<Self> {
        match value {
            AttributeValue::M(parts) => {
                parts.into_iter().map(|(name, part)| Some((name, T::from_attribute(part)?))).collect()
            }
            _ => None,
        }
    }
}

impl<T: ToAttribute> ToAttribute for BTreeSet<T> {
    fn to_attribute(&self) -> Option<AttributeValue> {
        let mut parts = self.iter().filter_map(ToAttribute::to_attribute).peekable();
        match parts.peek()? {
            AttributeValue::S(_) => Some(AttributeValue::Ss(parts.filter_map(String::from_attribute).collect())),
            AttributeValue::N(_) => Some(AttributeValue::Ns(parts.filter_map(number).collect())),
            AttributeValue::B(_) => Some(AttributeValue::Bs(parts.filter_map(bytes).collect())),
            _ => None,
        }
    }
}

fn number(value: AttributeValue) -> Option<keyform_core::Number> {
    match value {
        AttributeValue::N(number) => Some(number),
        _ => None,
    }
}

fn bytes(value: AttributeValue) -> Option<Vec<u8>> {
    match value {
        AttributeValue::B(bytes) => Some(bytes),
        _ => None,
    }
}

impl<T: FromAttribute + Ord> FromAttribute for BTreeSet<T> {
    fn from_attribute(value: AttributeValue) -> Option<Self> {
        match value {
            AttributeValue::Ss(parts) => parts.into_iter().map(|part| T::from_attribute(part.into())).collect(),
            AttributeValue::Ns(parts) => parts.into_iter().map(|part| T::from_attribute(part.into())).collect(),
            AttributeValue::Bs(parts) => {
                parts.into_iter().map(|part| T::from_attribute(AttributeValue::B(part))).collect()
            }
            _ => None,
        }
    }

    /// DynamoDB cannot store empty sets, so an absent attribute is an empty set.
    fn when_absent() -> Option<Self> {
        Some(Self::new())
    }
}
