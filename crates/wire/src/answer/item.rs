//! Answers about one item.

use keyform_core::operation::{GetItemOutput, WriteItemOutput};

use super::capacity;
use crate::Echo;
use crate::json::Writer;
use crate::value::write_item;

/// PutItem, UpdateItem, DeleteItem.
pub(super) fn write(out: &mut Writer<'_>, echo: &Echo, output: &WriteItemOutput) {
    if let Some(attributes) = &output.attributes {
        out.name("Attributes");
        write_item(out, attributes);
    }
    capacity::one(out, echo, output.capacity.as_ref());
    capacity::metrics(out, output.metrics.as_ref());
}

/// GetItem.
pub(super) fn get(out: &mut Writer<'_>, echo: &Echo, output: &GetItemOutput) {
    if let Some(item) = &output.item {
        out.name("Item");
        write_item(out, item);
    }
    capacity::one(out, echo, output.capacity.as_ref());
}
