//! Applies projections to items: keeps the values at the paths, nested as in the item. The kept elements of a list
//! move up.
//!
//! ```text
//! item  {a: {b: 1, c: 2}, l: [3, 4, 5]}    paths  a.c, l[2], l[0], x.y    gives  {a: {c: 2}, l: [3, 5]}
//! ```

use std::collections::BTreeSet;

use super::ast::{Path, PathElement, Projection};
use crate::value::encoding::{tag, write_chunk, write_nested};
use crate::value::{AttributeType, Item, ListRef, MapRef, ValueRef};

/// Number of names up to which linear search is used.
const FEW_NAMES: usize = 32;

impl Projection {
    /// Returns the item reduced to the values at the paths.
    pub fn apply(&self, item: &Item) -> Item {
        if self.paths.iter().all(|path| path.as_attribute().is_some()) {
            return self.apply_to_attributes(item);
        }
        let mut paths: Vec<&[PathElement]> = self.paths.iter().map(|path| path.elements.as_slice()).collect();
        paths.sort_unstable();
        Item::written(item.as_bytes().len(), |out| {
            write_entries(out, item.as_map(), &paths);
        })
    }

    /// Searches a few names linearly and more than [`FEW_NAMES`] through a set.
    fn apply_to_attributes(&self, item: &Item) -> Item {
        if self.paths.len() <= FEW_NAMES {
            return item.filtered(|name| self.paths.iter().any(|path| path.root() == name));
        }
        let names: BTreeSet<&str> = self.paths.iter().map(Path::root).collect();
        item.filtered(|name| names.contains(name))
    }
}

/// Appends the map entries that the sorted paths lead to or through. Returns whether any was appended.
fn write_entries(out: &mut Vec<u8>, map: MapRef<'_>, paths: &[&[PathElement]]) -> bool {
    let before = out.len();
    for group in groups(paths) {
        let PathElement::Attribute(name) = &group[0][0] else { continue };
        let Some(value) = map.get_raw(name) else { continue };
        let start = out.len();
        write_chunk(out, name.as_bytes());
        if !write_part(out, value, group) {
            out.truncate(start);
        }
    }
    out.len() > before
}

/// Appends the list elements that the sorted paths lead to or through. Returns whether any was appended.
fn write_values(out: &mut Vec<u8>, list: ListRef<'_>, paths: &[&[PathElement]]) -> bool {
    let before = out.len();
    for group in groups(paths) {
        let PathElement::Index(index) = &group[0][0] else { continue };
        let Some(value) = list.get_raw(*index) else { continue };
        write_part(out, value, group);
    }
    out.len() > before
}

/// Appends the part of an encoded value that the paths lead to after their first step. Appends nothing and returns
/// false if no path leads to a value.
fn write_part(out: &mut Vec<u8>, value: &[u8], group: &[&[PathElement]]) -> bool {
    if group.iter().any(|path| path.len() == 1) {
        out.extend_from_slice(value);
        return true;
    }
    let paths: Vec<&[PathElement]> = group.iter().map(|path| &path[1..]).collect();
    let start = out.len();
    let mut found = false;
    match ValueRef::from_raw(value) {
        ValueRef::M(map) => {
            out.push(tag(AttributeType::M));
            write_nested(out, |out| found = write_entries(out, map, &paths));
        }
        ValueRef::L(list) => {
            out.push(tag(AttributeType::L));
            write_nested(out, |out| found = write_values(out, list, &paths));
        }
        _ => {}
    }
    if !found {
        out.truncate(start);
    }
    found
}

/// Splits sorted paths into groups with the same first step.
fn groups<'a, 'p>(paths: &'a [&'p [PathElement]]) -> impl Iterator<Item = &'a [&'p [PathElement]]> {
    paths.chunk_by(|one, two| one.first() == two.first()).filter(|group| !group[0].is_empty())
}
