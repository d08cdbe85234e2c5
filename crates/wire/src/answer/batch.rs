//! Responses of BatchGetItem and BatchWriteItem.

use keyform_core::operation::{BatchGetItemOutput, BatchWriteItemOutput, WriteRequest};

use super::capacity;
use crate::json::Writer;
use crate::value::{write_attributes, write_item};
use crate::{Echo, UnreadKeys};

/// Writes the BatchGetItem response.
pub(super) fn get(out: &mut Writer<'_>, echo: &Echo, output: &BatchGetItemOutput) {
    out.object_member("Responses", |out| {
        for (table, items) in &output.responses {
            out.name(echo.address(table));
            out.array(items, write_item);
        }
    });
    out.object_member("UnprocessedKeys", |out| {
        for (table, places) in &output.unprocessed {
            if let Some(unread) = echo.unread(table) {
                out.object_member(echo.address(table), |out| unread_keys(out, unread, places));
            }
        }
    });
    capacity::many(out, echo, &output.capacity);
}

/// Writes the BatchWriteItem response.
pub(super) fn write(out: &mut Writer<'_>, echo: &Echo, output: &BatchWriteItemOutput) {
    out.object_member("UnprocessedItems", |out| {
        for (table, requests) in &output.unprocessed {
            out.name(echo.address(table));
            out.array(requests, write_request);
        }
    });
    capacity::metrics_by_table(out, echo, &output.metrics);
    capacity::many(out, echo, &output.capacity);
}

fn unread_keys(out: &mut Writer<'_>, unread: &UnreadKeys, places: &[usize]) {
    out.name("Keys");
    out.array(places.iter().filter_map(|place| unread.keys.get(*place)), write_attributes);
    if let Some(projection) = &unread.projection {
        out.string_member("ProjectionExpression", projection);
    }
    if let Some(names) = &unread.names {
        out.object_member("ExpressionAttributeNames", |out| {
            names.iter().for_each(|(placeholder, name)| out.string_member(placeholder, name));
        });
    }
    if let Some(attributes) = &unread.attributes {
        out.name("AttributesToGet");
        out.array(attributes, |out, attribute| out.string(attribute));
    }
    if let Some(consistent) = unread.consistent {
        out.boolean_member("ConsistentRead", consistent);
    }
}

fn write_request(out: &mut Writer<'_>, request: &WriteRequest) {
    let (kind, member, attributes) = match request {
        WriteRequest::Put(item) => ("PutRequest", "Item", item),
        WriteRequest::Delete(key) => ("DeleteRequest", "Key", key),
    };
    out.object(|out| {
        out.object_member(kind, |out| {
            out.name(member);
            write_attributes(out, attributes);
        });
    });
}
