//! Texts about queries and scans.

use super::Error;

/// The table has no index of that name.
pub fn no_such_index(name: &str) -> Error {
    Error::validation(format!("The table does not have the specified index: {name}"))
}

/// A consistent read of a global index.
pub fn consistent_global_index() -> Error {
    Error::validation("Consistent reads are not supported on global secondary indexes")
}

/// The index does not answer yet.
pub fn index_is_being_made(name: &str) -> Error {
    Error::validation(format!("Cannot read from backfilling global secondary index: {name}"))
}

/// A query lacks a condition on a key attribute.
pub fn missing_key_condition(name: &str) -> Error {
    Error::validation(format!("Query condition missed key schema element: {name}"))
}

/// A query has more conditions than there are key attributes.
pub fn too_many_key_conditions(conditions: usize, keys: usize) -> Error {
    Error::validation(format!(
        "The number of query conditions ({conditions}) exceeds the number of key attributes defined in the schema ({keys})"
    ))
}

/// A key condition is of a form that no query can follow.
pub fn key_condition_not_supported() -> Error {
    Error::validation("Query key condition not supported")
}

/// A key condition compares with a value of another type than the key's.
pub fn condition_type_mismatch() -> Error {
    Error::validation("One or more parameter values were invalid: Condition parameter type does not match schema type")
}

/// A filter is about a key attribute.
pub fn filter_on_key(name: &str) -> Error {
    Error::validation(format!(
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: {name}"
    ))
}

/// All attributes are wanted of a global index that does not have them.
pub fn global_index_has_not_all(name: &str) -> Error {
    Error::validation(format!(
        "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary \
         index {name} because its projection type is not ALL"
    ))
}

/// A global index lacks attributes that are asked for, named with commas between.
pub fn global_index_lacks(index: &str, names: &str) -> Error {
    let text = "One or more parameter values were invalid: Global secondary index";
    Error::validation(format!("{text} {index} does not project [{names}]"))
}

/// An index lacks attributes that are filtered by, named with commas between.
pub fn index_lacks_filter_attributes(index: &str, names: &str) -> Error {
    let text = "One or more parameter values were invalid: Secondary index";
    Error::validation(format!("{text} {index} does not project one or more filter attributes: [{names}]"))
}

/// A page is to start at something that is no key of the source.
pub fn start_key_is_invalid() -> Error {
    Error::validation("The provided starting key is invalid")
}

/// A page is to start at a key that the key condition does not select.
pub fn start_key_is_outside() -> Error {
    Error::validation("The provided starting key is outside query boundaries based on provided conditions")
}

/// A page is to start at a key of the right partition that the condition on the sort key does not select.
pub fn start_key_is_outside_range() -> Error {
    Error::validation("The provided starting key does not match the range key predicate")
}

/// A segment is to start at a key of another segment.
pub fn start_key_of_other_segment() -> Error {
    Error::validation("The provided Exclusive start key does not map to the provided Segment and TotalSegments values.")
}
