//! Responses of single-item operations.

use keyform_core::operation::{GetItemOutput, WriteItemOutput};

use super::capacity;
use crate::Echo;
use crate::json::Writer;
use crate::value::write_item;

/// Writes the response of PutItem, UpdateItem and DeleteItem.
pub(super) fn write(out: &mut Writer<'_>, echo: &Echo, output: &WriteItemOutput) {
    if let Some(attributes) = &output.attributes {
        out.name("Attributes");
        write_item(out, attributes);
    }
    capacity::one(out, echo, output.capacity.as_ref());
    capacity::metrics(out, output.metrics.as_ref());
}

/// Writes the GetItem response.
pub(super) fn get(out: &mut Writer<'_>, echo: &Echo, output: &GetItemOutput) {
    if let Some(item) = &output.item {
        out.name("Item");
        write_item(out, item);
    }
    capacity::one(out, echo, output.capacity.as_ref());
}
