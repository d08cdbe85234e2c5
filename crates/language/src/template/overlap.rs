//! Can two keys be the same? With two items that show it.
//!
//! 1. If for some attribute the two templates share no text, no: that is certain.
//! 2. Else an item for each side is looked for, attribute by attribute: what one attribute settles is text in the next, so that a field in
//!    two attributes has one value. First with sample ids and times on both sides, which gives examples one can read, then with any values.
//! 3. An example counts only if both items render the same key. Where none is found although no attribute rules it out, the answer is
//!    [`Overlap::Undecided`].

use crate::schema::{Format, Type};

use super::automaton::{Shared, shared};
use super::render::{Values, accepts, value_of};
use super::sample;
use super::shape::{KeyShape, Shape};

/// Whether two keys can be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// They never are.
    Disjoint,
    /// These two items have the same key.
    Collision(Collision),
    /// Nothing rules it out, and no example was found.
    Undecided,
}

/// Two items with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The values of the left item's key fields.
    pub left: Values,
    /// The values of the right item's key fields.
    pub right: Values,
    /// The text of each attribute.
    pub key: Vec<String>,
}

/// Whether an item of the left key can have the key of one of the right; attributes beyond the shorter of the two are not looked at.
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

/// Whether two shapes have a text in common.
#[must_use]
pub fn share(left: &Shape<'_>, right: &Shape<'_>) -> bool {
    let apart = |(one, two): (char, char)| one != two;
    if left.prefix().chars().zip(right.prefix().chars()).any(apart) {
        return false;
    }
    shared(&left.rough(), &right.rough()).is_some() && shared(&left.automaton(), &right.automaton()).is_some()
}

/// Sample values for the fields whose texts nobody would invent: ids, times, addresses, hashes.
fn sampled(key: &KeyShape<'_>) -> Values {
    let stiff = key.fields().filter(|field| {
        let kind = field.kind.resolved();
        let id_or_time = matches!(kind, Type::Ulid | Type::Uuid | Type::Email) || kind.is_time();
        id_or_time || field.format == Format::Hash
    });
    stiff.map(|field| (field.id, sample::of_type(field.kind, "id", 0))).collect()
}

/// Looks for two items with one key, beginning with these values; forwards and backwards through the attributes.
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

/// Takes over what a text says of each field.
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

/// Whether each value is one its field can have.
pub(super) fn is_proper(key: &KeyShape<'_>, values: &Values) -> bool {
    key.fields().all(|field| values.get(&field.id).is_some_and(|value| accepts(field.kind, value)))
}

/// A text of both sides, for those who look at one attribute only.
pub(super) fn shared_text(left: &Shape<'_>, right: &Shape<'_>) -> Option<Shared> {
    shared(&left.automaton(), &right.automaton())
}
