//! Decides if a key is injective, that is, different items always have different keys. If not, returns two items with
//! the same key.
//!
//! A template is injective if at most one of its fields has no fixed width, or if its automaton reads every string in a
//! single way. Fields determined by one attribute count as known in the others: after a partition key `T#{tenant}`,
//! `tenant` is fixed in a sort key `{tenant}#{name}`.

use std::collections::BTreeSet;

use crate::schema::FieldId;

use super::automaton::ambiguous;
use super::overlap::{is_proper, learn};
use super::render::Values;
use super::sample;
use super::shape::{KeyShape, Shape};

/// Two items with different fields and the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ambiguity {
    /// Index of the attribute whose template has two readings.
    pub attribute: usize,
    /// Index of the first piece whose text differs between the readings.
    pub piece: usize,
    /// Fields of two such items, if an example was found.
    pub example: Option<Example>,
}

/// Two items with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Fields of the first item.
    pub first: Values,
    /// Fields of the second item.
    pub second: Values,
    /// Text that both have in the attribute.
    pub text: String,
}

/// Returns the first attribute that does not determine its fields; `None` if the key is injective.
#[must_use]
pub fn ambiguity(key: &KeyShape<'_>) -> Option<Ambiguity> {
    let mut known = BTreeSet::new();
    let mut open: Vec<usize> = (0..key.attributes.len()).collect();
    loop {
        let before = open.len();
        open.retain(|&attribute| {
            let told = tells(&key.attributes[attribute], &known);
            if told {
                known.extend(key.attributes[attribute].fields().map(|field| field.id));
            }
            !told
        });
        if open.is_empty() {
            return None;
        }
        if open.len() == before {
            return doubt(key, open[0], &known);
        }
    }
}

/// Returns true if the shape alone determines its fields.
#[must_use]
pub fn is_injective(shape: &Shape<'_>) -> bool {
    tells(shape, &BTreeSet::new())
}

/// Returns true if the shape determines its fields, given those that are `known`.
pub(crate) fn tells(shape: &Shape<'_>, known: &BTreeSet<FieldId>) -> bool {
    let wide = shape.pieces.iter().filter(|piece| piece.language.width().is_none());
    let fields: BTreeSet<_> = wide.filter_map(|piece| piece.field).map(|field| field.id).collect();
    fields.difference(known).count() <= 1 || ambiguous(&shape.automaton()).is_none()
}

fn doubt(key: &KeyShape<'_>, attribute: usize, known: &BTreeSet<FieldId>) -> Option<Ambiguity> {
    let shape = &key.attributes[attribute];
    let fixed = samples(shape, |field| known.contains(&field));
    let example = example(key, attribute, &fixed).or_else(|| example(key, attribute, &Values::new()));
    let text = ambiguous(&shape.automaton())?;
    let differs = |piece: &usize| text.left(*piece) != text.right(*piece);
    let piece = (0..shape.pieces.len()).find(differs)?;
    Some(Ambiguity { attribute, piece, example })
}

/// Returns two items that share the attribute's text, with the `fixed` fields given.
fn example(key: &KeyShape<'_>, attribute: usize, fixed: &Values) -> Option<Example> {
    let shape = key.attributes[attribute].bound(fixed)?;
    let narrow = |field: FieldId| {
        let pieces = || shape.pieces.iter().filter(move |piece| piece.field.is_some_and(|own| own.id == field));
        pieces().all(|piece| piece.language.width().is_some())
    };
    let stiff = samples(&shape, narrow);
    let shape = shape.bound(&stiff)?;
    let text = ambiguous(&shape.automaton())?;
    let mut first: Values = fixed.iter().chain(&stiff).map(|(field, value)| (*field, value.clone())).collect();
    let mut second = first.clone();
    learn(&shape, |piece| text.left(piece), &mut first)?;
    learn(&shape, |piece| text.right(piece), &mut second)?;
    let own = KeyShape { partition: 0, attributes: vec![key.attributes[attribute].clone()] };
    let (one, two) = (own.render(&first)?, own.render(&second)?);
    let proper = is_proper(&own, &first) && is_proper(&own, &second) && first != second && one == two;
    proper.then(|| Example { first, second, text: one.concat() })
}

fn samples(shape: &Shape<'_>, wanted: impl Fn(FieldId) -> bool) -> Values {
    let fields = shape.fields().filter(|field| wanted(field.id));
    fields.map(|field| (field.id, sample::of_type(field.kind, field.name, 0))).collect()
}
