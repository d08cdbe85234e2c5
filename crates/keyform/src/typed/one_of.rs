//! Literal unions: enums whose variants have a text.

/// Implements the type of a literal union for an enum: each variant with its text.
///
/// ```
/// #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
/// pub enum Role {
///     Owner,
///     Member,
/// }
///
/// keyform::one_of! { Role { Owner = "owner", Member = "member" } }
///
/// assert_eq!(Role::Owner.as_str(), "owner");
/// assert_eq!("member".parse(), Ok(Role::Member));
/// assert!("guest".parse::<Role>().is_err());
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! one_of {
    ($name:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        impl $name {
            /// All variants, in the order of the model.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the text of the variant, as in the model.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::WrongText;

            fn from_str(text: &str) -> ::std::result::Result<Self, $crate::WrongText> {
                match text {
                    $($text => ::std::result::Result::Ok(Self::$variant),)*
                    other => ::std::result::Result::Err($crate::WrongText::new(
                        other,
                        concat!("one of", $(" ", $text),*),
                    )),
                }
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                let text = <::std::string::String as $crate::serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(<D::Error as $crate::serde::de::Error>::custom)
            }
        }

        impl $crate::ToAttribute for $name {
            fn to_attribute(&self) -> ::std::option::Option<$crate::AttributeValue> {
                ::std::option::Option::Some($crate::AttributeValue::from(self.as_str()))
            }
        }

        impl $crate::typed::FromAttribute for $name {
            fn from_attribute(value: $crate::AttributeValue) -> ::std::option::Option<Self> {
                match value {
                    $crate::AttributeValue::S(text) => text.parse().ok(),
                    _ => ::std::option::Option::None,
                }
            }
        }
    };
}
