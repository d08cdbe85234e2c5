//! Marks: the attribute of an old item that makes the new form authoritative, even if the new item was deleted since
//! (ADR 0015).
//!
//! ```text
//! PK = ITEM#<hash>  SK = ITEM  …  keyform_moved = { to: <new key>, at: <milliseconds>, sum: <hash of what was written> }
//! ```

use keyform_core::{AttributeValue, Attributes, Item};
use sha2::{Digest, Sha256};

use super::form::Side;

pub(crate) const MARK: &str = "keyform_moved";

/// Content of a mark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark {
    /// Key of the new item.
    pub(crate) to: Attributes,
    /// Time of the migration, in milliseconds since 1970.
    pub(crate) at_millis: i64,
    /// Hash of the new item as it was written; empty if an item with that key already existed.
    pub(crate) sum: String,
}

impl Mark {
    /// Returns the mark of an item that is migrated as `new`.
    #[must_use]
    pub(crate) fn carried(side: &Side, new: &Attributes, at_millis: i64) -> Self {
        Self { to: side.key_of(new), at_millis, sum: sum(new) }
    }

    /// Returns the mark of an item whose new key was already taken.
    #[must_use]
    pub(crate) fn superseded(side: &Side, new: &Attributes, at_millis: i64) -> Self {
        Self { to: side.key_of(new), at_millis, sum: String::new() }
    }

    /// Encodes the mark as an attribute value.
    #[must_use]
    pub(crate) fn value(&self) -> AttributeValue {
        AttributeValue::M(
            [
                ("to".to_owned(), AttributeValue::M(self.to.clone())),
                ("at".to_owned(), self.at_millis.into()),
                ("sum".to_owned(), self.sum.as_str().into()),
            ]
            .into(),
        )
    }

    /// Returns the mark of an item, if it has one.
    #[must_use]
    pub(crate) fn of(item: &Attributes) -> Option<Self> {
        let AttributeValue::M(parts) = item.get(MARK)? else { return Some(Self::default()) };
        let to = match parts.get("to") {
            Some(AttributeValue::M(to)) => to.clone(),
            _ => Attributes::new(),
        };
        let at_millis = match parts.get("at") {
            Some(AttributeValue::N(at)) => at.to_i64().unwrap_or(0),
            _ => 0,
        };
        let sum = match parts.get("sum") {
            Some(AttributeValue::S(sum)) => sum.clone(),
            _ => String::new(),
        };
        Some(Self { to, at_millis, sum })
    }
}

/// Returns the SHA-256 of an item's encoding, in hexadecimal.
#[must_use]
pub(crate) fn sum(item: &Attributes) -> String {
    hex::encode(Sha256::digest(Item::from(item).as_bytes()))
}
