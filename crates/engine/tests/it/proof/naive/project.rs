//! Projections over trees: keeps only the parts of documents that a path leads to.

use keyform_core::expression::{Path, PathElement};
use keyform_core::{AttributeValue, Attributes};

/// Returns the item reduced to the paths.
pub fn project(item: &Attributes, paths: &[Path]) -> Attributes {
    let steps: Vec<&[PathElement]> = paths.iter().map(|path| path.elements.as_slice()).collect();
    of_map(item, &steps)
}

fn of_map(map: &Attributes, paths: &[&[PathElement]]) -> Attributes {
    let kept = map.iter().filter_map(|(name, value)| {
        let further = following(paths, &PathElement::Attribute(name.clone()));
        Some((name.clone(), of_value(value, &further)?))
    });
    kept.collect()
}

/// Returns the remainders of the paths that begin with the step.
fn following<'p>(paths: &[&'p [PathElement]], step: &PathElement) -> Vec<&'p [PathElement]> {
    paths.iter().filter(|path| path.first() == Some(step)).map(|path| &path[1..]).collect()
}

fn of_value(value: &AttributeValue, paths: &[&[PathElement]]) -> Option<AttributeValue> {
    if paths.is_empty() {
        return None;
    }
    if paths.iter().any(|path| path.is_empty()) {
        return Some(value.clone());
    }
    match value {
        AttributeValue::M(map) => Some(of_map(map, paths)).filter(|map| !map.is_empty()).map(AttributeValue::M),
        AttributeValue::L(list) => {
            let kept = list.iter().enumerate();
            let kept = kept.filter_map(|(place, value)| of_value(value, &following(paths, &PathElement::Index(place))));
            Some(kept.collect::<Vec<_>>()).filter(|list| !list.is_empty()).map(AttributeValue::L)
        }
        _ => None,
    }
}
