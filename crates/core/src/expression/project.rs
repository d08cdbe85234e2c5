//! Applies projections to items: what stands at the paths, nested as in the item, list elements moved together.
//!
//! ```text
//! item  {a: {b: 1, c: 2}, l: [3, 4, 5]}    paths  a.c, l[2], l[0], x.y    gives  {a: {c: 2}, l: [3, 5]}
//! ```

use super::ast::{PathElement, Projection};
use crate::value::{AttributeValue, Attributes, Item, MapRef, ValueRef};

impl Projection {
    /// The item with only what stands at the paths.
    pub fn apply(&self, item: &Item) -> Item {
        if self.paths.iter().all(|path| path.as_attribute().is_some()) {
            return item.filtered(|name| self.paths.iter().any(|path| path.root() == name));
        }
        let mut paths: Vec<&[PathElement]> = self.paths.iter().map(|path| path.elements.as_slice()).collect();
        paths.sort_unstable();
        Item::from(&project_map(item.as_map(), &paths))
    }
}

/// The entries of a map that sorted paths lead to or through.
fn project_map(map: MapRef<'_>, paths: &[&[PathElement]]) -> Attributes {
    let mut found = Attributes::new();
    for group in groups(paths) {
        let PathElement::Attribute(name) = &group[0][0] else { continue };
        if let Some(value) = map.get(name).and_then(|value| project_value(value, group)) {
            found.insert(name.clone(), value);
        }
    }
    found
}

/// The part of a value that paths lead to, after their first step; nothing if none leads anywhere.
fn project_value(value: ValueRef<'_>, group: &[&[PathElement]]) -> Option<AttributeValue> {
    if group.iter().any(|path| path.len() == 1) {
        return Some(value.to_tree());
    }
    let paths: Vec<&[PathElement]> = group.iter().map(|path| &path[1..]).collect();
    match value {
        ValueRef::M(map) => Some(project_map(map, &paths)).filter(|map| !map.is_empty()).map(AttributeValue::M),
        ValueRef::L(list) => {
            let values: Vec<AttributeValue> = groups(&paths)
                .filter_map(|group| match &group[0][0] {
                    PathElement::Index(index) => project_value(list.get(*index)?, group),
                    PathElement::Attribute(_) => None,
                })
                .collect();
            Some(values).filter(|values| !values.is_empty()).map(AttributeValue::L)
        }
        _ => None,
    }
}

/// Sorted paths, cut where their first step changes.
fn groups<'a, 'p>(paths: &'a [&'p [PathElement]]) -> impl Iterator<Item = &'a [&'p [PathElement]]> {
    paths.chunk_by(|one, two| one.first() == two.first()).filter(|group| !group[0].is_empty())
}
