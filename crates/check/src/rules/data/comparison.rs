//! Comparisons of two values, with the type and the origin of each side.

use crate::check::Context;
use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{
    Entity, EntityId, Expr, ExprKind, FieldId, Let, LetSource, Model, Origin, Parameter, Permission, Type, ValuePath,
    limit,
};

/// Names that a condition may use.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub(super) model: &'a Model,
    pub(super) parameters: &'a [Parameter],
    pub(super) lets: &'a [Let],
}

/// A comparison within a condition.
pub(super) struct Comparison<'a> {
    pub(super) names: Names<'a>,
    pub(super) op: BinaryOp,
    pub(super) left: &'a Expr,
    pub(super) right: &'a Expr,
}

/// Returns the comparisons of all filters, guards, permissions, requirements and conditions of steps.
pub(super) fn comparisons<'a>(context: &Context<'a>) -> Vec<Comparison<'a>> {
    let model = context.model;
    let mut found = Vec::new();
    for read in &model.reads {
        let names = Names { model, parameters: &read.parameters, lets: &[] };
        let allow = read.allow.as_ref().and_then(Permission::condition);
        read.filter.iter().chain(allow).for_each(|condition| collect(names, condition, &mut found));
    }
    for guard in &model.guards {
        let names = Names { model, parameters: &guard.parameters, lets: &[] };
        guard.condition.iter().for_each(|condition| collect(names, condition, &mut found));
    }
    for write in &model.writes {
        let names = Names { model, parameters: &write.parameters, lets: &write.lets };
        let allow = write.allow.as_ref().and_then(Permission::condition);
        let required = write.requires.iter().map(|require| &require.condition);
        allow.into_iter().chain(required).for_each(|condition| collect(names, condition, &mut found));
        for action in write.actions() {
            action.conditions.iter().for_each(|condition| collect(names, &condition.condition, &mut found));
        }
    }
    found
}

fn collect<'a>(names: Names<'a>, condition: &'a Expr, found: &mut Vec<Comparison<'a>>) {
    condition.walk(&mut |part| match &part.kind {
        ExprKind::Binary(
            op @ (BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual),
            left,
            right,
        ) => found.push(Comparison { names, op: *op, left, right }),
        ExprKind::Between(of, low, high) => {
            for end in [low, high] {
                found.push(Comparison { names, op: BinaryOp::LessEqual, left: of, right: end });
            }
        }
        ExprKind::In(of, list) => {
            found.extend(list.iter().map(|one| Comparison { names, op: BinaryOp::Equal, left: of, right: one }));
        }
        _ => {}
    });
}

impl<'a> Names<'a> {
    /// Returns the type of a reference; `None` for other expressions and for elements of a `for`.
    pub(super) fn kind(self, expr: &'a Expr) -> Option<Type> {
        let ExprKind::ValuePath(place) = &expr.kind else { return None };
        if let Some((entity, field)) = self.field(place) {
            let path = &place.path;
            return limit::at(&entity.fields.get(field.0)?.kind, path).cloned();
        }
        let kind = match &place.origin {
            Origin::Parameter(number) => self.parameters.get(*number)?.kind.clone(),
            Origin::Caller(number) => self.model.caller.as_ref()?.fields.get(*number)?.kind.clone(),
            Origin::Let { number, .. } => match &self.lets.get(*number)?.source {
                LetSource::Value(value) => self.kind(value)?,
                LetSource::Read { .. } | LetSource::Unknown => return None,
            },
            Origin::Field(..) | Origin::Element(_) | Origin::Read { .. } => return None,
        };
        limit::at(&kind, &place.path).cloned()
    }

    fn field(self, place: &ValuePath) -> Option<(&'a Entity, FieldId)> {
        self.stored(place).map(|(entity, field)| (self.model.entity(entity), field))
    }

    /// Returns the entity and field of a stored value, and of a parameter that is named after a field.
    pub(super) fn stored(self, place: &ValuePath) -> Option<(EntityId, FieldId)> {
        match &place.origin {
            Origin::Field(entity, field) => Some((*entity, *field)),
            Origin::Let { entity: Some(entity), field: Some(field), .. } => Some((*entity, *field)),
            Origin::Read { read, field: Some(field), .. } => {
                self.model.read(*read).result.entities().first().map(|entity| (*entity, *field))
            }
            Origin::Let { .. }
            | Origin::Parameter(_)
            | Origin::Caller(_)
            | Origin::Element(_)
            | Origin::Read { .. } => None,
        }
    }

    /// Returns the field whose values an expression has: a stored field, or the field that a parameter is named after.
    pub(super) fn source(self, expr: &Expr) -> Option<(EntityId, FieldId)> {
        let ExprKind::ValuePath(place) = &expr.kind else { return None };
        if !place.path.is_empty() {
            return None;
        }
        match &place.origin {
            Origin::Parameter(number) => self.parameters.get(*number).filter(|it| !it.declared)?.field,
            _ => self.stored(place),
        }
    }
}
