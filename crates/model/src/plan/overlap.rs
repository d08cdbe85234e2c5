//! Which entities a key condition can meet: two templates overlap if some text is of both forms.
//!
//! Each side becomes a row of characters and gaps; a gap stands for any text of a kind of characters. Two rows overlap if one can be
//! read along the other. Where nothing is known of a value, any text is assumed: a doubt counts as a meeting.

use std::collections::HashSet;

use crate::schema::{Entity, EntityKey, Format, KeyPart, Part, Read, Template, Type};

use super::{BoundKey, BoundPart, SortCondition, SortRange};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    One(char),
    Gap(Kind),
}

/// The characters a gap may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Any,
    Digits,
    /// Letters and digits.
    Alphanumeric,
    /// Digits, letters, `-`, `:`, `.`, `_`: ids, slugs and times.
    Word,
}

impl Kind {
    fn holds(self, character: char) -> bool {
        match self {
            Self::Any => true,
            Self::Digits => character.is_ascii_digit(),
            Self::Alphanumeric => character.is_ascii_alphanumeric(),
            Self::Word => character.is_ascii_alphanumeric() || matches!(character, '-' | ':' | '.' | '_'),
        }
    }

    fn of(kind: &Type, format: Format) -> Self {
        match format {
            Format::Milliseconds | Format::Seconds | Format::Pad(_) => Self::Digits,
            Format::Hash => Self::Alphanumeric,
            Format::Month | Format::Day | Format::Hour => Self::Word,
            Format::Plain | Format::Upper | Format::Lower => match kind.resolved() {
                Type::Ulid => Self::Alphanumeric,
                Type::Epoch | Type::EpochMs => Self::Digits,
                Type::Uuid | Type::Slug(_) | Type::Timestamp | Type::Date | Type::Int(_) | Type::Money => Self::Word,
                _ => Self::Any,
            },
        }
    }
}

/// Whether an entity can have the partition key of the condition.
pub(super) fn partition(read: &Read, bound: &[BoundKey], entity: &Entity, key: &EntityKey) -> bool {
    bound.iter().zip(&key.partition).all(|(bound, part)| equal(read, bound, entity, part))
}

/// Whether an entity can have a sort key that meets the condition.
pub(super) fn sort(read: &Read, condition: &SortCondition, entity: &Entity, key: &EntityKey) -> bool {
    let mut parts = key.sort.iter();
    let leading = condition.equal.iter().all(|bound| parts.next().is_none_or(|part| equal(read, bound, entity, part)));
    let last = match (&condition.range, parts.next()) {
        (Some(range), Some(part)) => in_range(read, range, entity, part),
        _ => true,
    };
    leading && last
}

fn equal(read: &Read, bound: &BoundKey, entity: &Entity, part: &KeyPart) -> bool {
    overlaps(&of_bound(read, bound), &of_template(entity, &part.template))
}

fn in_range(read: &Read, range: &SortRange, entity: &Entity, part: &KeyPart) -> bool {
    let template = of_template(entity, &part.template);
    let bound = |key: &BoundKey| of_bound(read, key);
    match range {
        SortRange::Equal(key) => overlaps(&bound(key), &template),
        SortRange::Begins(key) => {
            let mut open = bound(key);
            open.push(Piece::Gap(Kind::Any));
            overlaps(&open, &template)
        }
        SortRange::Between(low, high) => can_reach(&template, &bound(low)) && can_stay(&template, &bound(high)),
        SortRange::From(low) | SortRange::After(low) => can_reach(&template, &bound(low)),
        SortRange::Until(high) | SortRange::Before(high) => can_stay(&template, &bound(high)),
    }
}

/// Whether some text of the form is not smaller than some text of the bound, judged by what both begin with.
fn can_reach(template: &[Piece], low: &[Piece]) -> bool {
    first_difference(template, low).is_none_or(|(one, other)| one >= other)
}

/// Whether some text of the form is not greater than some text of the bound.
fn can_stay(template: &[Piece], high: &[Piece]) -> bool {
    first_difference(template, high).is_none_or(|(one, other)| one <= other)
}

/// The first characters in which two rows differ for certain; an end counts as the smallest character.
fn first_difference(first: &[Piece], second: &[Piece]) -> Option<(char, char)> {
    let mut pairs = first.iter().zip(second);
    let differing = pairs.find(|pair| !matches!(pair, (Piece::One(a), Piece::One(b)) if a == b));
    match differing {
        Some((Piece::One(one), Piece::One(other))) => Some((*one, *other)),
        Some((Piece::Gap(Kind::Digits), Piece::One(other))) if *other > '9' => Some(('9', *other)),
        Some((Piece::Gap(Kind::Digits), Piece::One(other))) if *other < '0' => Some(('0', *other)),
        Some(_) | None => None,
    }
}

fn of_template(entity: &Entity, template: &Template) -> Vec<Piece> {
    let mut row = Vec::new();
    for part in &template.parts {
        match part {
            Part::Text(text) => row.extend(text.chars().map(Piece::One)),
            Part::Field { field, format, .. } => row.push(Piece::Gap(Kind::of(&entity.field(*field).kind, *format))),
            Part::Unknown { .. } => row.push(Piece::Gap(Kind::Any)),
        }
    }
    row
}

fn of_bound(read: &Read, bound: &BoundKey) -> Vec<Piece> {
    let mut row = Vec::new();
    for part in &bound.parts {
        match part {
            BoundPart::Text(text) => row.extend(text.chars().map(Piece::One)),
            BoundPart::Argument { parameter, format, .. } => {
                let kind = read.parameters.get(*parameter).map_or(Kind::Any, |found| Kind::of(&found.kind, *format));
                row.push(Piece::Gap(kind));
            }
        }
    }
    row
}

/// Whether some text is of both forms.
fn overlaps(first: &[Piece], second: &[Piece]) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![(0, 0)];
    while let Some((i, j)) = open.pop() {
        if !seen.insert((i, j)) {
            continue;
        }
        match (first.get(i), second.get(j)) {
            (None, None) => return true,
            (Some(Piece::One(a)), Some(Piece::One(b))) if a == b => open.push((i + 1, j + 1)),
            (Some(Piece::Gap(kind)), Some(Piece::One(b))) => {
                open.push((i + 1, j));
                if kind.holds(*b) {
                    open.push((i, j + 1));
                }
            }
            (Some(Piece::One(a)), Some(Piece::Gap(kind))) => {
                open.push((i, j + 1));
                if kind.holds(*a) {
                    open.push((i + 1, j));
                }
            }
            (Some(Piece::Gap(_)), Some(Piece::Gap(_))) => open.extend([(i + 1, j), (i, j + 1)]),
            (Some(Piece::Gap(_)), None) => open.push((i + 1, j)),
            (None, Some(Piece::Gap(_))) => open.push((i, j + 1)),
            _ => {}
        }
    }
    false
}
