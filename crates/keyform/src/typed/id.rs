//! Typed ids: one type per entity, so that the compiler rejects mixed-up ids.

use keyform_core::World as _;
use keyform_language::scalar::{Bounds, Scalar};
use keyform_language::schema::Type;
use keyform_runtime::run::fits;
use keyform_world::SystemWorld;

use super::WrongText;

/// Required form of an id's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// 26 characters of Crockford's base 32.
    Ulid,
    /// 36 characters in hexadecimal with dashes.
    Uuid,
    /// E-mail address; trimmed and converted to lower case.
    Email,
    /// Letters, digits, `-`, `_` and `.`, with minimum and maximum length.
    Slug(Option<i64>, Option<i64>),
    /// Any text, with minimum and maximum length in characters.
    Text(Option<i64>, Option<i64>),
}

impl TextForm {
    fn kind(self) -> Type {
        let bounds = |min, max| Bounds { min, max };
        match self {
            Self::Ulid => Scalar::Ulid.into(),
            Self::Uuid => Scalar::Uuid.into(),
            Self::Email => Scalar::Email.into(),
            Self::Slug(min, max) => Type::Scalar(Scalar::Slug, bounds(min, max)),
            Self::Text(min, max) => Type::Scalar(Scalar::String, bounds(min, max)),
        }
    }

    fn wanted(self) -> String {
        let within = |min: Option<i64>, max: Option<i64>| match (min, max) {
            (None, None) => String::new(),
            (Some(min), None) => format!(" of at least {min} characters"),
            (None, Some(max)) => format!(" of at most {max} characters"),
            (Some(min), Some(max)) => format!(" of {min} to {max} characters"),
        };
        match self {
            Self::Ulid => "a ULID".to_owned(),
            Self::Uuid => "a UUID".to_owned(),
            Self::Email => "an e-mail address".to_owned(),
            Self::Slug(min, max) => format!("a text of letters, digits, `-`, `_` and `.`{}", within(min, max)),
            Self::Text(min, max) => format!("a text{}", within(min, max)),
        }
    }
}

/// Normalizes and checks the text of an id.
///
/// # Errors
/// The text does not have the form.
pub fn check_text(text: String, form: TextForm) -> Result<String, WrongText> {
    let text = if form == TextForm::Email { text.trim().to_lowercase() } else { text };
    let value = text.into();
    match (fits(&value, &form.kind()), value) {
        (true, keyform_core::AttributeValue::S(text)) => Ok(text),
        (_, keyform_core::AttributeValue::S(text)) => Err(WrongText::new(&text, form.wanted())),
        _ => Err(WrongText::new("", form.wanted())),
    }
}

/// Implements the traits of an id for a newtype of `String`. Values always have the required form.
///
/// ```
/// #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
/// pub struct OrderCode(String);
///
/// keyform::text_id! { OrderCode, Slug(Some(1), Some(8)) }
///
/// let code: OrderCode = "A-17".parse()?;
/// assert_eq!(code.to_string(), "A-17");
/// assert!("no spaces".parse::<OrderCode>().is_err());
/// # Ok::<(), keyform::WrongText>(())
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! text_id {
    ($name:ident, Ulid) => {
        $crate::text_id! { $name, $crate::TextForm::Ulid, $crate::Ulid }
    };
    ($name:ident, Uuid) => {
        $crate::text_id! { $name, $crate::TextForm::Uuid, $crate::Uuid }
    };
    ($name:ident, $form:ident $(($min:expr, $max:expr))?) => {
        $crate::text_id! { @ $name, $crate::TextForm::$form $(($min, $max))? }
    };
    // An id of a common form can be created from any other value of that form.
    ($name:ident, $form:expr, $common:ty) => {
        $crate::text_id! { @ $name, $form }

        impl ::std::convert::From<$common> for $name {
            fn from(common: $common) -> Self {
                Self(common.into())
            }
        }

        impl ::std::convert::From<$name> for $common {
            fn from(id: $name) -> Self {
                Self::trusted(id.0)
            }
        }

    };
    (@ $name:ident, $form:expr) => {
        impl $name {
            /// Creates an id from a text.
            ///
            /// # Errors
            /// The text does not have the id's form.
            pub fn new(
                text: impl ::std::convert::Into<::std::string::String>,
            ) -> ::std::result::Result<Self, $crate::WrongText> {
                $crate::check_text(text.into(), $form).map(Self)
            }

            /// Returns the id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl ::std::convert::AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::WrongText;

            fn from_str(text: &str) -> ::std::result::Result<Self, Self::Err> {
                Self::new(text)
            }
        }

        impl ::std::convert::TryFrom<::std::string::String> for $name {
            type Error = $crate::WrongText;

            fn try_from(text: ::std::string::String) -> ::std::result::Result<Self, Self::Error> {
                Self::new(text)
            }
        }

        impl ::std::convert::TryFrom<&str> for $name {
            type Error = $crate::WrongText;

            fn try_from(text: &str) -> ::std::result::Result<Self, Self::Error> {
                Self::new(text)
            }
        }

        impl ::std::convert::From<$name> for ::std::string::String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                let text = <::std::string::String as $crate::serde::Deserialize>::deserialize(deserializer)?;
                Self::new(text).map_err(<D::Error as $crate::serde::de::Error>::custom)
            }
        }

        impl $crate::ToAttribute for $name {
            fn to_attribute(&self) -> ::std::option::Option<$crate::AttributeValue> {
                ::std::option::Option::Some($crate::AttributeValue::S(self.0.clone()))
            }
        }

        impl $crate::typed::FromAttribute for $name {
            fn from_attribute(value: $crate::AttributeValue) -> ::std::option::Option<Self> {
                match value {
                    $crate::AttributeValue::S(text) => ::std::option::Option::Some(Self(text)),
                    _ => ::std::option::Option::None,
                }
            }
        }
    };
}

/// Implements the traits of an id for a newtype of `i64`.
///
/// ```
/// #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
/// pub struct OrderNumber(pub i64);
///
/// keyform::int_id! { OrderNumber }
///
/// assert_eq!(OrderNumber(7).to_string(), "7");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! int_id {
    ($name:ident) => {
        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, f)
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = ::std::num::ParseIntError;

            fn from_str(text: &str) -> ::std::result::Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }

        impl ::std::convert::From<i64> for $name {
            fn from(number: i64) -> Self {
                Self(number)
            }
        }

        impl ::std::convert::From<$name> for i64 {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_i64(self.0)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                <i64 as $crate::serde::Deserialize>::deserialize(deserializer).map(Self)
            }
        }

        impl $crate::ToAttribute for $name {
            fn to_attribute(&self) -> ::std::option::Option<$crate::AttributeValue> {
                $crate::ToAttribute::to_attribute(&self.0)
            }
        }

        impl $crate::typed::FromAttribute for $name {
            fn from_attribute(value: $crate::AttributeValue) -> ::std::option::Option<Self> {
                <i64 as $crate::typed::FromAttribute>::from_attribute(value).map(Self)
            }
        }
    };
}

/// ULID that does not belong to a particular entity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulid(String);

crate::text_id! { @ Ulid, TextForm::Ulid }

/// UUID that does not belong to a particular entity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(String);

crate::text_id! { @ Uuid, TextForm::Uuid }

impl Ulid {
    /// Generates a ULID from the system's clock and randomness. It sorts after all earlier ones of this process.
    #[must_use]
    pub fn fresh() -> Self {
        Self(SystemWorld.ulid())
    }

    /// Wraps text that is known to be a ULID.
    #[doc(hidden)]
    #[must_use]
    pub fn trusted(text: String) -> Self {
        Self(text)
    }
}

impl Uuid {
    /// Generates a random UUID.
    #[must_use]
    pub fn fresh() -> Self {
        Self(SystemWorld.uuid())
    }

    /// Returns the UUID that a text always maps to, as `uuid(text)` in a model.
    ///
    /// ```
    /// assert_eq!(keyform::Uuid::of("a text"), keyform::Uuid::of("a text"));
    /// ```
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(keyform_language::bind::uuid_of(text))
    }

    /// Wraps text that is known to be a UUID.
    #[doc(hidden)]
    #[must_use]
    pub fn trusted(text: String) -> Self {
        Self(text)
    }
}
