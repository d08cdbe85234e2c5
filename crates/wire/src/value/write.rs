//! Writes encoded items and trees as JSON. Items go from stored bytes to JSON without an allocation per attribute
//! (ADR 0002).

use keyform_core::value::{Entries, SetRef};
use keyform_core::{AttributeValue, Attributes, Item, ValueRef};

use crate::json::Writer;

/// Writes an encoded item as an object.
pub(crate) fn write_item(out: &mut Writer<'_>, item: &Item) {
    write_entries(out, item.iter());
}

/// Writes map entries as an object.
fn write_entries(out: &mut Writer<'_>, entries: Entries<'_>) {
    out.object(|out| {
        for (name, value) in entries {
            out.name(name);
            write_value(out, value);
        }
    });
}

/// Writes a tree of attributes as an object.
pub(crate) fn write_attributes(out: &mut Writer<'_>, attributes: &Attributes) {
    out.object(|out| {
        for (name, value) in attributes {
            out.name(name);
            write_tree(out, value);
        }
    });
}

fn write_value(out: &mut Writer<'_>, value: ValueRef<'_>) {
    out.object(|out| {
        out.name(value.kind().name());
        match value {
            ValueRef::S(text) => out.string(text),
            ValueRef::N(number) => out.plain(number),
            ValueRef::B(bytes) => out.base64(bytes),
            ValueRef::Bool(value) => out.boolean(value),
            ValueRef::Null => out.boolean(true),
            ValueRef::M(map) => write_entries(out, map.iter()),
            ValueRef::L(list) => out.array(list.iter(), |out, value| write_value(out, value)),
            ValueRef::Ss(set) | ValueRef::Ns(set) | ValueRef::Bs(set) => write_set(out, set),
        }
    });
}

fn write_set(out: &mut Writer<'_>, set: SetRef<'_>) {
    out.array(set.values(), |out, element| match element {
        ValueRef::S(text) => out.string(text),
        ValueRef::N(number) => out.plain(number),
        ValueRef::B(bytes) => out.base64(bytes),
        _ => {}
    });
}

fn write_tree(out: &mut Writer<'_>, value: &AttributeValue) {
    out.object(|out| {
        out.name(value.kind().name());
        match value {
            AttributeValue::S(text) => out.string(text),
            AttributeValue::N(number) => out.plain(number),
            AttributeValue::B(bytes) => out.base64(bytes),
            AttributeValue::Bool(value) => out.boolean(*value),
            AttributeValue::Null => out.boolean(true),
            AttributeValue::M(entries) => write_attributes(out, entries),
            AttributeValue::L(values) => out.array(values, write_tree),
            AttributeValue::Ss(set) => out.array(set, |out, element| out.string(element)),
            AttributeValue::Ns(set) => out.array(set, |out, element| out.plain(element)),
            AttributeValue::Bs(set) => out.array(set, |out, element| out.base64(element)),
        }
    });
}
