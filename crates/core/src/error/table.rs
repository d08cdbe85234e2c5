//! Texts about tables and indexes.

use super::{Error, ErrorCode};

/// A data operation names a table that is not there.
pub fn resource_not_found() -> Error {
    Error::new(ErrorCode::ResourceNotFound, "Requested resource not found")
}
