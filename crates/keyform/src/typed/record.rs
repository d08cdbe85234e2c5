//! Structs of attributes: entities, selections of their fields, and nested records.

use keyform_core::{AttributeValue, Attributes};
use keyform_runtime::run::{Fields, Found};

use super::{FromAttribute, ToAttribute, WrongItem};

/// Struct whose fields are attributes.
pub trait FromAttributes: Sized {
    /// Converts attributes to the struct.
    ///
    /// # Errors
    /// An attribute is missing or has another type.
    fn from_attributes(attributes: impl Named) -> Result<Self, WrongItem>;
}

/// Attributes by name: of a map, or of an item that a read found.
pub trait Named {
    /// Removes and returns an attribute's value.
    fn take(&mut self, name: &str) -> Option<AttributeValue>;
}

impl Named for Attributes {
    fn take(&mut self, name: &str) -> Option<AttributeValue> {
        self.remove(name)
    }
}

impl Named for Fields {
    fn take(&mut self, name: &str) -> Option<AttributeValue> {
        self.remove(name)
    }
}

/// Result type of a found item: a struct, or an enum of structs.
pub trait FromFound: Sized {
    /// Converts a found item.
    ///
    /// # Errors
    /// The item does not match the model.
    fn from_found(found: Found) -> Result<Self, WrongItem>;
}

/// Takes and converts an attribute.
///
/// # Errors
/// The attribute is missing or has another type.
pub fn take<T: FromAttribute>(
    attributes: &mut impl Named,
    entity: &'static str,
    attribute: &'static str,
) -> Result<T, WrongItem> {
    let found = match attributes.take(attribute) {
        Some(value) => T::from_attribute(value),
        None => T::when_absent(),
    };
    found.ok_or(WrongItem { entity, attribute })
}

/// Returns the stored value of a field; with `null`, absent values are stored as NULL.
pub fn value_of<T: ToAttribute + ?Sized>(value: &T, null: bool) -> Option<AttributeValue> {
    value.to_attribute().or_else(|| null.then_some(AttributeValue::Null))
}

/// Implements the conversions for a struct: each field with its attribute name, and `null` where an absent value is
/// stored as NULL.
///
/// ```
/// #[derive(Debug, PartialEq)]
/// pub struct Address {
///     pub street: String,
///     pub zip_code: Option<String>,
/// }
///
/// keyform::record! { Address { street = "street", zip_code = "zipCode" } }
///
/// use keyform::FromAttributes;
///
/// let item = keyform::Attributes::from([("street".to_owned(), "Elm Street".into())]);
/// assert_eq!(Address::from_attributes(item).map(|address| address.zip_code), Ok(None));
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! record {
    ($name:ident { $($field:ident = $attribute:literal $($null:ident)?),* $(,)? }) => {
        impl $crate::FromAttributes for $name {
            #[allow(unused_mut, unused_variables, reason = "a struct may have no fields")]
            fn from_attributes(
                mut attributes: impl $crate::typed::Named,
            ) -> ::std::result::Result<Self, $crate::WrongItem> {
                ::std::result::Result::Ok(Self {
                    $($field: $crate::typed::take(&mut attributes, stringify!($name), $attribute)?,)*
                })
            }
        }

        impl $crate::typed::FromFound for $name {
            fn from_found(
                found: $crate::runtime::run::Found,
            ) -> ::std::result::Result<Self, $crate::WrongItem> {
                $crate::FromAttributes::from_attributes(found.fields)
            }
        }

        impl $crate::typed::FromAttribute for $name {
            fn from_attribute(value: $crate::AttributeValue) -> ::std::option::Option<Self> {
                match value {
                    $crate::AttributeValue::M(attributes) => {
                        $crate::FromAttributes::from_attributes(attributes).ok()
                    }
                    _ => ::std::option::Option::None,
                }
            }
        }

        impl $crate::ToAttribute for $name {
            #[allow(unused_mut, reason = "a struct may have no fields")]
            fn to_attribute(&self) -> ::std::option::Option<$crate::AttributeValue> {
                let mut attributes = $crate::Attributes::new();
                $(
                    let null = false $(|| stringify!($null) == "null")?;
                    if let ::std::option::Option::Some(value) = $crate::typed::value_of(&self.$field, null) {
                        attributes.insert(::std::string::String::from($attribute), value);
                    }
                )*
                ::std::option::Option::Some($crate::AttributeValue::M(attributes))
            }
        }
    };
}
