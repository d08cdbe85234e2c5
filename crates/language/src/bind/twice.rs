//! An atomic request takes each item once: whether a write, with its arguments, is about one twice.
//!
//! What the steps are about is known only now: the elements of a list may repeat, and two accounts may be the same.

use std::collections::HashSet;

use keyform_core::Attributes;
use keyform_core::operation::TransactAction;

/// So many actions are compared one by one; of more, the keys are collected.
const COMPARED_MAX: usize = 16;

/// The number of the first action that is about an item of an action before it. `key_names` are those of the table of an action.
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

/// Where an action's item is.
fn place<'a>(action: &TransactAction, key_names: impl Iterator<Item = &'a str>) -> (&str, Vec<Option<String>>) {
    (action.table(), key_names.map(|name| attributes(action).get(name).map(|value| format!("{value:?}"))).collect())
}

/// The key, or the item that has it.
fn attributes(action: &TransactAction) -> &Attributes {
    match action {
        TransactAction::Put { item, .. } => item,
        TransactAction::Update { key, .. } | TransactAction::Delete { key, .. } | TransactAction::Check { key, .. } => {
            key
        }
    }
}
