//! Fields of an item that a read or a step compares with a value: by the key, or by a verified equality.

use crate::document::ast::{BinaryOp, Verb};
use crate::plan::{self, Filter, ReadPlan};
use crate::schema::{
    Action, Entity, EntityId, Expr, ExprKind, FieldId, Format, Model, Origin, Part, Read, Test, ValuePath,
};
use crate::span::Span;

use super::disjunct::{conjuncts, equality};

/// A field of an item and the value it has.
#[derive(Clone, Debug)]
pub struct Enforced {
    /// Field of the item.
    pub field: FieldId,
    /// Value that the field is compared with.
    pub value: Expr,
    /// True if the key decides it, so that no other item is read or written.
    pub by_key: bool,
}

/// Returns an expression that refers to a value.
#[must_use]
pub fn place(origin: Origin) -> Expr {
    Expr { kind: ExprKind::ValuePath(ValuePath { origin, path: Vec::new() }), span: Span::default() }
}

/// Returns the fields of an entity that a read compares with its parameters or with claims.
#[must_use]
pub fn of_read(model: &Model, read: &Read, plan: &ReadPlan, entity: EntityId) -> Vec<Enforced> {
    let item = model.entity(entity);
    let is_tested =
        |number: usize| plan.filters.iter().any(|filter| matches!(filter, Filter::Parameter(of) if *of == number));
    let by_key =
        plan::arguments_in_place(item, plan).into_iter().filter(|given| given.is_exact || is_tested(given.parameter));
    let mut enforced: Vec<Enforced> = by_key
        .map(|given| Enforced { field: given.field, value: place(Origin::Parameter(given.parameter)), by_key: true })
        .collect();
    for filter in &plan.filters {
        let Filter::Parameter(number) = filter else { continue };
        let parameter = &read.parameters[*number];
        if let Some(field) = item.field_named(&parameter.field_name).filter(|_| parameter.test == Test::Equal) {
            enforced.push(Enforced { field, value: place(Origin::Parameter(*number)), by_key: false });
        }
    }
    let filters = read.filter.iter().flat_map(conjuncts).filter(|test| is_about(test, entity));
    enforced.extend(filters.filter_map(compared));
    enforced
}

/// Returns the fields of the stored item that a step compares with values.
#[must_use]
pub fn of_step(entity: &Entity, action: &Action) -> Vec<Enforced> {
    let keys = action.keys.iter().filter(|(field, _)| is_exact_in_key(entity, *field));
    let mut enforced: Vec<Enforced> =
        keys.map(|(field, value)| Enforced { field: *field, value: value.clone(), by_key: true }).collect();
    let equal = action.equalities.iter();
    enforced.extend(equal.map(|it| Enforced { field: it.field, value: it.value.clone(), by_key: false }));
    let may_lack = matches!(action.verb, Verb::Put | Verb::Upsert | Verb::Delete);
    let conditions = action.conditions.iter().map(|condition| &condition.condition);
    enforced.extend(
        conditions.flat_map(conjuncts).filter_map(|test| compared(if may_lack { or_absent(test) } else { test })),
    );
    enforced
}

/// Returns the test of an item that exists, of `absent or TEST`.
fn or_absent(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Or, left, right) if matches!(left.kind, ExprKind::Absent) => right,
        ExprKind::Binary(BinaryOp::Or, left, right) if matches!(right.kind, ExprKind::Absent) => left,
        _ => expr,
    }
}

/// Returns true if a test compares a field of this entity: a filter of a union names the part that it is about.
fn is_about(test: &Expr, entity: EntityId) -> bool {
    let is_own = |expr: &Expr| matches!(&expr.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Field(of, _), .. }) if *of == entity);
    equality(test).is_some_and(|(left, right)| is_own(left) || is_own(right))
}

/// Returns the field and the value of an equality between a field of the item and something else.
fn compared(test: &Expr) -> Option<Enforced> {
    let (left, right) = equality(test)?;
    let own = |expr: &Expr| match &expr.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Field(_, field), path }) if path.is_empty() => Some(*field),
        _ => None,
    };
    match (own(left), own(right)) {
        (Some(field), None) => Some(Enforced { field, value: right.clone(), by_key: false }),
        (None, Some(field)) => Some(Enforced { field, value: left.clone(), by_key: false }),
        _ => None,
    }
}

/// Returns true if the table's key has a place where different values of the field always have different texts.
fn is_exact_in_key(entity: &Entity, field: FieldId) -> bool {
    let templates = entity.key.iter().flat_map(|key| key.parts()).map(|part| &part.template);
    templates.into_iter().any(|template| {
        template.parts.iter().enumerate().any(|(place, part)| {
            matches!(part, Part::Field { field: of, format, .. } if *of == field && is_plain(*format))
                // A value before it that may continue takes over its text.
                && (0..=place).all(|place| !plan::may_continue(entity, template, place, false))
        })
    })
}

const fn is_plain(format: Format) -> bool {
    matches!(format, Format::Plain | Format::Milliseconds | Format::Pad(_) | Format::Hash)
}
