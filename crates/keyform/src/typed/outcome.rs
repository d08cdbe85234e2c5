//! Conversion of a write's refusals to the write's own enum.

use keyform_runtime::run::{Found, RunError};

use super::{CallError, FromFound, WrongItem};

/// Enum of a write's outcomes.
pub trait Outcome: Sized {
    /// Returns the variant for an outcome name of the model.
    fn named(name: &str) -> Option<Self>;

    /// Returns the variant for a concurrent change; `current` is the item's state, if the store returned it.
    fn conflict(current: Option<Found>) -> Self;

    /// Returns the variant for errors that are not outcomes.
    fn failed(error: CallError) -> Self;
}

/// Converts a runner's error to a write's enum.
pub fn refused<E: Outcome>(error: RunError) -> E {
    match error {
        // Models may use the name `Conflict` for a changed version; it means the same.
        RunError::Refused { outcome, item } if outcome == "Conflict" => E::conflict(item.map(|item| *item)),
        RunError::Refused { outcome, .. } => {
            E::named(&outcome).unwrap_or_else(|| E::failed(CallError::Unexpected(outcome)))
        }
        RunError::Conflict(current) => E::conflict(current.map(|current| *current)),
        other => E::failed(other.into()),
    }
}

/// Converts the item of a conflict; returns `None` if it does not match the model.
#[must_use]
pub fn current<T: FromFound>(current: Option<Found>) -> Option<Box<T>> {
    current.and_then(|found| T::from_found(found).ok()).map(Box::new)
}

/// Item type of writes that have no item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nothing {}

impl FromFound for Nothing {
    fn from_found(_: Found) -> Result<Self, WrongItem> {
        Err(WrongItem { entity: "Nothing", attribute: "" })
    }
}

/// Implements [`Outcome`](crate::typed::Outcome) for an enum: each variant with its name in the model. The enum must
/// also have `Conflict`, with the current item, and `Failed`.
///
/// ```
/// #[derive(Debug)]
/// pub struct Seat { pub row: i64 }
///
/// keyform::record! { Seat { row = "row" } }
///
/// #[derive(Debug)]
/// pub enum BookSeatError {
///     SeatTaken,
///     Conflict(Option<Box<Seat>>),
///     Failed(keyform::CallError),
/// }
///
/// keyform::outcomes! { BookSeatError { SeatTaken = "SeatTaken" } }
///
/// assert_eq!(BookSeatError::SeatTaken.to_string(), "refused: SeatTaken");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! outcomes {
    ($name:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        impl $crate::typed::Outcome for $name {
            fn named(name: &str) -> ::std::option::Option<Self> {
                match name {
                    $($text => ::std::option::Option::Some(Self::$variant),)*
                    _ => ::std::option::Option::None,
                }
            }

            fn conflict(current: ::std::option::Option<$crate::runtime::run::Found>) -> Self {
                Self::Conflict($crate::typed::current(current))
            }

            fn failed(error: $crate::CallError) -> Self {
                Self::Failed(error)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self {
                    $(Self::$variant => f.write_str(concat!("refused: ", $text)),)*
                    Self::Conflict(_) => f.write_str("the item has changed since it was read: read it again"),
                    Self::Failed(error) => ::std::fmt::Display::fmt(error, f),
                }
            }
        }

        impl ::std::error::Error for $name {
            fn source(&self) -> ::std::option::Option<&(dyn ::std::error::Error + 'static)> {
                match self {
                    Self::Failed(error) => ::std::error::Error::source(error),
                    _ => ::std::option::Option::None,
                }
            }
        }

        impl ::std::convert::From<$name> for $crate::flow::FlowError {
            fn from(error: $name) -> Self {
                match error {
                    $($name::$variant => Self::refused($text, concat!("refused: ", $text)),)*
                    $name::Conflict(_) => Self::Failed($crate::runtime::run::RunError::Conflict(::std::option::Option::None)),
                    $name::Failed(error) => error.into(),
                }
            }
        }

        impl ::std::convert::From<$crate::runtime::run::RunError> for $name {
            fn from(error: $crate::runtime::run::RunError) -> Self {
                $crate::typed::refused(error)
            }
        }

        impl ::std::convert::From<$crate::CallError> for $name {
            fn from(error: $crate::CallError) -> Self {
                Self::Failed(error)
            }
        }
    };
}
