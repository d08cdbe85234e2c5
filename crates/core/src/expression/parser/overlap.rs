//! Finds paths that overlap, and paths that treat the same value both as a map and as a list.
//!
//! The paths are inserted into a trie in text order, so the work grows with their total length and not with the
//! number of pairs. `a.b` and `a[0]` conflict at `a`; `a.b` and `a.b.c` overlap at `a.b`:
//!
//! ```text
//! a ─┬─ .b ─── .c
//!    └─ [0]
//! ```

use std::collections::BTreeMap;

use super::super::ast::{Path, PathElement};
use super::resolve::{Flaws, Rank};
use crate::error::expression::Flaw;

/// Records the first overlap and the first conflict among the paths.
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

/// A position in a document that paths lead to or through.
#[derive(Default)]
struct Node<'p> {
    /// First inserted path that leads to or through this node.
    first: Option<&'p Path>,
    /// True if that path ends at this node.
    is_end: bool,
    children: BTreeMap<&'p PathElement, Node<'p>>,
}

/// Earlier path that clashes with the inserted one.
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
        // A conflicting path is never inserted, so all children have the kind of the first one.
        let (child, node) = self.children.first_key_value()?;
        let same = matches!(child, PathElement::Index(_)) == matches!(element, PathElement::Index(_));
        if same { None } else { node.first }
    }
}
