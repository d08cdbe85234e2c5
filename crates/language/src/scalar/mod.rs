//! Scalar types, one file each.
//!
//! The file of a scalar holds everything that Keyform knows about it: its keyword, the phrase for messages, the strings
//! it can have in a key, which values are valid, sample values, sizes, its JSON Schema, and its type in generated code.
//! [`Facets`] lists these facets. No other code distinguishes scalars by name: it asks for a facet, so that a new scalar
//! needs only its file, and a `mod` line and an entry of the list below. `tests/it/scalars.rs` checks that the facets of
//! each scalar agree.
//!
//! - [`Bounds`]: the `(1..32)` after a type.
//! - [`generated`]: type names in generated Rust, TypeScript and Python.
//! - [`Spelling`]: forms of values that other programs wrote.
//! - `civil`: timestamps and dates; `sample`: deterministic sample values.

mod binary;
mod boolean;
mod bounds;
pub(crate) mod civil;
mod date;
mod datetime;
mod email;
mod epoch;
mod epoch_ms;
mod facets;
pub mod generated;
mod int;
mod money;
mod number;
mod reading;
mod sample;
mod slug;
mod string;
mod timestamp;
mod ulid;
mod url;
mod uuid;

pub use bounds::{Bounds, Counted};
pub use facets::{Facets, Resolution, Stored, Time};
pub use reading::{Reading, Spelling};
pub use uuid::uuid_of;

/// Defines [`Scalar`] from the list of scalars and the modules that hold their facets.
macro_rules! scalars {
    ($($(#[$doc:meta])* $scalar:ident in $module:ident,)+) => {
        /// A scalar type. Dereferences to its [`Facets`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Scalar {
            $($(#[$doc])* $scalar,)+
        }

        impl Scalar {
            /// All scalars, in the order of the language reference.
            pub const ALL: &'static [Self] = &[$(Self::$scalar,)+];
        }

        impl std::ops::Deref for Scalar {
            type Target = dyn Facets;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$scalar => &$module::Row,)+
                }
            }
        }
    };
}

scalars! {
    /// Text.
    String in string,
    /// Letters, digits, `-`, `_` and `.`. Cannot contain a key delimiter (ADR 0008).
    Slug in slug,
    /// Whole number.
    Int in int,
    /// Decimal number.
    Number in number,
    /// Boolean.
    Bool in boolean,
    /// Bytes.
    Binary in binary,
    /// A ULID: 26 characters.
    Ulid in ulid,
    /// A UUID: 36 characters.
    Uuid in uuid,
    /// An e-mail address, trimmed and lower-cased.
    Email in email,
    /// A URL.
    Url in url,
    /// UTC, ISO 8601, milliseconds: 24 characters.
    Timestamp in timestamp,
    /// ISO 8601 of any precision and offset.
    Datetime in datetime,
    /// Unix time in seconds.
    Epoch in epoch,
    /// Unix time in milliseconds.
    EpochMs in epoch_ms,
    /// Calendar date: `2026-10-31`.
    Date in date,
    /// Amount in whole nano-units of the currency.
    Money in money,
}

impl Scalar {
    /// Returns the scalar with this keyword.
    #[must_use]
    pub fn named(keyword: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scalar| scalar.keyword() == keyword)
    }

    /// Returns the phrase for messages with the bounds: `a text of 1 to 32 characters`.
    #[must_use]
    pub fn described(self, bounds: Bounds) -> String {
        let extent = match self.counted() {
            None => String::new(),
            Some(Counted::Characters) => bounds.extent("characters"),
            Some(Counted::Bytes) => bounds.extent("bytes"),
            Some(Counted::Value) => bounds.range(),
        };
        format!("{}{extent}", self.phrase())
    }
}
