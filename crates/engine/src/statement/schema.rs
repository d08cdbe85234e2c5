//! Table metadata that statements need.

use keyform_core::error::partiql;
use keyform_core::limits::{PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX};
use keyform_core::value::AttributeType;
use keyform_core::{Error, Value, ValueRef};

use crate::catalog::{Index, KeyAttribute, KeyLayout, Table};

/// Keys of a table and its indexes.
#[derive(Clone, Copy, Debug)]
pub struct Schema<'a> {
    /// Key of the table.
    pub key: &'a KeyLayout,
    /// Secondary indexes of the table, including those being created or deleted.
    pub indexes: &'a [Index],
}

impl<'a> From<&'a Table> for Schema<'a> {
    fn from(table: &'a Table) -> Self {
        Self { key: &table.key, indexes: &table.indexes }
    }
}

impl<'a> Schema<'a> {
    /// Returns the index with that name.
    ///
    /// # Errors
    /// When the index does not exist, or PartiQL does not support its key.
    pub fn index(&self, name: &str) -> Result<&'a Index, Error> {
        let index = self.indexes.iter().find(|index| index.name == name).ok_or_else(partiql::no_such_index)?;
        if index.key.partition.len() > 1 || index.key.sort.len() > 1 {
            return Err(partiql::multi_attribute_index());
        }
        Ok(index)
    }
}

/// Checks that a value can be compared with a key attribute.
///
/// # Errors
/// When the value has another type than the attribute.
pub fn check_key_type(attribute: &KeyAttribute, value: &Value) -> Result<(), Error> {
    let kind = value.kind();
    if kind == AttributeType::from(attribute.kind) {
        Ok(())
    } else if matches!(kind, AttributeType::S | AttributeType::N | AttributeType::B) {
        Err(partiql::key_type(&attribute.name))
    } else {
        Err(partiql::key_not_scalar(&attribute.name, kind))
    }
}

/// Checks the size of a partition key value.
///
/// # Errors
/// When it is too long.
pub fn check_partition_size(value: &Value) -> Result<(), Error> {
    if length(value) > PARTITION_KEY_BYTES_MAX { Err(partiql::partition_key_size()) } else { Ok(()) }
}

/// Checks the size of a sort key value.
///
/// # Errors
/// When it is too long.
pub fn check_sort_size(value: &Value) -> Result<(), Error> {
    if length(value) > SORT_KEY_BYTES_MAX { Err(partiql::sort_key_size()) } else { Ok(()) }
}

/// Returns whether a value is an empty string or binary, which cannot be a key.
pub fn is_empty(value: &Value) -> bool {
    matches!(value.kind(), AttributeType::S | AttributeType::B) && length(value) == 0
}

fn length(value: &Value) -> usize {
    match value.view() {
        ValueRef::S(text) => text.len(),
        ValueRef::B(bytes) => bytes.len(),
        _ => 0,
    }
}
