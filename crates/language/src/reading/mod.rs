//! Turns stored items into the fields of their entity, also items that other programs wrote in the documented format.
//!
//! 1. `value`: a stored value becomes the one that its type stores. Several forms have the same meaning: text that
//!    spells a number, a list for a set, a time of another precision. Each scalar lists its own (facet `reading`).
//! 2. `key`: a field that only a key template contains is parsed from the key, if the template has one reading.
//! 3. `entity`: [`Reader`] completes the fields of an item: it derives fields from keys, applies constant defaults and
//!    treats NULL as absent, where absence has a meaning. What still does not fit is a [`Misfit`].
//!
//! The language reference has the table of accepted forms.

mod entity;
mod key;
mod value;

use std::fmt;

use crate::schema::Type;
use crate::schema::words::described;

pub use entity::{Reader, Wanted};
pub use value::read;

/// Reason why an item does not fit its entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Field, with the path to the part: `lines[0].count`.
    pub field: String,
    /// What the field should have been, or none if it is missing.
    pub expected: Option<String>,
}

impl Misfit {
    fn missing(field: &str) -> Self {
        Self { field: field.to_owned(), expected: None }
    }

    fn of(kind: &Type) -> Self {
        Self { field: String::new(), expected: Some(described(kind)) }
    }

    /// Adds the outer part of the path.
    fn within(mut self, outer: &str) -> Self {
        let separator = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        self.field = format!("{outer}{separator}{}", self.field);
        self
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.expected {
            Some(expected) => write!(f, "`{}` is not {expected}", self.field),
            None => write!(f, "`{}` is missing", self.field),
        }
    }
}

impl std::error::Error for Misfit {}
