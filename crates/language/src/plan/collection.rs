//! Reads of several entities in one Query: the entities share a partition and at least a prefix of the sort key.

use crate::schema::Result as ReadResult;
use crate::span::Span;

use super::read::{Condition, Pass};
use super::{BoundKey, BoundPart, Obstacle, SortCondition, SortRange};

/// Returns one condition that matches the items of all entities of a read.
pub(super) fn joined(pass: &Pass<'_>, conditions: Vec<Condition>) -> Result<Condition, Vec<Obstacle>> {
    let mut conditions = conditions.into_iter().enumerate();
    let Some((_, mut all)) = conditions.next() else { return Err(Vec::new()) };
    for (number, one) in conditions {
        if all.partition != one.partition || !can_join(&all.sort, &one.sort) {
            return Err(vec![Obstacle::DifferentPartitions {
                first: pass.entities[0],
                second: pass.entities[number],
                span: span_of(pass, number),
            }]);
        }
        all.sort = common(all.sort, &one.sort);
        all.used.extend(one.used);
        all.inexact.extend(one.inexact);
    }
    Ok(all)
}

/// Returns true if two conditions are equal, or if neither contains an argument: a range over one entity's key means
/// nothing for another entity.
fn can_join(first: &SortCondition, second: &SortCondition) -> bool {
    first == second || (!has_argument(first) && !has_argument(second))
}

fn has_argument(condition: &SortCondition) -> bool {
    let is_argument = |part: &BoundPart| matches!(part, BoundPart::Argument { .. });
    match &condition.range {
        _ if !condition.equal.is_empty() => true,
        None => false,
        Some(SortRange::Equal(key) | SortRange::Begins(key)) => key.parts.iter().any(is_argument),
        Some(_) => true,
    }
}

/// Returns the common prefix of both conditions.
fn common(first: SortCondition, second: &SortCondition) -> SortCondition {
    if first == *second {
        return first;
    }
    let (Some(one), Some(other)) = (text_of(&first), text_of(second)) else { return SortCondition::default() };
    let shared: String = one.1.chars().zip(other.1.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    if shared.is_empty() {
        return SortCondition::default();
    }
    let key = BoundKey { attribute: one.0.to_owned(), parts: vec![BoundPart::Text(shared)] };
    SortCondition { equal: Vec::new(), range: Some(SortRange::Begins(key)) }
}

fn text_of(condition: &SortCondition) -> Option<(&str, &str)> {
    match &condition.range {
        Some(SortRange::Equal(key) | SortRange::Begins(key)) => match key.parts.first() {
            Some(BoundPart::Text(text)) => Some((&key.attribute, text)),
            _ => None,
        },
        _ => None,
    }
}

fn span_of(pass: &Pass<'_>, number: usize) -> Span {
    match &pass.read.result {
        ReadResult::Parts(parts) => parts.get(number).map_or(pass.read.name_span, |(_, _, span)| *span),
        ReadResult::Count(_, span) => *span,
    }
}
