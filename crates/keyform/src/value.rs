//! Parts of attribute values, and views into encoded items.

pub use keyform_core::value::{AttributeType, CorruptItem, Elements, Entries, ListRef, MapRef, NumberError, SetRef};
