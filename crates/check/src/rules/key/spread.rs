//! Estimates the number of values of a partition key.

use keyform_language::scalar::Resolution;
use keyform_language::schema::{Entity, Field, Format, KeyPart, Part, Type};

use super::naming;

/// Number of values of a partition key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Spread {
    /// A single value.
    Constant,
    /// Enumerated values only, with the product of their counts.
    Few(usize),
    /// Periods of time, possibly with enumerated values: few are in use at any moment.
    Moment,
    /// Enough values to distribute the load.
    Many,
}

/// Number of values from which a partition key counts as [`Spread::Many`].
const ENOUGH: usize = 100;
/// Assumed number of values of a string named like a type or a status.
const KINDS: usize = 10;

/// Returns the spread of a partition key, or `None` if it has an unknown field, which K01 reports.
pub(in crate::rules) fn spread(entity: &Entity, partition: &[KeyPart]) -> Option<Spread> {
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

/// Returns the spread of one field. An integer with a small range counts as `Many`: it is usually a deliberate shard
/// number.
pub(in crate::rules) fn of_field(field: &Field, format: Format) -> Spread {
    let kind = field.kind.resolved();
    if matches!(format, Format::Day | Format::Hour | Format::Month) {
        return Spread::Moment;
    }
    let resolution = kind.time().map(|time| time.resolution);
    let is_text = kind.free_text().is_some();
    let is_number_or_time = kind.value_bounds().is_some() || resolution.is_some_and(|it| it != Resolution::Days);
    match kind {
        Type::OneOf(texts) => Spread::Few(texts.len()),
        Type::Scalar(scalar, _) => match scalar.few_values() {
            Some(count) => Spread::Few(count),
            None if kind.characters().is_some() && naming::is_one_of_few(&field.name) => Spread::Few(KINDS),
            None if resolution == Some(Resolution::Days) && !naming::words(&field.name).concat().contains("birth") => {
                Spread::Moment
            }
            None if (is_text || is_number_or_time) && naming::is_bucket_of_time(&field.name) => Spread::Moment,
            None => Spread::Many,
        },
        _ => Spread::Many,
    }
}
