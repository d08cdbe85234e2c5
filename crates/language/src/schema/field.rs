//! Fields: types, flags and defaults.

use keyform_core::AttributeValue;

use crate::scalar::{Bounds, Counted, Scalar, Stored, Time};
use crate::span::Span;
use crate::types::{self, Stage};

use super::expression::{Expr, ExprKind};
use super::{EntityId, FieldId};

/// A field of an entity, a shape or a nested record.
#[derive(Clone, Debug)]
pub struct Field {
    /// Field name and attribute name.
    pub name: String,
    /// Source range of the name; in the shape, for a field of a shape.
    pub name_span: Span,
    /// Source range of the whole line.
    pub span: Span,
    /// Lines of the `///` comments, without the slashes.
    pub docs: Vec<String>,
    /// Resolved type.
    pub kind: Type,
    /// Source range of the type.
    pub type_span: Span,
    /// The attribute may be absent (`?`).
    pub optional: bool,
    /// The attribute may be stored as NULL (`| null`).
    pub null: bool,
    /// Flags after the type.
    pub flags: Flags,
    /// Default value.
    pub default: Option<Expr>,
}

/// A type. A `ref` or `copy` holds its target and, through [`Type::resolved`], its plain type.
pub type Type = types::Type<Resolved>;

/// Stage of a resolved model: references are ids.
#[derive(Clone, Copy, Debug)]
pub enum Resolved {}

impl Stage for Resolved {
    type Text = String;
    type Element = Type;
    type Field = Field;
    /// `None` if the name did not resolve.
    type Entity = Option<EntityId>;
    /// `None` if it did not resolve.
    type RefField = Option<FieldId>;
    /// `None` if it did not resolve.
    type CopyField = Option<FieldId>;
    type Plain = Box<Type>;
}

impl Type {
    /// Returns the type behind `ref` and `copy`.
    #[must_use]
    pub fn resolved(&self) -> &Self {
        match self {
            Self::Ref { plain, .. } | Self::Copy { plain, .. } => plain.resolved(),
            other => other,
        }
    }

    /// Returns the scalar behind `ref` and `copy` with its bounds; `None` for other types.
    #[must_use]
    pub fn scalar(&self) -> Option<(Scalar, Bounds)> {
        match self.resolved() {
            Self::Scalar(scalar, bounds) => Some((*scalar, *bounds)),
            _ => None,
        }
    }

    /// Returns the DynamoDB type of a scalar or a literal union; `None` for other types.
    #[must_use]
    pub fn stored(&self) -> Option<Stored> {
        match self.resolved() {
            Self::Scalar(scalar, _) => Some(scalar.stored()),
            Self::OneOf(_) => Some(Stored::Text),
            _ => None,
        }
    }

    /// Returns true if values are stored as DynamoDB type N.
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        self.stored() == Some(Stored::Number)
    }

    /// Returns true for a number that is neither a time nor an amount.
    #[must_use]
    pub fn is_bare_number(&self) -> bool {
        self.scalar().is_some_and(|(scalar, _)| scalar.is_bare_number())
    }

    /// Returns true if values are stored as DynamoDB type S.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.stored() == Some(Stored::Text)
    }

    /// Returns true if values are stored as DynamoDB type B.
    #[must_use]
    pub fn is_bytes(&self) -> bool {
        self.stored() == Some(Stored::Bytes)
    }

    /// Returns true if values are stored as DynamoDB type BOOL.
    #[must_use]
    pub fn is_bool(&self) -> bool {
        self.stored() == Some(Stored::Bool)
    }

    /// Returns the conversion between values and points in time; `None` if values are not times.
    #[must_use]
    pub fn time(&self) -> Option<Time> {
        self.scalar().and_then(|(scalar, _)| scalar.time())
    }

    /// Returns true if values are points in time.
    #[must_use]
    pub fn is_time(&self) -> bool {
        self.time().is_some()
    }

    /// Returns the bounds of a text whose author chooses the characters; `None` for other types.
    #[must_use]
    pub fn characters(&self) -> Option<Bounds> {
        self.bounds_of(Counted::Characters)
    }

    /// Returns the bounds of a number whose value is bounded; `None` for other types.
    #[must_use]
    pub fn value_bounds(&self) -> Option<Bounds> {
        self.bounds_of(Counted::Value)
    }

    fn bounds_of(&self, counted: Counted) -> Option<Bounds> {
        self.scalar().filter(|(scalar, _)| scalar.counted() == Some(counted)).map(|(_, bounds)| bounds)
    }

    /// Returns the bounds of a `string`, the only text without any form; `None` for other types.
    #[must_use]
    pub fn free_text(&self) -> Option<Bounds> {
        self.scalar().filter(|(scalar, _)| *scalar == Scalar::String).map(|(_, bounds)| bounds)
    }

    /// Returns the conversion of a valid spelling to the stored form; `None` if values are stored as they are written.
    #[must_use]
    pub fn normalize(&self) -> Option<fn(&str) -> String> {
        self.scalar().and_then(|(scalar, _)| scalar.normalize())
    }
}

/// Flags of a field, each with its source range.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `unique`
    pub unique: Option<Unique>,
    /// `version`
    pub version: Option<Span>,
    /// `created`
    pub created: Option<Span>,
    /// `updated`
    pub updated: Option<Span>,
    /// `immutable`
    pub immutable: Option<Span>,
    /// `secret`
    pub secret: Option<Span>,
    /// `encrypted`
    pub encrypted: Option<Span>,
    /// `personal`
    pub personal: Option<Span>,
    /// `id`
    pub id: Option<Span>,
    /// `cascade`
    pub cascade: Option<Span>,
    /// `restrict`
    pub restrict: Option<Span>,
    /// `keep`
    pub keep: Option<Span>,
    /// `snapshot`
    pub snapshot: Option<Span>,
    /// `refresh`
    pub refresh: Option<Span>,
    /// `internal`: never an argument of a pattern that callers reach.
    pub internal: Option<Span>,
    /// `bearer`: who knows the value may use the item.
    pub bearer: Option<Span>,
    /// `grants`: who may use the item may use the item that this `ref` names.
    pub grants: Option<Span>,
}

/// `unique`, `unique per a, b`
#[derive(Clone, Debug)]
pub struct Unique {
    /// Fields within which values are unique; empty for the whole table.
    pub per: Vec<FieldId>,
    /// Source range of the flag.
    pub span: Span,
}

impl Field {
    /// Returns true if the default generates a fresh id.
    #[must_use]
    pub fn is_generated(&self) -> bool {
        matches!(&self.default, Some(Expr { kind: ExprKind::Call { function, .. }, .. })
            if matches!(function.as_str(), "ulid" | "uuid" | "code" | "token"))
    }

    /// Returns true if the attribute may not be absent.
    #[must_use]
    pub fn is_required(&self) -> bool {
        !self.optional
    }

    /// Returns true if an item without a value is invalid. A nullable field is then NULL, and an empty set is not
    /// stored at all.
    #[must_use]
    pub fn must_have_value(&self) -> bool {
        let may_be_empty = |kind: &Type| matches!(kind, Type::Set(_, bounds) if bounds.allow(0));
        !self.optional && !self.null && !may_be_empty(self.kind.resolved())
    }

    /// Returns the literal default of a required field, which an item without the attribute has: the field was added to
    /// the model after the item was written. An optional field without a value has none.
    #[must_use]
    pub fn constant_default(&self) -> Option<AttributeValue> {
        let default = self.default.as_ref().filter(|_| !self.optional && !self.null)?;
        let is_encrypted = self.flags.encrypted.is_some();
        default.constant().filter(|_| !is_encrypted && self.flags.version.is_none())
    }

    /// Returns true if a create fills the field without an argument.
    #[must_use]
    pub fn has_source(&self) -> bool {
        self.default.is_some()
            || self.flags.created.is_some()
            || self.flags.updated.is_some()
            || self.flags.version.is_some()
    }

    /// Returns true if the value never changes after the item is created.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.flags.immutable.is_some() || self.flags.created.is_some() || self.is_generated()
    }
}
