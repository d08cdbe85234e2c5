//! The columns of a SELECT.
//!
//! A column that is a path answers under the name of its last step: `SELECT a.b, c` gives `{b: …, c: …}`. The read fetches
//! whole attributes, and the shape picks from them.

use keyform_core::expression::{Path, PathElement, Projection};
use keyform_core::{Attributes, Item};

/// Which part of an item stands under which name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    columns: Vec<(Path, String)>,
}

impl Shape {
    /// The shape of columns, if a projection is not enough.
    pub fn of(columns: &[Path]) -> Option<Self> {
        if columns.iter().all(|column| column.as_attribute().is_some()) {
            return None;
        }
        Some(Self { columns: columns.iter().map(|path| (path.clone(), label(path))).collect() })
    }

    /// The item with the columns alone.
    pub fn apply(&self, item: &Item) -> Item {
        let found =
            self.columns.iter().filter_map(|(path, label)| Some((label.clone(), path.resolve(item)?.to_tree())));
        Item::from(&found.collect::<Attributes>())
    }
}

/// The attributes that columns need, each once.
pub fn projection(columns: &[Path]) -> Projection {
    let mut paths: Vec<Path> = columns.iter().map(|column| Path::attribute(column.root())).collect();
    paths.sort();
    paths.dedup();
    Projection { paths }
}

/// The last name in a path, with the places after it.
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
