//! Texts about items, keys, conditions and sizes.

use super::{Detail, Error, ErrorCode};
use crate::value::Item;

/// A condition did not hold; `item` is what stands there, where the caller asked for it.
pub fn condition_failed(item: Option<Item>) -> Error {
    let detail = item.map_or(Detail::None, Detail::Item);
    Error::with_detail(ErrorCode::ConditionalCheckFailed, "The conditional request failed", detail)
}

/// A key lacks an attribute, has one too many, or one of the wrong type.
pub fn key_does_not_match_schema() -> Error {
    Error::validation("The provided key element does not match the schema")
}
