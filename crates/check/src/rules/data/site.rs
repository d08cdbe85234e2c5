//! Values of a write with their types: where a value comes from, and which field takes it.

use crate::check::Context;
use keyform_language::document::ast::{BinaryOp, Verb};
use keyform_language::scalar::{Bounds, Scalar};
use keyform_language::schema::limit::{self, Range};
use keyform_language::schema::{
    Action, Change, ChangeKind, Entity, EntityId, Expr, ExprKind, Field, FieldId, For, Let, LetSource, Model, Origin,
    PathStep, Result as ReadResult, Type, ValuePath, Write, WriteStep,
};

/// An action of a write, with the `for`s around it.
#[derive(Clone)]
pub(super) struct Site<'a> {
    pub(super) model: &'a Model,
    pub(super) write: &'a Write,
    pub(super) action: &'a Action,
    pub(super) id: EntityId,
    pub(super) entity: &'a Entity,
    fors: Vec<&'a For>,
}

/// Origin of a value, as far as it decides how strictly the value is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Computed from an argument of the call: checked when the write is called.
    Argument,
    /// Anything else.
    Model,
}

/// An expression's type; `None` if it depends on the field that takes the value, or is unknown.
pub(super) struct Typed {
    pub(super) kind: Option<Type>,
    pub(super) source: Source,
}

/// Returns all actions of all writes on known entities.
pub(super) fn sites<'a>(context: &Context<'a>) -> Vec<Site<'a>> {
    let mut sites = Vec::new();
    for write in &context.model.writes {
        collect(context.model, write, &write.steps, &mut Vec::new(), &mut sites);
    }
    sites
}

fn collect<'a>(
    model: &'a Model,
    write: &'a Write,
    steps: &'a [WriteStep],
    fors: &mut Vec<&'a For>,
    sites: &mut Vec<Site<'a>>,
) {
    for step in steps {
        match step {
            WriteStep::Action(action) => sites.extend(action.entity.map(|id| Site {
                model,
                write,
                action,
                id,
                entity: model.entity(id),
                fors: fors.clone(),
            })),
            WriteStep::For(each) => {
                fors.push(each);
                collect(model, write, &each.steps, fors, sites);
                fors.pop();
            }
        }
    }
}

impl<'a> Site<'a> {
    /// Returns true if the action puts a whole item.
    pub(super) fn makes(&self) -> bool {
        matches!(self.action.verb, Verb::Create | Verb::Put)
    }

    /// Returns true for the first action of its write, where what belongs to the whole write is reported.
    pub(super) fn is_first(&self) -> bool {
        self.write.actions().first().is_some_and(|first| std::ptr::eq(*first, self.action))
    }

    /// Returns true if the request computes a point in time, which is stored in the form of any type of times.
    pub(super) fn is_moment(&self, expr: &'a Expr) -> bool {
        is_moment(expr, &|part| self.kind(part))
    }

    /// Returns a date to which a duration is added.
    pub(super) fn moved_date(&self, expr: &'a Expr) -> Option<&'a Expr> {
        moved_date(expr, &|part| self.kind(part))
    }

    /// Returns the changes of known fields.
    pub(super) fn changes(&self) -> impl Iterator<Item = (&'a Change, FieldId, &'a Field)> + use<'a> {
        let (action, entity) = (self.action, self.entity);
        action.changes.iter().filter_map(move |change| change.field.map(|id| (change, id, entity.field(id))))
    }

    /// Returns the type of an expression, and whether it depends on an argument.
    pub(super) fn typed(&self, expr: &'a Expr) -> Typed {
        let source = if self.uses_argument(expr) { Source::Argument } else { Source::Model };
        Typed { kind: self.kind(expr), source }
    }

    fn uses_argument(&self, expr: &'a Expr) -> bool {
        let mut found = false;
        expr.walk(&mut |part| {
            if let ExprKind::ValuePath(place) = &part.kind {
                found |= match &place.origin {
                    Origin::Parameter(_) => true,
                    Origin::Element(depth) => self.fors.get(*depth).is_some_and(|each| self.uses_argument(&each.list)),
                    Origin::Let { number, .. } => match self.write.lets.get(*number).map(|binding| &binding.source) {
                        Some(LetSource::Value(value)) => self.uses_argument(value),
                        Some(LetSource::Read { .. } | LetSource::Unknown) | None => false,
                    },
                    Origin::Field(..) | Origin::Caller(_) | Origin::Read { .. } => false,
                };
            }
        });
        found
    }

    fn kind(&self, expr: &'a Expr) -> Option<Type> {
        match &expr.kind {
            ExprKind::ValuePath(place) => self.place(place),
            ExprKind::Call { function, arguments } => call(function, arguments),
            ExprKind::Binary(BinaryOp::Plus | BinaryOp::Minus, left, right) if is_duration(right) => {
                moved(&self.kind(left)?)
            }
            ExprKind::Binary(op @ (BinaryOp::Plus | BinaryOp::Minus), left, right) => {
                sum(*op == BinaryOp::Minus, &self.kind(left)?, &self.kind(right)?)
            }
            ExprKind::Number(text) => text
                .parse()
                .ok()
                .map(|number: i64| Type::Scalar(Scalar::Int, Bounds { min: Some(number), max: Some(number) })),
            ExprKind::Text(_)
            | ExprKind::Duration(_)
            | ExprKind::Bool(_)
            | ExprKind::None
            | ExprKind::List(_)
            | ExprKind::Record(_)
            | ExprKind::Guard { .. }
            | ExprKind::Not(_)
            | ExprKind::Binary(..)
            | ExprKind::Between(..)
            | ExprKind::In(..)
            | ExprKind::IsNone(_)
            | ExprKind::IsSome(_)
            | ExprKind::Absent
            | ExprKind::Exists
            | ExprKind::Unknown => None,
        }
    }

    fn place(&self, place: &'a ValuePath) -> Option<Type> {
        if let Some((field, rest)) = self.field(place) {
            return limit::at(&field.kind, rest).cloned();
        }
        let kind = match &place.origin {
            Origin::Parameter(number) => self.write.parameters.get(*number)?.kind.clone(),
            Origin::Caller(number) => self.model.caller.as_ref()?.fields.get(*number)?.kind.clone(),
            Origin::Element(depth) => match self.kind(&self.fors.get(*depth)?.list)?.resolved() {
                Type::List(of, _) | Type::Set(of, _) => of.as_ref().clone(),
                _ => return None,
            },
            Origin::Let { number, .. } => match &self.write.lets.get(*number)?.source {
                LetSource::Value(value) => self.kind(value)?,
                LetSource::Read { .. } | LetSource::Unknown => return None,
            },
            Origin::Field(..) | Origin::Read { .. } => return None,
        };
        limit::at(&kind, &place.path).cloned()
    }

    /// Returns the stored field that a reference reads, and the path into it.
    pub(super) fn field(&self, place: &'a ValuePath) -> Option<(&'a Field, &'a [PathStep])> {
        let (entity, field, rest) = self.stored(place)?;
        self.model.entity(entity).fields.get(field.0).map(|field| (field, rest))
    }

    /// Returns the entity and the field that a reference reads, and the path into it.
    pub(super) fn stored(&self, place: &'a ValuePath) -> Option<(EntityId, FieldId, &'a [PathStep])> {
        match &place.origin {
            Origin::Field(entity, field) => Some((*entity, *field, &place.path)),
            Origin::Let { entity: Some(entity), field: Some(field), .. } => Some((*entity, *field, &place.path)),
            Origin::Element(depth) => {
                let entity = self.element_entity(*depth)?;
                let (PathStep::Member(name), rest) = place.path.split_first()? else { return None };
                Some((entity, self.model.entity(entity).field_named(name)?, rest))
            }
            Origin::Read { read, field: Some(field), .. } => {
                let entity = self.model.read(*read).result.entities().first().copied()?;
                Some((entity, *field, &place.path))
            }
            Origin::Let { .. } | Origin::Parameter(_) | Origin::Caller(_) | Origin::Read { .. } => None,
        }
    }

    /// Returns the entity of the items that a `for` iterates over.
    fn element_entity(&self, depth: usize) -> Option<EntityId> {
        let ExprKind::ValuePath(ValuePath { origin: Origin::Let { number, .. }, path }) =
            &self.fors.get(depth)?.list.kind
        else {
            return None;
        };
        let read = self.write.lets.get(*number).filter(|_| path.is_empty()).and_then(Let::read)?;
        match &self.model.read(read).result {
            ReadResult::Parts(parts) => match parts.as_slice() {
                [(entity, _, _)] => *entity,
                _ => None,
            },
            ReadResult::Count(..) => None,
        }
    }
}

/// Returns the values that a change stores, with the type that each must have.
pub(super) fn stored_values<'c>(field: &'c Field, change: &'c Change) -> Vec<(&'c Expr, Type)> {
    let Some(kind) = limit::at(&field.kind, change.path()) else { return Vec::new() };
    let of = match kind.resolved() {
        Type::List(of, _) | Type::Set(of, _) => of.as_ref(),
        _ => &Type::Unknown,
    };
    let each = |expr: &'c Expr| match &expr.kind {
        ExprKind::List(parts) => parts.iter().map(|part| (part, of.clone())).collect(),
        _ => vec![(expr, of.clone())],
    };
    match &change.kind {
        ChangeKind::Set(expr) => vec![(expr, kind.clone())],
        ChangeKind::Increase(expr) | ChangeKind::Decrease(expr) => vec![(expr, limit::operand(kind))],
        ChangeKind::Append(expr) | ChangeKind::Add(expr) => each(expr),
        ChangeKind::Take(_) | ChangeKind::Remove => Vec::new(),
    }
}

/// Returns the type of a default, which may use fields of the same item; `None` if it is a literal or unknown.
pub(super) fn default_kind(entity: &Entity, expr: &Expr) -> Option<Type> {
    match &expr.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Field(_, field), path }) => {
            limit::at(&entity.fields.get(field.0)?.kind, path).cloned()
        }
        ExprKind::Call { function, arguments } => call(function, arguments),
        ExprKind::Binary(BinaryOp::Plus | BinaryOp::Minus, left, right) if is_duration(right) => {
            moved(&default_kind(entity, left)?)
        }
        ExprKind::Binary(op @ (BinaryOp::Plus | BinaryOp::Minus), left, right) => {
            sum(*op == BinaryOp::Minus, &default_kind(entity, left)?, &default_kind(entity, right)?)
        }
        _ => None,
    }
}

/// Returns true if a default is a point in time that the request computes.
pub(super) fn is_default_moment(entity: &Entity, expr: &Expr) -> bool {
    is_moment(expr, &|part| default_kind(entity, part))
}

/// Returns the date in a default to which a duration is added.
pub(super) fn moved_default_date<'e>(entity: &Entity, expr: &'e Expr) -> Option<&'e Expr> {
    moved_date(expr, &|part| default_kind(entity, part))
}

fn is_moment<'e>(expr: &'e Expr, kind: &dyn Fn(&'e Expr) -> Option<Type>) -> bool {
    match &expr.kind {
        ExprKind::Call { function, .. } => function == "now",
        ExprKind::Binary(BinaryOp::Plus | BinaryOp::Minus, left, right) if is_duration(right) => {
            is_moment(left, kind) || kind(left).is_some_and(|kind| kind.is_time() && kind.is_text())
        }
        _ => false,
    }
}

/// A date has no time of day, so that nothing can be added to it.
fn moved_date<'e>(expr: &'e Expr, kind: &dyn Fn(&'e Expr) -> Option<Type>) -> Option<&'e Expr> {
    let ExprKind::Binary(BinaryOp::Plus | BinaryOp::Minus, left, right) = &expr.kind else { return None };
    let is_date = |kind: Type| kind.scalar().is_some_and(|(scalar, _)| scalar == Scalar::Date);
    (is_duration(right) && kind(left).is_some_and(is_date)).then_some(expr)
}

fn is_duration(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Duration(_))
}

/// Returns the type of a time moved by a duration: text becomes a moment, a number stays what it is.
fn moved(kind: &Type) -> Option<Type> {
    match kind.is_time() && !kind.is_bare_number() {
        true if kind.is_text() => Some(Scalar::Timestamp.into()),
        true => Some(kind.clone()),
        false => None,
    }
}

fn call(function: &str, arguments: &[Expr]) -> Option<Type> {
    let length = |otherwise: i64| match arguments.first().map(|argument| &argument.kind) {
        Some(ExprKind::Number(text)) => text.parse().ok(),
        None => Some(otherwise),
        Some(_) => None,
    };
    let text = |count: i64| Type::Scalar(Scalar::Slug, Bounds { min: Some(count), max: Some(count) });
    match function {
        "ulid" => Some(Scalar::Ulid.into()),
        "uuid" => Some(Scalar::Uuid.into()),
        "now" => Some(Scalar::Timestamp.into()),
        "today" => Some(Scalar::Date.into()),
        "size" => Some(Type::Scalar(Scalar::Int, Bounds { min: Some(0), max: None })),
        "hash" => Some(text(64)),
        "code" => length(10).map(text),
        // Two hexadecimal digits a byte.
        "token" => length(32).map(|bytes| text(bytes * 2)),
        _ => None,
    }
}

/// Returns the type of a sum: a time and a duration have no type here.
fn sum(minus: bool, left: &Type, right: &Type) -> Option<Type> {
    if !left.is_bare_number() && left.time().is_some() {
        return None;
    }
    let (one, other) = (Range::of(left), Range::of(right));
    let is_whole = |kind: &Type| kind.scalar().is_some_and(|(scalar, bounds)| scalar.whole(bounds).is_some());
    if !is_whole(left) || !is_whole(right) {
        return (left.is_numeric() && right.is_numeric()).then(|| Scalar::Number.into());
    }
    let (low, high) = if minus { (other.max.map(|it| -it), other.min.map(|it| -it)) } else { (other.min, other.max) };
    let end = |one: Option<i128>, other: Option<i128>| i64::try_from(one?.checked_add(other?)?).ok();
    Some(Type::Scalar(Scalar::Int, Bounds { min: end(one.min, low), max: end(one.max, high) }))
}
