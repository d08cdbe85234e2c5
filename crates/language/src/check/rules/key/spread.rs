//! Over how many values a partition key spreads its items.

use crate::schema::{Entity, Field, Format, KeyPart, Part, Type};

use super::naming;

/// How many values a partition key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check::rules) enum Spread {
    /// One.
    Constant,
    /// Only choices: so many.
    Few(usize),
    /// Stretches of time, perhaps with choices: at any moment a few.
    Moment,
    /// Enough.
    Many,
}

/// From so many values on a partition key spreads its items, however few that is.
const ENOUGH: usize = 100;
/// What a text that names a type or a status is taken to have.
const KINDS: usize = 10;

/// The spread of a partition key; nothing if a part of it has been reported.
pub(in crate::check::rules) fn spread(entity: &Entity, partition: &[KeyPart]) -> Option<Spread> {
    let mut all = Spread::Constant;
    for part in partition.iter().flat_map(|part| &part.template.parts) {
        all = match part {
            Part::Text(_) => all,
            Part::Field { field, format, .. } => joined(all, of_field(entity.field(*field), *format)),
            Part::Unknown { .. } => return None,
        };
    }
    Some(match all {
        Spread::Few(count) if count >= ENOUGH => Spread::Many,
        other => other,
    })
}

fn joined(one: Spread, two: Spread) -> Spread {
    match (one, two) {
        (Spread::Many, _) | (_, Spread::Many) => Spread::Many,
        (Spread::Moment, _) | (_, Spread::Moment) => Spread::Moment,
        (Spread::Few(one), Spread::Few(two)) => Spread::Few(one.saturating_mul(two)),
        (Spread::Constant, other) | (other, Spread::Constant) => other,
    }
}

/// The spread of one field. A small range of numbers is a shard somebody has thought about.
pub(in crate::check::rules) fn of_field(field: &Field, format: Format) -> Spread {
    let kind = field.kind.resolved();
    if matches!(format, Format::Day | Format::Hour | Format::Month) {
        return Spread::Moment;
    }
    match kind {
        Type::Bool => Spread::Few(2),
        Type::OneOf(texts) => Spread::Few(texts.len()),
        Type::String(_) | Type::Slug(_) if naming::is_one_of_few(&field.name) => Spread::Few(KINDS),
        Type::Date if !naming::words(&field.name).concat().contains("birth") => Spread::Moment,
        Type::String(_) | Type::Int(_) | Type::Epoch | Type::EpochMs | Type::Datetime | Type::Timestamp
            if naming::is_bucket_of_time(&field.name) =>
        {
            Spread::Moment
        }
        _ => Spread::Many,
    }
}
