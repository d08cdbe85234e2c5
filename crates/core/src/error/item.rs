//! Errors about items, keys, conditions and sizes.

use super::{Detail, Error, ErrorCode};
use crate::table::ScalarType;
use crate::value::{AttributeType, Item};

/// The condition of a write did not hold. `item` is the existing item, if the request asked for it.
pub fn condition_failed(item: Option<Item>) -> Error {
    let detail = item.map_or(Detail::None, Detail::Item);
    Error::with_detail(ErrorCode::ConditionalCheckFailed, "The conditional request failed", detail)
}

/// A key lacks an attribute, has an extra one, or has one of the wrong type.
pub fn key_does_not_match_schema() -> Error {
    Error::validation("The provided key element does not match the schema")
}

/// The item lacks a key attribute.
pub fn missing_key(name: &str) -> Error {
    Error::validation(format!("One or more parameter values were invalid: Missing the key {name} in the item"))
}

/// A key attribute of the item does not have the type in the table's schema.
pub fn key_type_mismatch(name: &str, expected: ScalarType, actual: AttributeType) -> Error {
    let expected = expected.name();
    Error::validation(format!(
        "One or more parameter values were invalid: Type mismatch for key {name} expected: {expected} actual: {actual}"
    ))
}

/// A key attribute is an empty string or binary.
pub fn key_is_empty(name: &str, kind: AttributeType) -> Error {
    Error::validation(format!(
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty {} \
         value. Key: {name}",
        empty_kind(kind)
    ))
}

/// An index key attribute of the item does not have the type in the index's schema.
pub fn index_key_type_mismatch(name: &str, expected: ScalarType, actual: AttributeType, index: &str) -> Error {
    let expected = expected.name();
    Error::validation(format!(
        "One or more parameter values were invalid: Type mismatch for Index Key {name} Expected: {expected} Actual: \
         {actual} IndexName: {index}"
    ))
}

/// An index key attribute is an empty string or binary.
pub fn index_key_is_empty(index: &str, name: &str, kind: AttributeType) -> Error {
    Error::validation(format!(
        "One or more parameter values are not valid. A value specified for a secondary index key is not supported. The \
         AttributeValue for a key attribute cannot contain an empty {} value. IndexName: {index}, IndexKey: {name}",
        empty_kind(kind)
    ))
}

fn empty_kind(kind: AttributeType) -> &'static str {
    if kind == AttributeType::B { "binary" } else { "string" }
}

/// A partition key exceeds 2048 bytes. The missing space in the message is DynamoDB's.
pub fn partition_key_too_large() -> Error {
    Error::validation(
        "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes",
    )
}

/// A sort key exceeds 1024 bytes.
pub fn sort_key_too_large() -> Error {
    Error::validation(
        "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of \
         1024 bytes",
    )
}

/// The item exceeds 400 KB.
pub fn item_too_large() -> Error {
    Error::validation("Item size has exceeded the maximum allowed size")
}

/// The updated item would exceed 400 KB.
pub fn updated_item_too_large() -> Error {
    Error::validation("Item size to update has exceeded the maximum allowed size")
}

/// An update changes a key attribute.
pub fn cannot_update_key(name: &str) -> Error {
    Error::validation(format!(
        "One or more parameter values were invalid: Cannot update attribute {name}. This attribute is part of the key"
    ))
}

/// An expression dereferences an attribute of the table's key.
pub fn key_is_not_a_document(name: &str) -> Error {
    Error::validation(format!("{SCALAR_KEYS}: Key: {name}"))
}

/// An expression dereferences an attribute of an index's key.
pub fn index_key_is_not_a_document(name: &str) -> Error {
    Error::validation(format!("{SCALAR_KEYS}: IndexKey: {name}"))
}

const SCALAR_KEYS: &str = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed";

/// An update sets an index key attribute to an empty value.
pub fn updated_index_key_is_empty() -> Error {
    Error::validation(
        "One or more parameter values are not valid. The update expression attempted to update a secondary index key to a \
         value that is not supported. The AttributeValue for a key attribute cannot contain an empty string value.",
    )
}

/// A batch contains the same key twice.
pub fn duplicate_keys() -> Error {
    Error::validation("Provided list of item keys contains duplicates")
}

/// Stored bytes do not decode as an item.
pub fn stored_item_is_corrupt() -> Error {
    Error::internal("a stored item cannot be read; restore the data directory from a backup")
}
