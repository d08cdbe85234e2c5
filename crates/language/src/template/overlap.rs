//! Decides if two keys can be equal, with two items as example.
//!
//! 1. If the two templates of some attribute share no string, the keys are disjoint.
//! 2. Otherwise the search looks for an item on each side, attribute by attribute. Values found in one attribute are
//!    fixed in the next, so that a field in two attributes has one value. It first tries sample ids and times, which
//!    yields readable examples, then any values.
//! 3. An example counts only if both items render the same key. If none is found although no attribute rules it out,
//!    the answer is [`Overlap::Undecided`].

use crate::schema::Format;

use super::automaton::{Shared, may_share, shared};
use super::render::{Values, accepts, value_of};
use super::sample;
use super::shape::{KeyShape, Shape};

/// Result of comparing two keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// No two items have the same key.
    Disjoint,
    /// These two items have the same key.
    Collision(Collision),
    /// Nothing rules out a collision, but no example was found.
    Undecided,
}

/// Two items with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// Key field values of the left item.
    pub left: Values,
    /// Key field values of the right item.
    pub right: Values,
    /// Text of each key attribute.
    pub key: Vec<String>,
}

/// Decides if an item of the left key can have the same key as one of the right; ignores attributes beyond the shorter
/// key.
#[must_use]
pub fn overlap(left: &KeyShape<'_>, right: &KeyShape<'_>) -> Overlap {
    let pairs = || left.attributes.iter().zip(&right.attributes);
    if pairs().any(|(one, two)| !share(one, two)) {
        return Overlap::Disjoint;
    }
    let sampled = (sampled(left), sampled(right));
    let found = search(left, right, &sampled.0, &sampled.1)
        .or_else(|| search(left, right, &Values::new(), &sampled.1))
        .or_else(|| search(left, right, &sampled.0, &Values::new()))
        .or_else(|| search(left, right, &Values::new(), &Values::new()));
    found.map_or(Overlap::Undecided, Overlap::Collision)
}

/// Returns true if two shapes have a string in common.
#[must_use]
pub fn share(left: &Shape<'_>, right: &Shape<'_>) -> bool {
    let apart = |(one, two): (char, char)| one != two;
    if left.prefix().chars().zip(right.prefix().chars()).any(apart) {
        return false;
    }
    may_share(&left.rough(), &right.rough()) && may_share(&left.automaton(), &right.automaton())
}

/// Returns sample values for fields whose strings a search would make unreadable: ids, times, addresses, hashes.
fn sampled(key: &KeyShape<'_>) -> Values {
    let stiff = key.fields().filter(|field| {
        let kind = field.kind.resolved();
        let id_or_time = kind.is_time() || kind.scalar().is_some_and(|(scalar, _)| scalar.has_one_case());
        id_or_time || field.format == Format::Hash
    });
    stiff.map(|field| (field.id, sample::of_type(field.kind, "id", 0))).collect()
}

/// Searches two items with the same key, starting from these values; tries the attributes in both directions.
fn search(left: &KeyShape<'_>, right: &KeyShape<'_>, left_values: &Values, right_values: &Values) -> Option<Collision> {
    let count = left.attributes.len().min(right.attributes.len());
    let forwards: Vec<usize> = (0..count).collect();
    let backwards: Vec<usize> = (0..count).rev().collect();
    [forwards, backwards].iter().find_map(|order| settle(left, right, left_values.clone(), right_values.clone(), order))
}

fn settle(
    left: &KeyShape<'_>,
    right: &KeyShape<'_>,
    mut left_values: Values,
    mut right_values: Values,
    order: &[usize],
) -> Option<Collision> {
    for &attribute in order {
        let one = left.attributes[attribute].bound(&left_values)?;
        let two = right.attributes[attribute].bound(&right_values)?;
        let text = shared(&one.automaton(), &two.automaton())?;
        learn(&one, |piece| text.left(piece), &mut left_values)?;
        learn(&two, |piece| text.right(piece), &mut right_values)?;
    }
    verified(left, right, left_values, right_values, order.len())
}

/// Records the field values that a string implies; `None` if a field would have two values.
pub(super) fn learn<'t>(shape: &Shape<'_>, text: impl Fn(usize) -> &'t str, values: &mut Values) -> Option<()> {
    for (number, piece) in shape.pieces.iter().enumerate() {
        let Some(field) = piece.field else { continue };
        let value = value_of(field.kind, field.format, text(number))?;
        if values.insert(field.id, value.clone()).is_some_and(|before| before != value) {
            return None;
        }
    }
    Some(())
}

fn verified(left: &KeyShape<'_>, right: &KeyShape<'_>, one: Values, two: Values, count: usize) -> Option<Collision> {
    let (left_key, right_key) = (left.render(&one)?, right.render(&two)?);
    let same = left_key[..count] == right_key[..count];
    let proper = is_proper(left, &one) && is_proper(right, &two);
    (same && proper).then_some(Collision { left: one, right: two, key: left_key })
}

/// Returns true if each value is valid for its field.
pub(super) fn is_proper(key: &KeyShape<'_>, values: &Values) -> bool {
    key.fields().all(|field| values.get(&field.id).is_some_and(|value| accepts(field.kind, value)))
}

/// Returns a string that both sides have, for callers that compare a single attribute.
pub(super) fn shared_text(left: &Shape<'_>, right: &Shape<'_>) -> Option<Shared> {
    shared(&left.automaton(), &right.automaton())
}
