//! Attribute values: reads JSON into trees, writes trees and encoded items as JSON.

mod read;
mod write;

pub(crate) use read::{Checked, attribute_value, attributes};
pub(crate) use write::{write_attributes, write_item};
