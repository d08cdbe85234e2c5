//! Interface for encrypting fields. The runtime owns the keys and the cipher (ADR 0014).

use keyform_core::{AttributeValue, Attributes, Item};

/// Bytes by which a sealed value is longer than its encoding: version, key id, nonce and tag.
pub const SEALED_OVERHEAD_BYTES: usize = 1 + 8 + 12 + 16;

/// Seals and opens the encrypted fields of one call.
pub trait Seal: Send + Sync {
    /// Returns the value sealed for its position.
    fn seal(&self, field: &SealedField<'_>, value: &AttributeValue) -> AttributeValue;

    /// Returns the value that was sealed for this position, or `None` if it does not open.
    fn open(&self, field: &SealedField<'_>, sealed: &AttributeValue) -> Option<AttributeValue>;
}

/// Position of a sealed value. The value opens only there.
#[derive(Clone, Copy, Debug)]
pub struct SealedField<'a> {
    /// Name of the table in the store.
    pub table: &'a str,
    /// Primary key of the item.
    pub key: &'a Attributes,
    /// Entity; used in messages only.
    pub entity: &'a str,
    /// Field of the entity.
    pub field: &'a str,
}

impl SealedField<'_> {
    /// Returns the position as bytes, each part with its length, so that two positions never have the same bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let key = Item::from(self.key);
        let mut bytes = Vec::with_capacity(64 + key.as_bytes().len());
        for part in [self.table.as_bytes(), key.as_bytes(), self.field.as_bytes()] {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        bytes
    }

    /// Returns the field as messages name it: `User.apiKey`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}.{}", self.entity, self.field)
    }
}
