//! Which entities a key condition can meet: those whose keys share a text with it.
//!
//! Free text could hold anything, delimiters too, and with them almost every key overlaps with every other. So there are two answers:
//! [`Texts::Usual`] assumes that free text holds no delimiter of the keys, and says what a reader of the model would say;
//! [`Texts::All`] assumes nothing, and says what must be left out for certain.

use crate::schema::{Entity, EntityKey, KeyPart, Read};
use crate::template::{Language, Piece, Shape, share};

use super::{BoundKey, BoundPart, SortCondition, SortRange};

/// What free text is assumed to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// Anything but the delimiters of the keys.
    Usual,
    /// Anything.
    All,
}

/// Whether an entity can have the partition key of the condition.
pub(super) fn partition(read: &Read, bound: &[BoundKey], entity: &Entity, key: &EntityKey, texts: Texts) -> bool {
    bound.iter().zip(&key.partition).all(|(bound, part)| equal(read, bound, entity, part, texts))
}

/// Whether an entity can have a sort key that meets the condition.
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

/// A template that is broken has been reported; it meets nothing.
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

/// Whether some text of the form may be no smaller than some text of the bound, judged by the text both begin with.
fn can_reach(written: &Shape<'_>, low: &Shape<'_>) -> bool {
    first_difference(written, low).is_none_or(|(one, other)| one >= other)
}

/// Whether some text of the form may be no greater than some text of the bound.
fn can_stay(written: &Shape<'_>, high: &Shape<'_>) -> bool {
    first_difference(written, high).is_none_or(|(one, other)| one <= other)
}

/// The first characters in which two shapes differ for certain; the end of one that is only text is smaller than any character.
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

/// The texts that a bound key can be.
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
