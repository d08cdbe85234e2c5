//! Structs of attributes: entities, parts of them, and records within them.

use keyform_core::{AttributeValue, Attributes};
use keyform_runtime::run::{Fields, Found};

use super::{FromAttribute, ToAttribute, WrongItem};

/// A struct whose fields are attributes.
pub trait FromAttributes: Sized {
    /// The struct of an item's attributes.
    ///
    /// # Errors
    /// An attribute is missing or of another type.
    fn from_attributes(attributes: impl Named) -> Result<Self, WrongItem>;
}

/// Attributes by name: those of a map, or the fields of an item that was found.
pub trait Named {
    /// Takes an attribute's value away.
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

/// What an item that was found becomes: a struct, or an enum of them.
pub trait FromFound: Sized {
    /// The struct, or the variant.
    ///
    /// # Errors
    /// The item is not as the model says.
    fn from_found(found: Found) -> Result<Self, WrongItem>;
}

/// The field of that name.
///
/// # Errors
/// It is missing or of another type.
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

/// What is stored for a field; of one with `| null` NULL for nothing.
pub fn value_of<T: ToAttribute + ?Sized>(value: &T, null: bool) -> Option<AttributeValue> {
    value.to_attribute().or_else(|| null.then_some(AttributeValue::Null))
}

/// Makes a struct one of attributes: each field with the attribute's name, and `null` where NULL is stored for nothing.
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
/// use keyform::typed::FromAttributes;
///
/// let item = keyform::Attributes::from([("street".to_owned(), "Elm Street".into())]);
/// assert_eq!(Address::from_attributes(item).map(|address| address.zip_code), Ok(None));
/// ```
#[macro_export]
macro_rules! record {
    ($name:ident { $($field:ident = $attribute:literal $($null:ident)?),* $(,)? }) => {
        impl $crate::typed::FromAttributes for $name {
            #[allow(unused_mut, unused_variables, reason = "a struct may have no fields")]
            fn from_attributes(
                mut attributes: impl $crate::typed::Named,
            ) -> ::std::result::Result<Self, $crate::typed::WrongItem> {
                ::std::result::Result::Ok(Self {
                    $($field: $crate::typed::take(&mut attributes, stringify!($name), $attribute)?,)*
                })
            }
        }

        impl $crate::typed::FromFound for $name {
            fn from_found(
                found: $crate::runtime::run::Found,
            ) -> ::std::result::Result<Self, $crate::typed::WrongItem> {
                $crate::typed::FromAttributes::from_attributes(found.fields)
            }
        }

        impl $crate::typed::FromAttribute for $name {
            fn from_attribute(value: $crate::AttributeValue) -> ::std::option::Option<Self> {
                match value {
                    $crate::AttributeValue::M(attributes) => {
                        $crate::typed::FromAttributes::from_attributes(attributes).ok()
                    }
                    _ => ::std::option::Option::None,
                }
            }
        }

        impl $crate::typed::ToAttribute for $name {
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
