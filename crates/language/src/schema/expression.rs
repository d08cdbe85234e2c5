//! Conditions and values with every name resolved.

use keyform_core::AttributeValue;

use crate::document::ast::BinaryOp;
use crate::span::Span;

use super::pattern::{GuardId, ReadId};
use super::{EntityId, FieldId};

/// An expression with its source range.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Operation and operands.
    pub kind: ExprKind,
    /// Source range of the expression.
    pub span: Span,
}

/// Kind of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `"text"`
    Text(String),
    /// `12`, `1.5`, as written
    Number(String),
    /// `30d`, in seconds
    Duration(u64),
    /// `true`, `false`
    Bool(bool),
    /// `none`
    None,
    /// `[a, b]`
    List(Vec<Expr>),
    /// `{ a = b }`
    Record(Vec<(String, Expr)>),
    /// A field, parameter, `let`, loop element or claim, possibly with a path into it.
    ValuePath(ValuePath),
    /// `now()`, `ulid()`, `size(x)`, …
    Call {
        /// One of [`FUNCTIONS`].
        function: String,
        /// Arguments in source order.
        arguments: Vec<Expr>,
    },
    /// `member(serverId)` in `allow`.
    Guard {
        /// Called guard.
        guard: GuardId,
        /// One argument per parameter of the guard.
        arguments: Vec<Expr>,
    },
    /// `not a`
    Not(Box<Expr>),
    /// `a and b`, `a = b`, `a + b`, …
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `x between a and b`
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `x in (a, b)`
    In(Box<Expr>, Vec<Expr>),
    /// `x is none`
    IsNone(Box<Expr>),
    /// `x is some`
    IsSome(Box<Expr>),
    /// `absent`
    Absent,
    /// `exists`
    Exists,
    /// Unresolved expression; already reported.
    Unknown,
}

/// Functions that expressions may call.
pub const FUNCTIONS: [&str; 9] = ["now", "today", "ulid", "uuid", "code", "token", "size", "lower", "hash"];

/// A reference to a value: its origin and a path into it.
#[derive(Clone, Debug)]
pub struct ValuePath {
    /// Source of the value.
    pub origin: Origin,
    /// Path into the value; empty for the whole value.
    pub path: Vec<PathStep>,
}

/// Source of a value.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Field of the current item: the target of an action, the item a filter tests, or the owner of a default.
    Field(EntityId, FieldId),
    /// Parameter of the pattern, by index.
    Parameter(usize),
    /// Result of a `let`, by index in [`Write::lets`](super::Write::lets); `field` is set if the path begins with a
    /// field.
    Let {
        /// Index of the `let`.
        number: usize,
        /// Entity it read; `None` for a plain value or an unresolved read.
        entity: Option<EntityId>,
        /// Field of that entity.
        field: Option<FieldId>,
    },
    /// Claim of the caller, by index.
    Caller(usize),
    /// Element of an enclosing `for`, by depth (0 is the outermost).
    Element(usize),
    /// Result of a read, in `allow`: `channelById(channelId).serverId`.
    Read {
        /// Called read.
        read: ReadId,
        /// Arguments in parameter order.
        arguments: Vec<Expr>,
        /// Field of the returned entity.
        field: Option<FieldId>,
    },
}

impl Origin {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Field(a, b), Self::Field(c, d)) => (a, b) == (c, d),
            (Self::Parameter(a), Self::Parameter(b)) | (Self::Caller(a), Self::Caller(b)) => a == b,
            (Self::Element(a), Self::Element(b)) => a == b,
            (Self::Let { number, field, .. }, Self::Let { number: n, field: f, .. }) => (number, field) == (n, f),
            (Self::Read { read, arguments, field }, Self::Read { read: r, arguments: a, field: f }) => {
                (read, field) == (r, f) && arguments.len() == a.len() && arguments.iter().zip(a).all(|(x, y)| x.same(y))
            }
            _ => false,
        }
    }
}

impl PathStep {
    /// Returns true if both steps are structurally equal, ignoring source positions.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Member(a), Self::Member(b)) => a == b,
            (Self::Element(a), Self::Element(b)) => a.same(b),
            _ => false,
        }
    }
}

/// A step of a path.
#[derive(Clone, Debug)]
pub enum PathStep {
    /// `.name`
    Member(String),
    /// `[key]`
    Element(Box<Expr>),
}

impl Expr {
    /// Calls `visit` on this expression and every subexpression, outermost first.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        match &self.kind {
            ExprKind::List(parts) => parts.iter().for_each(|part| part.walk(visit)),
            ExprKind::Record(parts) => parts.iter().for_each(|(_, part)| part.walk(visit)),
            ExprKind::Call { arguments, .. } | ExprKind::Guard { arguments, .. } => {
                arguments.iter().for_each(|argument| argument.walk(visit));
            }
            ExprKind::Not(of) | ExprKind::IsNone(of) | ExprKind::IsSome(of) => of.walk(visit),
            ExprKind::Binary(_, left, right) => [left, right].into_iter().for_each(|side| side.walk(visit)),
            ExprKind::Between(of, low, high) => [of, low, high].into_iter().for_each(|part| part.walk(visit)),
            ExprKind::In(of, list) => {
                of.walk(visit);
                list.iter().for_each(|part| part.walk(visit));
            }
            ExprKind::ValuePath(place) => place.walk(visit),
            ExprKind::Text(_)
            | ExprKind::Number(_)
            | ExprKind::Duration(_)
            | ExprKind::Bool(_)
            | ExprKind::None
            | ExprKind::Absent
            | ExprKind::Exists
            | ExprKind::Unknown => {}
        }
    }

    /// Calls `visit` on every reference, those inside the arguments of a read before the read itself.
    pub(crate) fn walk_places_mut(&mut self, visit: &mut dyn FnMut(&mut ValuePath)) {
        match &mut self.kind {
            ExprKind::List(parts) => parts.iter_mut().for_each(|part| part.walk_places_mut(visit)),
            ExprKind::Record(parts) => parts.iter_mut().for_each(|(_, part)| part.walk_places_mut(visit)),
            ExprKind::Call { arguments, .. } | ExprKind::Guard { arguments, .. } => {
                arguments.iter_mut().for_each(|argument| argument.walk_places_mut(visit));
            }
            ExprKind::Not(of) | ExprKind::IsNone(of) | ExprKind::IsSome(of) => of.walk_places_mut(visit),
            ExprKind::Binary(_, left, right) => {
                [left, right].into_iter().for_each(|side| side.walk_places_mut(visit));
            }
            ExprKind::Between(of, low, high) => {
                [of, low, high].into_iter().for_each(|part| part.walk_places_mut(visit));
            }
            ExprKind::In(of, list) => {
                of.walk_places_mut(visit);
                list.iter_mut().for_each(|part| part.walk_places_mut(visit));
            }
            ExprKind::ValuePath(place) => place.walk_places_mut(visit),
            ExprKind::Text(_)
            | ExprKind::Number(_)
            | ExprKind::Duration(_)
            | ExprKind::Bool(_)
            | ExprKind::None
            | ExprKind::Absent
            | ExprKind::Exists
            | ExprKind::Unknown => {}
        }
    }

    /// Returns true if it uses a field of the current item.
    #[must_use]
    pub fn has_own_fields(&self) -> bool {
        let mut found = false;
        self.walk(&mut |expr| {
            found |= matches!(expr.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Field(..), .. }));
        });
        found
    }

    /// Returns the entities whose fields it uses, each once.
    #[must_use]
    pub fn own_entities(&self) -> Vec<EntityId> {
        let mut entities = Vec::new();
        self.walk(&mut |expr| {
            if let ExprKind::ValuePath(ValuePath { origin: Origin::Field(entity, _), .. }) = expr.kind
                && !entities.contains(&entity)
            {
                entities.push(entity);
            }
        });
        entities
    }

    /// Returns the conditions that a condition joins with `and`, in source order.
    #[must_use]
    pub fn conjuncts(&self) -> Vec<&Self> {
        match &self.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => [left.conjuncts(), right.conjuncts()].concat(),
            _ => vec![self],
        }
    }

    /// Returns the parameters that it uses, by index, each once.
    #[must_use]
    pub fn parameters(&self) -> Vec<usize> {
        let mut numbers = Vec::new();
        self.walk(&mut |expr| {
            if let ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), .. }) = expr.kind
                && !numbers.contains(&number)
            {
                numbers.push(number);
            }
        });
        numbers
    }

    /// Returns the fields of the current item that it uses, each once.
    #[must_use]
    pub fn own_fields(&self) -> Vec<FieldId> {
        let mut fields = Vec::new();
        self.walk(&mut |expr| {
            if let ExprKind::ValuePath(ValuePath { origin: Origin::Field(_, field), .. }) = expr.kind
                && !fields.contains(&field)
            {
                fields.push(field);
            }
        });
        fields
    }
}

impl Expr {
    /// Returns the value of a literal; `None` for other expressions, and for `none`.
    #[must_use]
    pub fn constant(&self) -> Option<AttributeValue> {
        Some(match &self.kind {
            ExprKind::Text(text) => text.as_str().into(),
            ExprKind::Number(text) => AttributeValue::N(text.parse().ok()?),
            ExprKind::Duration(seconds) => i64::try_from(*seconds).ok()?.into(),
            ExprKind::Bool(value) => (*value).into(),
            ExprKind::List(parts) => AttributeValue::L(parts.iter().map(Self::constant).collect::<Option<_>>()?),
            ExprKind::Record(parts) => {
                let part = |(name, part): &(String, Self)| Some((name.clone(), part.constant()?));
                AttributeValue::M(parts.iter().map(part).collect::<Option<_>>()?)
            }
            ExprKind::ValuePath(_)
            | ExprKind::Call { .. }
            | ExprKind::Guard { .. }
            | ExprKind::Not(_)
            | ExprKind::Binary(..)
            | ExprKind::Between(..)
            | ExprKind::In(..)
            | ExprKind::IsNone(_)
            | ExprKind::IsSome(_)
            | ExprKind::None
            | ExprKind::Absent
            | ExprKind::Exists
            | ExprKind::Unknown => return None,
        })
    }

    /// Returns true if both expressions are structurally equal, ignoring source positions.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        let all =
            |left: &[Self], right: &[Self]| left.len() == right.len() && left.iter().zip(right).all(|(a, b)| a.same(b));
        match (&self.kind, &other.kind) {
            (ExprKind::Text(a), ExprKind::Text(b)) | (ExprKind::Number(a), ExprKind::Number(b)) => a == b,
            (ExprKind::Duration(a), ExprKind::Duration(b)) => a == b,
            (ExprKind::Bool(a), ExprKind::Bool(b)) => a == b,
            (ExprKind::None, ExprKind::None) => true,
            (ExprKind::List(a), ExprKind::List(b)) => all(a, b),
            (ExprKind::ValuePath(a), ExprKind::ValuePath(b)) => a.same(b),
            (ExprKind::Call { function: f, arguments: a }, ExprKind::Call { function: g, arguments: b }) => {
                f == g && all(a, b)
            }
            (ExprKind::Binary(o, a, b), ExprKind::Binary(p, c, d)) => o == p && a.same(c) && b.same(d),
            _ => false,
        }
    }

    /// Returns true if each evaluation yields a new value: `ulid()`, `token(32)`.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        matches!(&self.kind, ExprKind::Call { function, arguments }
            if matches!(function.as_str(), "ulid" | "code" | "token") || function == "uuid" && arguments.is_empty())
    }
}

impl ValuePath {
    /// Returns true if both references are structurally equal, ignoring source positions.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        self.origin.same(&other.origin)
            && self.path.len() == other.path.len()
            && self.path.iter().zip(&other.path).all(|(step, other)| step.same(other))
    }

    fn walk_places_mut(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        if let Origin::Read { arguments, .. } = &mut self.origin {
            arguments.iter_mut().for_each(|argument| argument.walk_places_mut(visit));
        }
        for step in &mut self.path {
            if let PathStep::Element(key) = step {
                key.walk_places_mut(visit);
            }
        }
        visit(self);
    }

    fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        if let Origin::Read { arguments, .. } = &self.origin {
            arguments.iter().for_each(|argument| argument.walk(visit));
        }
        for step in &self.path {
            if let PathStep::Element(key) = step {
                key.walk(visit);
            }
        }
    }
}
