//! Computes the order of a read's items and compares it with the requested order.

use crate::schema::{Entity, EntityId, FieldId, Format, Read, Type};
use crate::span::Spanned;

use super::bound::Given;
use super::read::{Pass, attributes};
use super::{Obstacle, ReadPlan, RequestKind, range};

/// Primary order of a Query's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Field the items are ordered by.
    pub field: FieldId,
    /// Format of the field in the key.
    pub format: Format,
    /// True if more of the key follows it.
    pub is_followed: bool,
}

/// Returns the field a read of an entity is ordered by, after the fields fixed by equality; `None` if no field is left.
#[must_use]
pub fn order(read: &Read, entity: &Entity, index: Option<crate::schema::IndexId>) -> Option<Order> {
    let given = Given { read, entity, lists: false };
    let (field, format, is_followed) = range::first_open(given, entity.key_of(index)?)?;
    Some(Order { field, format, is_followed })
}

/// Checks the order that a read requests.
pub(super) fn check(pass: &Pass<'_>, plan: &ReadPlan) -> Result<(), Obstacle> {
    let read = pass.read;
    if let (Some((_, descending, span)), Some(Spanned { value: newest, .. })) = (read.ordered, read.newest_first)
        && descending != newest
    {
        return Err(Obstacle::WrongOrder { span, actual: "the other direction, as the read requests too".to_owned() });
    }
    if plan.unique || plan.request != RequestKind::Query {
        return check_batch(pass, plan);
    }
    pass.entities.iter().try_for_each(|&entity| check_entity(pass, pass.model.entity(entity)))
}

/// Rejects a requested order for a BatchGetItem, which returns items in no defined order.
fn check_batch(pass: &Pass<'_>, plan: &ReadPlan) -> Result<(), Obstacle> {
    match wanted_span(pass.read) {
        Some(span) if plan.request == RequestKind::BatchGet => {
            Err(Obstacle::WrongOrder { span, actual: "no order: a BatchGetItem returns none".to_owned() })
        }
        _ => Ok(()),
    }
}

fn wanted_span(read: &Read) -> Option<crate::span::Span> {
    read.ordered.map(|(_, _, span)| span).or(read.newest_first.map(|newest| newest.span))
}

fn check_entity(pass: &Pass<'_>, entity: &Entity) -> Result<(), Obstacle> {
    let Some(span) = wanted_span(pass.read) else { return Ok(()) };
    let (_, sort) = attributes(pass.model.table(pass.table), pass.index);
    if sort.is_empty() {
        return Err(Obstacle::WrongOrder { span, actual: "no order: there is no sort key".to_owned() });
    }
    if pass.read.key.is_some() {
        return Ok(());
    }
    let Some(order) = order(pass.read, entity, pass.index) else { return Ok(()) };
    let right = match pass.read.ordered {
        Some((field, _, _)) => follows(pass, entity, field, order),
        None => tells_age(&entity.field(order.field).kind, order.format),
    };
    if right { Ok(()) } else { Err(Obstacle::WrongOrder { span, actual: words(entity, order) }) }
}

/// Returns true if the order is that of the field. The field belongs to one entity of the read; other entities match it
/// by name.
fn follows(pass: &Pass<'_>, entity: &Entity, (of, field): (EntityId, FieldId), order: Order) -> bool {
    let name = &pass.model.entity(of).field(field).name;
    let Some(field) = entity.field_named(name) else { return false };
    let given = Given { read: pass.read, entity, lists: false };
    let kept = !matches!(order.format, Format::Hash | Format::Upper | Format::Lower);
    given.equal(field).is_some()
        || (order.field == field && kept && !range::is_coarse(&entity.field(field).kind, order.format))
}

/// Returns true if the order of values is chronological.
fn tells_age(kind: &Type, format: Format) -> bool {
    let grows = kind.scalar().is_some_and(|(scalar, _)| scalar.grows_with_time());
    let ages = grows || kind.is_time() || kind.is_numeric() || matches!(kind.resolved(), Type::Unknown);
    ages && format != Format::Hash
}

fn words(entity: &Entity, order: Order) -> String {
    let field = entity.field(order.field);
    let how = match order.format {
        Format::Hash => ", hashed",
        Format::Day => " by the day",
        Format::Hour => " by the hour",
        Format::Month => " by the month",
        Format::Seconds if range::is_coarse(&field.kind, order.format) => " by the second",
        _ => "",
    };
    format!("`{}`{how}", field.name)
}
