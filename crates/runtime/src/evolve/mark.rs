//! Marks: what tells everybody that the new form speaks for an old item, whether or not it still exists there.
//!
//! ```text
//! PK = ITEM#<hash>  SK = ITEM  …  keyform_moved = { to: <new key>, at: <milliseconds>, sum: <hash of what was written> }
//! ```

use keyform_core::{AttributeValue, Attributes, Item};
use sha2::{Digest, Sha256};

use super::form::Side;

/// The attribute that marks an old item as carried over.
pub const MARK: &str = "keyform_moved";

/// What a mark says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark {
    /// The key of the new item.
    pub to: Attributes,
    /// When it was carried over, in milliseconds since 1970.
    pub at_millis: i64,
    /// The hash of the item that was written; empty if another was there already.
    pub sum: String,
}

impl Mark {
    /// The mark of an item that is carried over as `new`.
    #[must_use]
    pub fn carried(side: &Side, new: &Attributes, at_millis: i64) -> Self {
        Self { to: side.key_of(new), at_millis, sum: sum(new) }
    }

    /// The mark of an item in whose new place another was already.
    #[must_use]
    pub fn superseded(side: &Side, new: &Attributes, at_millis: i64) -> Self {
        Self { to: side.key_of(new), at_millis, sum: String::new() }
    }

    /// The mark as an attribute.
    #[must_use]
    pub fn value(&self) -> AttributeValue {
        AttributeValue::M(
            [
                ("to".to_owned(), AttributeValue::M(self.to.clone())),
                ("at".to_owned(), self.at_millis.into()),
                ("sum".to_owned(), self.sum.as_str().into()),
            ]
            .into(),
        )
    }

    /// The mark of an item, if it has one.
    #[must_use]
    pub fn of(item: &Attributes) -> Option<Self> {
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

/// The hash of an item.
#[must_use]
pub fn sum(item: &Attributes) -> String {
    Sha256::digest(Item::from(item).as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
