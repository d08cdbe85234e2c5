//! Columns of a SELECT.
//!
//! A column with a path is returned under the name of the path's last element: `SELECT a.b, c` gives `{b: …, c: …}`.
//! The read fetches whole attributes, and the shape extracts the columns.

use keyform_core::expression::{Path, PathElement, Projection};
use keyform_core::{Attributes, Item};

/// Columns of a result: path in the item, and name in the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    columns: Vec<(Path, String)>,
}

impl Shape {
    /// Returns the shape of columns, or `None` if a projection is enough.
    pub fn of(columns: &[Path]) -> Option<Self> {
        if columns.iter().all(|column| column.as_attribute().is_some()) {
            return None;
        }
        Some(Self { columns: columns.iter().map(|path| (path.clone(), label(path))).collect() })
    }

    /// Returns an item with only the columns.
    pub fn apply(&self, item: &Item) -> Item {
        let found =
            self.columns.iter().filter_map(|(path, label)| Some((label.clone(), path.resolve(item)?.to_tree())));
        Item::from(&found.collect::<Attributes>())
    }
}

/// Returns the attributes that the columns need, without duplicates.
pub fn projection(columns: &[Path]) -> Projection {
    let mut paths: Vec<Path> = columns.iter().map(|column| Path::attribute(column.root())).collect();
    paths.sort();
    paths.dedup();
    Projection { paths }
}

/// Returns the last name in a path, with the list indexes after it.
fn label(path: &Path) -> String {
    let mut label = String::new();
    for element in &path.elements {
        match element {
            PathElement::Attribute(name) => label.clone_from(name),
            PathElement::Index(place) => label += &format!("[{place}]"),
        }
    }
    label
}
