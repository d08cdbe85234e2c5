//! Responses of Query and Scan.

use keyform_core::operation::PageOutput;

use super::capacity;
use crate::Echo;
use crate::json::Writer;
use crate::value::write_item;

/// Writes the response of Query and Scan.
pub(super) fn page(out: &mut Writer<'_>, echo: &Echo, output: &PageOutput) {
    if let Some(items) = &output.items {
        out.name("Items");
        out.array(items, write_item);
    }
    out.whole_member("Count", output.count as u64);
    out.whole_member("ScannedCount", output.scanned as u64);
    if let Some(key) = &output.last_key {
        out.name("LastEvaluatedKey");
        write_item(out, key);
    }
    capacity::one(out, echo, output.capacity.as_ref());
}
