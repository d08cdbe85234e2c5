//! Errors about Query and Scan.

use super::Error;

/// The table has no index with this name.
pub fn no_such_index(name: &str) -> Error {
    Error::validation(format!("The table does not have the specified index: {name}"))
}

/// A strongly consistent read addresses a global secondary index.
pub fn consistent_global_index() -> Error {
    Error::validation("Consistent reads are not supported on global secondary indexes")
}

/// The index is still being backfilled.
pub fn index_is_being_made(name: &str) -> Error {
    Error::validation(format!("Cannot read from backfilling global secondary index: {name}"))
}

/// The key condition lacks a key attribute.
pub fn missing_key_condition(name: &str) -> Error {
    Error::validation(format!("Query condition missed key schema element: {name}"))
}

/// The key condition has more conditions than the key has attributes.
pub fn too_many_key_conditions(conditions: usize, keys: usize) -> Error {
    Error::validation(format!(
        "The number of query conditions ({conditions}) exceeds the number of key attributes defined in the schema ({keys})"
    ))
}

/// The key condition is not of a supported form.
pub fn key_condition_not_supported() -> Error {
    Error::validation("Query key condition not supported")
}

/// A key condition compares a key attribute with a value of another type.
pub fn condition_type_mismatch() -> Error {
    Error::validation("One or more parameter values were invalid: Condition parameter type does not match schema type")
}

/// The filter uses a key attribute.
pub fn filter_on_key(name: &str) -> Error {
    Error::validation(format!(
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: {name}"
    ))
}

/// The request selects all attributes of a global index that does not project all of them.
pub fn global_index_has_not_all(name: &str) -> Error {
    Error::validation(format!(
        "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary \
         index {name} because its projection type is not ALL"
    ))
}

/// A global index does not project the requested attributes; `names` is their comma-separated list.
pub fn global_index_lacks(index: &str, names: &str) -> Error {
    let text = "One or more parameter values were invalid: Global secondary index";
    Error::validation(format!("{text} {index} does not project [{names}]"))
}

/// An index does not project the attributes of the filter; `names` is their comma-separated list.
pub fn index_lacks_filter_attributes(index: &str, names: &str) -> Error {
    let text = "One or more parameter values were invalid: Secondary index";
    Error::validation(format!("{text} {index} does not project one or more filter attributes: [{names}]"))
}

/// The start key is not a key of the table or index.
pub fn start_key_is_invalid() -> Error {
    Error::validation("The provided starting key is invalid")
}

/// The start key is outside the range of the key condition.
pub fn start_key_is_outside() -> Error {
    Error::validation("The provided starting key is outside query boundaries based on provided conditions")
}

/// The start key is in the queried partition but outside the sort key condition.
pub fn start_key_is_outside_range() -> Error {
    Error::validation("The provided starting key does not match the range key predicate")
}

/// The start key belongs to another segment.
pub fn start_key_of_other_segment() -> Error {
    Error::validation("The provided Exclusive start key does not map to the provided Segment and TotalSegments values.")
}
