//! Responses of TransactGetItems and TransactWriteItems.

use keyform_core::Item;
use keyform_core::operation::{TransactGetItemsOutput, TransactWriteItemsOutput};

use super::capacity;
use crate::Echo;
use crate::json::Writer;
use crate::value::write_item;

/// Writes the TransactGetItems response.
pub(super) fn get(out: &mut Writer<'_>, echo: &Echo, output: &TransactGetItemsOutput) {
    responses(out, &output.responses);
    capacity::many(out, echo, &output.capacity);
}

/// Writes the TransactWriteItems response.
pub(super) fn write(out: &mut Writer<'_>, echo: &Echo, output: &TransactWriteItemsOutput) {
    capacity::many(out, echo, &output.capacity);
    capacity::metrics_by_table(out, echo, &output.metrics);
}

/// Writes one object per read; it is empty if there is no item or if the projection selects none of its attributes.
pub(super) fn responses(out: &mut Writer<'_>, responses: &[Option<Item>]) {
    out.name("Responses");
    out.array(responses, |out, response| {
        out.object(|out| {
            if let Some(item) = response.as_ref().filter(|item| item.iter().next().is_some()) {
                out.name("Item");
                write_item(out, item);
            }
        });
    });
}
