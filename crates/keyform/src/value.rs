//! Parts of attribute values, and views into encoded items.

pub use keyform_core::value::{
    AttributeType, CorruptItem, Elements, Entries, ListRef, MapRef, Number, NumberError, SetRef, Value, ValueRef,
};
