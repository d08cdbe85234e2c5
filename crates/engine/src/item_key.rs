//! Item keys: extracted from attributes, validated against the table, and encoded for the store.

use keyform_core::error::item as texts;
use keyform_core::expression::{Path, Update};
use keyform_core::limits::{PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX};
use keyform_core::value::{AttributeType, size};
use keyform_core::{AttributeValue, Attributes, Error, Item, Value, ValueRef};

use crate::catalog::{Index, KeyAttribute, KeyLayout, Table};
use crate::key_space::{self, IndexId};

/// Store key of an item, and the part of it that holds the key's values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKey {
    /// Complete key in the store.
    pub store_key: Vec<u8>,
    /// Length of the prefix made of table, index and hash.
    values_start: usize,
}

impl ItemKey {
    /// Returns the key of a stored item of the table.
    pub fn of_stored(table: &Table, item: &Item) -> Self {
        let store_key = of_stored_item(table, item);
        let values_start = store_key.len() - values_of_item(&table.key, item).len();
        Self { store_key, values_start }
    }

    /// Returns the encoded partition and sort key values, without table, index and hash.
    pub fn values(&self) -> &[u8] {
        &self.store_key[self.values_start..]
    }
}

/// Returns the key of the item that a request names. The request must contain exactly the table's key attributes.
///
/// # Errors
/// When the key does not match the table's schema.
pub fn of_request(table: &Table, key: &Attributes) -> Result<ItemKey, Error> {
    require_key(table, key)?;
    if key.len() != table.key.attributes().count() {
        return Err(texts::key_does_not_match_schema());
    }
    check_values(&table.key, key)?;
    Ok(encode(table, |name| key.get(name)))
}

/// Checks that all key attributes of the table are present with the right types.
///
/// # Errors
/// When one is missing or of the wrong type; the message does not name it, like DynamoDB's.
pub fn require_key(table: &Table, attributes: &Attributes) -> Result<(), Error> {
    let fits = |attribute: &KeyAttribute| {
        attributes.get(&attribute.name).is_some_and(|value| value.kind() == AttributeType::from(attribute.kind))
    };
    if table.key.attributes().all(fits) { Ok(()) } else { Err(texts::key_does_not_match_schema()) }
}

/// Returns the key of an item that a request writes.
///
/// # Errors
/// When the item lacks a key attribute or has one of the wrong type.
pub fn of_new_item(table: &Table, item: &Attributes) -> Result<ItemKey, Error> {
    for attribute in table.key.attributes() {
        let value = item.get(&attribute.name).ok_or_else(|| texts::missing_key(&attribute.name))?;
        if value.kind() != AttributeType::from(attribute.kind) {
            return Err(texts::key_type_mismatch(&attribute.name, attribute.kind, value.kind()));
        }
    }
    check_values(&table.key, item)?;
    Ok(encode(table, |name| item.get(name)))
}

/// Checks that an item's attributes are valid as keys of the table's indexes.
///
/// # Errors
/// When an index key attribute has the wrong type, is empty or too large.
pub fn check_index_keys(table: &Table, item: &Attributes) -> Result<(), Error> {
    first_by_name(table, |index| {
        let attributes = index.key.attributes();
        attributes
            .filter_map(|attribute| Some((attribute, item.get(&attribute.name)?)))
            .find_map(|(attribute, value)| check_index_value(index, attribute, value).err())
    })
}

/// Returns the error of the index whose name sorts first, which is the one DynamoDB reports.
fn first_by_name(table: &Table, flaw: impl Fn(&Index) -> Option<Error>) -> Result<(), Error> {
    let flaws = table.indexes.iter().filter_map(|index| Some((&index.name, flaw(index)?)));
    flaws.min_by_key(|(name, _)| *name).map_or(Ok(()), |(_, error)| Err(error))
}

/// Checks the index keys that an update wrote; DynamoDB's messages differ from those for new items. Attributes that
/// the update did not touch are ignored: an item that does not fit an index added later is just absent from it.
///
/// # Errors
/// When an index key attribute has the wrong type, is empty or too large.
pub fn check_updated_index_keys(table: &Table, update: &Update, item: &Attributes) -> Result<(), Error> {
    let is_touched = |name: &str| update.touched_paths().any(|path| path.root() == name);
    first_by_name(table, |index| {
        let attributes = index.key.attributes().filter(|attribute| is_touched(&attribute.name));
        attributes.filter_map(|attribute| Some((attribute, item.get(&attribute.name)?))).find_map(
            |(attribute, value)| {
                let flaw = check_index_value(index, attribute, value).err()?;
                Some(if is_empty(value) { texts::updated_index_key_is_empty() } else { flaw })
            },
        )
    })
}

/// Checks that no path of an expression reaches into a key attribute of the table or of an index.
///
/// # Errors
/// When a path reaches into a key attribute.
pub fn check_scalar_keys<'p>(table: &Table, paths: impl IntoIterator<Item = &'p Path>) -> Result<(), Error> {
    let nested = paths.into_iter().filter(|path| path.elements.len() > 1).map(Path::root);
    let nested: Vec<&str> = nested.collect();
    if let Some(name) = nested.iter().find(|name| table.key.contains(name)) {
        return Err(texts::key_is_not_a_document(name));
    }
    match nested.iter().find(|name| table.indexes.iter().any(|index| index.key.contains(name))) {
        Some(name) => Err(texts::index_key_is_not_a_document(name)),
        None => Ok(()),
    }
}

fn check_index_value(index: &Index, attribute: &KeyAttribute, value: &AttributeValue) -> Result<(), Error> {
    if value.kind() != AttributeType::from(attribute.kind) {
        return Err(texts::index_key_type_mismatch(&attribute.name, attribute.kind, value.kind(), &index.name));
    }
    if is_empty(value) {
        return Err(texts::index_key_is_empty(&index.name, &attribute.name, value.kind()));
    }
    let is_partition = index.key.partition.contains(attribute);
    let bytes_max = if is_partition { PARTITION_KEY_BYTES_MAX } else { SORT_KEY_BYTES_MAX };
    if size::of_tree(value) > bytes_max {
        return Err(if is_partition { texts::partition_key_too_large() } else { texts::sort_key_too_large() });
    }
    Ok(())
}

/// Checks that no key attribute is empty.
///
/// # Errors
/// Names the first empty attribute.
pub fn refuse_empty_key(table: &Table, key: &Attributes) -> Result<(), Error> {
    match table.key.attributes().find_map(|attribute| Some((attribute, empty_kind(key, attribute)?))) {
        Some((attribute, kind)) => Err(texts::key_is_empty(&attribute.name, kind)),
        None => Ok(()),
    }
}

/// Checks that no key attribute of the table or of its indexes is empty.
///
/// # Errors
/// Names the first empty attribute.
pub fn refuse_empty(table: &Table, item: &Attributes) -> Result<(), Error> {
    refuse_empty_key(table, item)?;
    for index in &table.indexes {
        for attribute in index.key.attributes() {
            if let Some(kind) = empty_kind(item, attribute) {
                return Err(texts::index_key_is_empty(&index.name, &attribute.name, kind));
            }
        }
    }
    Ok(())
}

fn empty_kind(item: &Attributes, attribute: &KeyAttribute) -> Option<AttributeType> {
    item.get(&attribute.name).filter(|value| is_empty(value)).map(AttributeValue::kind)
}

fn check_values(layout: &KeyLayout, item: &Attributes) -> Result<(), Error> {
    for attribute in layout.attributes() {
        if let Some(value) = item.get(&attribute.name).filter(|value| is_empty(value)) {
            return Err(texts::key_is_empty(&attribute.name, value.kind()));
        }
    }
    let bytes = |attributes: &[KeyAttribute]| -> usize {
        attributes.iter().filter_map(|attribute| item.get(&attribute.name)).map(size::of_tree).sum()
    };
    if bytes(&layout.partition) > PARTITION_KEY_BYTES_MAX {
        return Err(texts::partition_key_too_large());
    }
    if bytes(&layout.sort) > SORT_KEY_BYTES_MAX {
        return Err(texts::sort_key_too_large());
    }
    Ok(())
}

fn is_empty(value: &AttributeValue) -> bool {
    match value {
        AttributeValue::S(text) => text.is_empty(),
        AttributeValue::B(bytes) => bytes.is_empty(),
        _ => false,
    }
}

fn encode<'a>(table: &Table, get: impl Fn(&str) -> Option<&'a AttributeValue>) -> ItemKey {
    let mut partition = Vec::with_capacity(48);
    let write = |out: &mut Vec<u8>, attributes: &[KeyAttribute]| {
        for value in attributes.iter().filter_map(|attribute| get(&attribute.name)) {
            write_tree_key_value(out, value);
        }
    };
    write(&mut partition, &table.key.partition);
    let mut store_key = key_space::partition_prefix(table.id, IndexId::BASE, &partition);
    let values_start = store_key.len() - partition.len();
    write(&mut store_key, &table.key.sort);
    ItemKey { store_key, values_start }
}

/// Returns the encoded key values of a stored item: partition key, then sort key.
pub fn values_of_item(key: &KeyLayout, item: &Item) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    for value in key.attributes().filter_map(|attribute| item.get(&attribute.name)) {
        key_space::write_key_value(&mut out, value);
    }
    out
}

/// Returns the store key of the item that an index entry was copied from.
pub fn of_stored_item(table: &Table, entry: &Item) -> Vec<u8> {
    let mut partition = Vec::with_capacity(48);
    let write = |out: &mut Vec<u8>, attributes: &[KeyAttribute]| {
        for value in attributes.iter().filter_map(|attribute| entry.get(&attribute.name)) {
            key_space::write_key_value(out, value);
        }
    };
    write(&mut partition, &table.key.partition);
    let mut key = key_space::partition_prefix(table.id, IndexId::BASE, &partition);
    write(&mut key, &table.key.sort);
    key
}

/// Returns the store key of an item's index entry, or `None` when the item lacks an attribute of the index's key.
pub fn of_index_entry(table: &Table, index: &Index, item: &Item) -> Option<Vec<u8>> {
    let mut partition = Vec::with_capacity(48);
    write_index_values(&mut partition, &index.key.partition, item)?;
    let mut key = key_space::partition_prefix(table.id, index.id, &partition);
    write_index_values(&mut key, &index.key.sort, item)?;
    if index.is_local() {
        write_index_values(&mut key, &table.key.sort, item)?;
    } else {
        key.extend_from_slice(&values_of_item(&table.key, item));
    }
    Some(key)
}

fn write_index_values(out: &mut Vec<u8>, attributes: &[KeyAttribute], item: &Item) -> Option<()> {
    for attribute in attributes {
        let value = item.get(&attribute.name)?;
        if value.kind() != AttributeType::from(attribute.kind) || is_empty_view(value) {
            return None;
        }
        key_space::write_key_value(out, value);
    }
    Some(())
}

fn is_empty_view(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::S(text) => text.is_empty(),
        ValueRef::B(bytes) => bytes.is_empty(),
        _ => false,
    }
}

fn write_tree_key_value(out: &mut Vec<u8>, value: &AttributeValue) {
    match value {
        AttributeValue::S(text) => key_space::write_key_value(out, ValueRef::S(text)),
        AttributeValue::N(number) => key_space::write_key_value(out, ValueRef::N(*number)),
        AttributeValue::B(bytes) => key_space::write_key_value(out, ValueRef::B(bytes)),
        other => key_space::write_key_value(out, Value::from(other).view()),
    }
}
