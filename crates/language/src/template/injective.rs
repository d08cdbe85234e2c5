//! Does a key tell its items apart? With two items that it does not.
//!
//! A template whose pieces all have a known width, save one field, can always be read back. So can one whose automaton reads every text in a
//! single way. What one attribute tells is known in the next: after a partition key `T#{tenant}`, a sort key `{tenant}#{name}` holds no secret.

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
    /// The attribute whose template can be read in two ways, by its number.
    pub attribute: usize,
    /// The piece of it whose end is not certain.
    pub piece: usize,
    /// The fields of two items, if an example was found.
    pub example: Option<Example>,
}

/// Two items with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The fields of one.
    pub first: Values,
    /// The fields of the other.
    pub second: Values,
    /// What both have in the attribute.
    pub text: String,
}

/// The first attribute that does not tell its fields; `None` if each does, so that the key is injective.
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

/// Whether one shape alone tells its fields.
#[must_use]
pub fn is_injective(shape: &Shape<'_>) -> bool {
    tells(shape, &BTreeSet::new())
}

fn tells(shape: &Shape<'_>, known: &BTreeSet<FieldId>) -> bool {
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

/// Two items that share the attribute's text, with these fields given.
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
