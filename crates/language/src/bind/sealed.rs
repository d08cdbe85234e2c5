//! Encrypts and decrypts fields while a request is bound.

use keyform_core::{AttributeValue, Attributes};

use crate::schema::{Entity, Field, Table};

use super::{BindError, Inputs, SealedField};

/// Seals the encrypted fields of one item.
pub(super) struct Sealer<'a> {
    inputs: &'a Inputs<'a>,
    table: &'a Table,
    entity: &'a Entity,
    key: &'a Attributes,
}

impl<'a> Sealer<'a> {
    /// Creates a sealer for the item with this primary key.
    pub(super) fn new(inputs: &'a Inputs<'a>, table: &'a Table, entity: &'a Entity, key: &'a Attributes) -> Self {
        Self { inputs, table, entity, key }
    }

    /// Returns the value to store, sealed if its field is encrypted.
    pub(super) fn stored(&self, field: &Field, value: AttributeValue) -> Result<AttributeValue, BindError> {
        if field.flags.encrypted.is_none() {
            return Ok(value);
        }
        self.sealed(field, &value)
    }

    /// Seals the encrypted fields of a whole item in place.
    pub(super) fn seal_item(&self, item: &mut Attributes) -> Result<(), BindError> {
        for field in self.entity.encrypted_fields() {
            if let Some(value) = item.get_mut(&field.name) {
                *value = self.sealed(field, value)?;
            }
        }
        Ok(())
    }

    /// Opens a stored value if its field is encrypted; `None` if it does not open.
    pub(super) fn opened(&self, field: &Field, value: &AttributeValue) -> Option<AttributeValue> {
        if field.flags.encrypted.is_none() {
            return Some(value.clone());
        }
        let sealing = self.inputs.sealing.as_ref()?;
        sealing.open(&self.position(&self.inputs.table_name(self.table), field), value)
    }

    fn sealed(&self, field: &Field, value: &AttributeValue) -> Result<AttributeValue, BindError> {
        let missing = || BindError::Missing(format!("the encryption key of `{}.{}`", self.entity.name, field.name));
        let sealing = self.inputs.sealing.as_ref().ok_or_else(missing)?;
        Ok(sealing.seal(&self.position(&self.inputs.table_name(self.table), field), value))
    }

    fn position<'b>(&'b self, table: &'b str, field: &'b Field) -> SealedField<'b> {
        SealedField { table, key: self.key, entity: &self.entity.name, field: &field.name }
    }
}
