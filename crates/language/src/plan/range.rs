//! Turns a range of a field into a range of the key that contains exactly the same items (ADR 0009).
//!
//! `createdAt > after` over `MSG#{createdAt:ms}#{messageId}` must exclude every message of that millisecond, and must
//! not extend into the entity whose keys follow. Keys of that millisecond begin with `MSG#1766793600000#`, so the range
//! begins at the first text after all of them, and ends at the first text after all that begin with `MSG#`:
//!
//! ```text
//! MSG#1766793600000#01J…   the last one seen      left out
//! MSG#1766793600000$       <- lower end
//! MSG#1766793600001#01J…   the next               found
//! MSG$                     <- upper end
//! ```
//!
//! This works because a time always has the same width. If the width varies and text follows, keys are not in
//! the order of their values, and no such range exists.

use crate::document::ast::KeyType;
use crate::scalar::Resolution;
use crate::schema::{EntityKey, FieldId, Format, KeyAttribute, Parameter, Part, Template, Test, Type, words};

use super::bound::{self, Given};
use super::{BoundKey, BoundPart, Obstacle, SortRange};

/// Sorts after any character in a key.
const LAST: char = char::MAX;

/// Range of a key attribute.
pub(super) struct KeyRange {
    pub(super) range: SortRange,
    /// Indexes of the parameters it uses.
    pub(super) used: Vec<usize>,
    /// Parameters the key range decides only approximately: items at an end of the range must be filtered.
    pub(super) inexact: Vec<usize>,
}

/// Ends of the range that the parameters of a field request.
#[derive(Default)]
struct Ends {
    lower: Option<End>,
    upper: Option<End>,
}

#[derive(Clone, Copy)]
struct End {
    parameter: usize,
    argument: usize,
    inclusive: bool,
}

/// Position of the ranged field in the template of one key attribute.
struct RangedField<'a> {
    attribute: &'a str,
    /// True if the attribute is of type S.
    text: bool,
    /// Filled pieces before the field.
    prefix: Vec<BoundPart>,
    format: Format,
    /// Literal text after the field: `None` at the end of the template, empty if another field follows directly.
    rest: Option<&'a str>,
}

/// Returns the range that parameters request for the first part of a template without equality; `None` if no parameter
/// concerns it.
pub(super) fn of(
    given: Given<'_>,
    attribute: &KeyAttribute,
    template: &Template,
    prefix: &[BoundPart],
    open: usize,
) -> Result<Option<KeyRange>, Obstacle> {
    let Some(Part::Field { field, format, .. }) = template.parts.get(open) else { return Ok(None) };
    let place = RangedField {
        attribute: &attribute.name,
        text: attribute.kind == KeyType::String,
        prefix: prefix.to_vec(),
        format: *format,
        rest: template.parts.get(open + 1).map(|part| if let Part::Text(text) = part { text } else { "" }),
    };
    let limits: Vec<(usize, &Parameter)> =
        given.about(*field).filter(|(_, parameter)| !matches!(parameter.test, Test::Equal | Test::In)).collect();
    let Some(&(first, _)) = limits.first() else { return Ok(None) };
    let kind = &given.entity.field(*field).kind;
    if let Some(&(number, _)) = limits.iter().find(|(_, parameter)| parameter.test == Test::Begins) {
        return beginning(&place, number, kind).map(Some);
    }
    if let Some(why) = unordered(kind, &place) {
        return Err(Obstacle::NotARange { parameter: first, why });
    }
    Ok(Some(place.between(&ends(&limits), kind)))
}

fn beginning(place: &RangedField<'_>, parameter: usize, kind: &Type) -> Result<KeyRange, Obstacle> {
    let text = kind.is_text() || kind.is_bytes();
    if !text || !matches!(place.format, Format::Plain | Format::Upper | Format::Lower) {
        return Err(Obstacle::WrongType {
            parameter,
            wanted: format!("{}, which has no prefixes", words::described(kind)),
        });
    }
    let mut parts = place.prefix.clone();
    parts.push(bound::argument(parameter, 0, place.format));
    let range = SortRange::Begins(bound::key(place.attribute, parts));
    Ok(KeyRange { range, used: vec![parameter], inexact: Vec::new() })
}

fn ends(limits: &[(usize, &Parameter)]) -> Ends {
    let mut ends = Ends::default();
    for &(parameter, limit) in limits {
        let end = |argument, inclusive| Some(End { parameter, argument, inclusive });
        match limit.test {
            Test::After => ends.lower = end(0, false),
            Test::From => ends.lower = end(0, true),
            Test::Before => ends.upper = end(0, false),
            Test::Until => ends.upper = end(0, true),
            Test::Between => {
                ends.lower = end(0, true);
                ends.upper = end(1, true);
            }
            Test::Equal | Test::Begins | Test::In => {}
        }
    }
    ends
}

/// Returns the reason the order of the keys differs from the order of the values, if it does.
fn unordered(kind: &Type, place: &RangedField<'_>) -> Option<String> {
    match place.format {
        Format::Hash => return Some("a hash does not preserve order".to_owned()),
        Format::Upper | Format::Lower => {
            return Some("the key converts its case, which changes the order".to_owned());
        }
        _ => {}
    }
    match place.rest {
        Some(rest) if !has_fixed_width(kind, place.format) && !kind.is_numeric() => {
            let follows = if rest.is_empty() { "another field".to_owned() } else { format!("`{rest}`") };
            Some(format!("it varies in length and is followed by {follows}, so keys do not sort like its values"))
        }
        _ => None,
    }
}

/// Returns true if all values have the same width, or no value is a prefix of another.
pub(super) fn has_fixed_width(kind: &Type, format: Format) -> bool {
    match format {
        Format::Milliseconds
        | Format::Seconds
        | Format::Month
        | Format::Day
        | Format::Hour
        | Format::Pad(_)
        | Format::Hash => true,
        Format::Plain | Format::Upper | Format::Lower => match kind.resolved() {
            Type::Scalar(scalar, bounds) => kind.is_text() && scalar.language(*bounds).width().is_some(),
            Type::OneOf(values) => {
                let begins = |a: &String| values.iter().any(|b| a != b && b.starts_with(a.as_str()));
                !values.iter().any(begins)
            }
            _ => false,
        },
    }
}

/// Returns true if the format maps several values to the same text.
pub(super) fn is_coarse(kind: &Type, format: Format) -> bool {
    match format {
        Format::Month | Format::Day | Format::Hour => true,
        Format::Seconds => kind.time().is_none_or(|time| time.resolution != Resolution::Seconds),
        Format::Plain | Format::Milliseconds | Format::Pad(_) | Format::Hash | Format::Upper | Format::Lower => false,
    }
}

impl RangedField<'_> {
    /// Returns the key with this end in it, followed by `more`.
    fn at(&self, end: End, more: Option<char>) -> BoundKey {
        let mut parts = self.prefix.clone();
        parts.push(bound::argument(end.parameter, end.argument, self.format));
        if let Some(more) = more {
            bound::push_text(&mut parts, more.encode_utf8(&mut [0; 4]));
        }
        bound::key(self.attribute, parts)
    }

    /// Returns the character that, after a value, sorts after everything that can follow the value in a key.
    fn beyond(&self) -> char {
        self.rest.and_then(|rest| rest.chars().next()).and_then(successor).unwrap_or(LAST)
    }

    fn between(&self, ends: &Ends, kind: &Type) -> KeyRange {
        let coarse = is_coarse(kind, self.format);
        let mut inexact = Vec::new();
        let lower = ends.lower.map(|end| self.lower(end, coarse, &mut inexact));
        let upper = ends.upper.map(|end| self.upper(end, coarse, &mut inexact));
        let range = self.closed(lower, upper, &mut inexact);
        let mut used: Vec<usize> = [ends.lower, ends.upper].into_iter().flatten().map(|end| end.parameter).collect();
        used.dedup();
        inexact.dedup();
        KeyRange { range, used, inexact }
    }

    /// Returns the lower end of the key range.
    fn lower(&self, end: End, coarse: bool, inexact: &mut Vec<usize>) -> Bound {
        if coarse {
            inexact.push(end.parameter);
        }
        match (end.inclusive || coarse, self.rest) {
            (true, _) => Bound { key: self.at(end, None), inclusive: true, end },
            (false, None) => Bound { key: self.at(end, None), inclusive: false, end },
            (false, Some(_)) => Bound { key: self.at(end, Some(self.beyond())), inclusive: true, end },
        }
    }

    /// Returns the upper end of the key range.
    fn upper(&self, end: End, coarse: bool, inexact: &mut Vec<usize>) -> Bound {
        if coarse {
            inexact.push(end.parameter);
        }
        match (end.inclusive || coarse, self.rest) {
            (true, None) => Bound { key: self.at(end, None), inclusive: true, end },
            (true, Some(_)) => Bound { key: self.at(end, Some(self.beyond())), inclusive: false, end },
            (false, _) => Bound { key: self.at(end, None), inclusive: false, end },
        }
    }

    /// Closes an open end with the prefix, if there is one.
    fn closed(&self, lower: Option<Bound>, upper: Option<Bound>, inexact: &mut Vec<usize>) -> SortRange {
        let prefix = || bound::key(self.attribute, self.prefix.clone());
        match (lower, upper) {
            (Some(lower), None) if self.prefix.is_empty() && lower.inclusive => SortRange::From(lower.key),
            (Some(lower), None) if self.prefix.is_empty() => SortRange::After(lower.key),
            (Some(lower), None) => SortRange::Between(self.first_of(lower, inexact), self.end_of_prefix()),
            (None, Some(upper)) if self.prefix.is_empty() && upper.inclusive => SortRange::Until(upper.key),
            (None, Some(upper)) if self.prefix.is_empty() => SortRange::Before(upper.key),
            (None, Some(upper)) => SortRange::Between(prefix(), self.last_of(upper, inexact)),
            (Some(lower), Some(upper)) => {
                SortRange::Between(self.first_of(lower, inexact), self.last_of(upper, inexact))
            }
            (None, None) => SortRange::Begins(prefix()),
        }
    }

    /// Returns the lower end for `BETWEEN`, which includes its ends. The next text after another is that text followed
    /// by U+0000. A number has no such successor, so the item with that number is filtered after the read.
    fn first_of(&self, mut lower: Bound, inexact: &mut Vec<usize>) -> BoundKey {
        if !lower.inclusive && self.text {
            bound::push_text(&mut lower.key.parts, "\0");
        } else if !lower.inclusive {
            inexact.push(lower.end.parameter);
        }
        lower.key
    }

    /// Returns the upper end for `BETWEEN`, which includes its ends. No text is the immediate predecessor of another.
    /// If more text follows the field, no item has exactly that key; otherwise the item with it is filtered after the
    /// read.
    fn last_of(&self, upper: Bound, inexact: &mut Vec<usize>) -> BoundKey {
        if !upper.inclusive && self.rest.is_none() {
            inexact.push(upper.end.parameter);
        }
        upper.key
    }

    /// Returns the first string after all strings that begin with the prefix.
    fn end_of_prefix(&self) -> BoundKey {
        bound::key(self.attribute, end_of(&self.prefix))
    }
}

struct Bound {
    key: BoundKey,
    inclusive: bool,
    end: End,
}

/// Returns the first string after all strings that begin with these pieces.
pub(super) fn end_of(prefix: &[BoundPart]) -> Vec<BoundPart> {
    let mut parts = prefix.to_vec();
    let next = match parts.last() {
        Some(BoundPart::Text(text)) => text.chars().next_back().and_then(successor),
        _ => None,
    };
    match (next, parts.last_mut()) {
        (Some(next), Some(BoundPart::Text(text))) => {
            text.pop();
            text.push(next);
        }
        _ => bound::push_text(&mut parts, LAST.encode_utf8(&mut [0; 4])),
    }
    parts
}

fn successor(character: char) -> Option<char> {
    (character..=LAST).nth(1)
}

/// Returns the first field of the sort key that no parameter fixes by equality, its format, and true if more of the
/// template follows it.
pub(super) fn first_open(given: Given<'_>, key: &EntityKey) -> Option<(FieldId, Format, bool)> {
    for part in &key.sort {
        for (number, piece) in part.template.parts.iter().enumerate() {
            if let Part::Field { field, format, .. } = piece
                && given.equal(*field).is_none()
            {
                return Some((*field, *format, number + 1 < part.template.parts.len()));
            }
        }
    }
    None
}
