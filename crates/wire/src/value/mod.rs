//! Attribute values: JSON into trees, encoded items into JSON.

mod read;
mod write;

pub(crate) use read::{Checked, attribute_value, attributes};
pub(crate) use write::{write_attributes, write_item};
