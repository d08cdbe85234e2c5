//! Finds paths that write or read the same thing, or take one thing for a map and for a list.
//!
//! The paths are put into a tree one after the other, in their order in the text, so the work grows with their length and not
//! with the number of pairs. `a.b` and `a[0]` conflict at `a`; `a.b` and `a.b.c` overlap at `a.b`:
//!
//! ```text
//! a ─┬─ .b ─── .c
//!    └─ [0]
//! ```

use std::collections::BTreeMap;

use super::super::ast::{Path, PathElement};
use super::resolve::{Flaws, Rank};
use crate::error::expression::Flaw;

/// Notes the first overlap and the first conflict among the paths.
pub(crate) fn check<'p>(paths: impl IntoIterator<Item = &'p Path>, flaws: &mut Flaws) {
    let mut root = Node::default();
    for path in paths {
        match root.insert(path) {
            Ok(()) => {}
            Err(Clash::Overlap(one)) => flaws.note(Rank::Overlap, Flaw::Overlap(one.clone(), path.clone())),
            Err(Clash::Conflict(one)) => flaws.note(Rank::Conflict, Flaw::Conflict(one.clone(), path.clone())),
        }
    }
}

/// A place in a document that paths lead to or through.
#[derive(Default)]
struct Node<'p> {
    /// The first path that came here.
    first: Option<&'p Path>,
    /// Whether that path ends here.
    is_end: bool,
    children: BTreeMap<&'p PathElement, Node<'p>>,
}

/// The earlier path that a new one does not go together with.
enum Clash<'p> {
    Overlap(&'p Path),
    Conflict(&'p Path),
}

impl<'p> Node<'p> {
    fn insert(&mut self, path: &'p Path) -> Result<(), Clash<'p>> {
        let mut node = self;
        for element in &path.elements {
            if let Some(one) = node.child_of_other_kind(element) {
                return Err(Clash::Conflict(one));
            }
            node = node.children.entry(element).or_default();
            if let Some(one) = node.first.filter(|_| node.is_end) {
                return Err(Clash::Overlap(one));
            }
            node.first.get_or_insert(path);
        }
        match node.first {
            Some(one) if !std::ptr::eq(one, path) => Err(Clash::Overlap(one)),
            _ => {
                node.is_end = true;
                Ok(())
            }
        }
    }

    fn child_of_other_kind(&self, element: &PathElement) -> Option<&'p Path> {
        // Indexes and names never stand side by side here, so any child tells the kind of all.
        let (child, node) = self.children.first_key_value()?;
        let same = matches!(child, PathElement::Index(_)) == matches!(element, PathElement::Index(_));
        if same { None } else { node.first }
    }
}
