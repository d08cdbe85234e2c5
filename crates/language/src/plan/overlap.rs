//! Computes which entities a key condition can match: those whose keys share a text with it.
//!
//! Free text can contain delimiters, and then almost every key overlaps with every other. So there are two modes:
//! [`Texts::Usual`] assumes that free text contains no delimiter of the keys, which matches the intent of the model.
//! [`Texts::All`] assumes nothing, and decides what must be filtered to be safe.

use crate::schema::{Entity, EntityKey, KeyPart, Read};
use crate::template::{Language, Piece, Shape, share};

use super::{BoundKey, BoundPart, SortCondition, SortRange};

/// Assumed content of free text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// Anything except the delimiters of the keys.
    Usual,
    /// Anything.
    All,
}

/// Returns true if an entity can have a partition key that matches the condition.
pub(super) fn partition(read: &Read, bound: &[BoundKey], entity: &Entity, key: &EntityKey, texts: Texts) -> bool {
    bound.iter().zip(&key.partition).all(|(bound, part)| equal(read, bound, entity, part, texts))
}

/// Returns true if an entity can have a sort key that matches the condition.
pub(super) fn sort(read: &Read, condition: &SortCondition, entity: &Entity, key: &EntityKey, texts: Texts) -> bool {
    let mut parts = key.sort.iter();
    let mut met = |bound| parts.next().is_none_or(|part| equal(read, bound, entity, part, texts));
    let leading = condition.equal.iter().all(&mut met);
    let last = match (&condition.range, parts.next()) {
        (Some(range), Some(part)) => in_range(read, range, entity, part, texts),
        _ => true,
    };
    leading && last
}

/// Returns true if the bound key and the entity's key can be equal. A broken template, already reported, matches
/// nothing.
fn equal(read: &Read, bound: &BoundKey, entity: &Entity, part: &KeyPart, texts: Texts) -> bool {
    let Some(written) = Shape::of(&part.template, &entity.fields) else { return false };
    meet(&shape(read, bound), &written, texts)
}

fn meet(asked: &Shape<'_>, written: &Shape<'_>, texts: Texts) -> bool {
    match texts {
        Texts::All => share(asked, written),
        Texts::Usual => {
            let delimiters = asked.delimiters().or(written.delimiters());
            share(&asked.without(delimiters), &written.without(delimiters))
        }
    }
}

fn in_range(read: &Read, range: &SortRange, entity: &Entity, part: &KeyPart, texts: Texts) -> bool {
    let Some(written) = Shape::of(&part.template, &entity.fields) else { return false };
    let asked = |bound: &BoundKey| shape(read, bound);
    match range {
        SortRange::Equal(key) => meet(&asked(key), &written, texts),
        SortRange::Begins(key) => begins(&asked(key), &written, texts),
        SortRange::Between(low, high) => can_reach(&written, &asked(low)) && can_stay(&written, &asked(high)),
        SortRange::From(low) | SortRange::After(low) => can_reach(&written, &asked(low)),
        SortRange::Until(high) | SortRange::Before(high) => can_stay(&written, &asked(high)),
    }
}

fn begins(asked: &Shape<'_>, written: &Shape<'_>, texts: Texts) -> bool {
    match texts {
        Texts::All => share(&asked.clone().open(), written),
        Texts::Usual => {
            let delimiters = asked.delimiters().or(written.delimiters());
            share(&asked.without(delimiters).open(), &written.without(delimiters))
        }
    }
}

/// Returns true if some text of the shape may be greater than or equal to some text of the bound, judged by their
/// literal prefixes.
fn can_reach(written: &Shape<'_>, low: &Shape<'_>) -> bool {
    first_difference(written, low).is_none_or(|(one, other)| one >= other)
}

/// Returns true if some text of the shape may be less than or equal to some text of the bound.
fn can_stay(written: &Shape<'_>, high: &Shape<'_>) -> bool {
    first_difference(written, high).is_none_or(|(one, other)| one <= other)
}

/// Returns the first characters in which two shapes certainly differ. `None` marks the end of a literal shape and sorts
/// before any character.
fn first_difference(first: &Shape<'_>, second: &Shape<'_>) -> Option<(Option<char>, Option<char>)> {
    let (one, other) = (first.prefix(), second.prefix());
    let (mut one, mut other) = (one.chars(), other.chars());
    loop {
        match (one.next(), other.next()) {
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => return Some((Some(a), Some(b))),
            (None, Some(b)) if is_text(first) => return Some((None, Some(b))),
            (Some(a), None) if is_text(second) => return Some((Some(a), None)),
            _ => return None,
        }
    }
}

fn is_text(shape: &Shape<'_>) -> bool {
    shape.pieces.iter().all(|piece| piece.field.is_none())
}

/// Returns the set of strings that a bound key can have.
fn shape<'a>(read: &'a Read, bound: &BoundKey) -> Shape<'a> {
    let language = |part: &BoundPart| match part {
        BoundPart::Text(text) => Language::text(text),
        BoundPart::Argument { parameter, format, .. } => {
            let parameter = read.parameters.get(*parameter);
            parameter.and_then(|found| Language::of(&found.kind, *format)).unwrap_or_else(Language::anything)
        }
    };
    Shape { pieces: bound.parts.iter().map(|part| Piece { field: None, language: language(part) }).collect() }
}
