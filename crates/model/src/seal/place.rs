//! Where a sealed value stands.

use keyform_core::{Attributes, Item};

/// The place of a value: a sealed one opens only there.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The table's name in the store.
    pub table: &'a str,
    /// The item's primary key.
    pub key: &'a Attributes,
    /// The entity, for messages alone.
    pub entity: &'a str,
    /// The field.
    pub field: &'a str,
}

impl Place<'_> {
    /// The place as bytes: each part with its length, so that no two places read the same.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let key = Item::from(self.key);
        let mut bytes = Vec::with_capacity(64 + key.as_bytes().len());
        for part in [self.table.as_bytes(), key.as_bytes(), self.field.as_bytes()] {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        bytes
    }

    /// The field as messages name it.
    pub(super) fn name(&self) -> String {
        format!("{}.{}", self.entity, self.field)
    }
}
