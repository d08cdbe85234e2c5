//! Detects a write that addresses the same item twice, which an atomic request does not allow.
//!
//! The check needs the arguments: elements of a list may repeat, and two parameters may name the same item.

use std::collections::HashSet;

use keyform_core::Attributes;
use keyform_core::operation::TransactAction;

/// Up to this many actions are compared pairwise; above it, the keys are collected in a set.
const COMPARED_MAX: usize = 16;

/// Returns the index of the first action on the same item as an earlier one. `key_names` yields the key attributes of
/// an action's table.
pub(super) fn second<'a, N: Iterator<Item = &'a str>>(
    actions: &[TransactAction],
    key_names: impl Fn(usize) -> N,
) -> Option<usize> {
    if actions.len() > COMPARED_MAX {
        let mut seen = HashSet::with_capacity(actions.len());
        return (0..actions.len()).find(|number| !seen.insert(place(&actions[*number], key_names(*number))));
    }
    let is_repeated = |number: &usize| {
        let same = |other: &TransactAction| {
            other.table() == actions[*number].table()
                && key_names(*number).all(|name| attributes(other).get(name) == attributes(&actions[*number]).get(name))
        };
        actions[..*number].iter().any(same)
    };
    (1..actions.len()).find(is_repeated)
}

/// Returns the table and the key values of an action's item.
fn place<'a>(action: &TransactAction, key_names: impl Iterator<Item = &'a str>) -> (&str, Vec<Option<String>>) {
    (action.table(), key_names.map(|name| attributes(action).get(name).map(|value| format!("{value:?}"))).collect())
}

/// Returns the key of an action, or the item that contains it.
fn attributes(action: &TransactAction) -> &Attributes {
    match action {
        TransactAction::Put { item, .. } => item,
        TransactAction::Update { key, .. } | TransactAction::Delete { key, .. } | TransactAction::Check { key, .. } => {
            key
        }
    }
}
