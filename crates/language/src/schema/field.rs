//! Fields: types, flags and defaults.

use crate::document::ast::Bounds;
use crate::span::Span;

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
    /// Documentation lines.
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
#[derive(Clone, Debug)]
pub enum Type {
    /// Text; the bounds limit its characters.
    String(Bounds),
    /// Letters, digits, `-`, `_` and `.`; the bounds limit its characters. Cannot contain a key delimiter (ADR 0008).
    Slug(Bounds),
    /// Whole number; the bounds limit its value.
    Int(Bounds),
    /// Decimal number.
    Number,
    /// Boolean.
    Bool,
    /// Bytes; the bounds limit their number.
    Binary(Bounds),
    /// A ULID: 26 characters.
    Ulid,
    /// A UUID: 36 characters.
    Uuid,
    /// An e-mail address, trimmed and lower-cased.
    Email,
    /// A URL.
    Url,
    /// UTC, ISO 8601, milliseconds: 24 characters.
    Timestamp,
    /// ISO 8601 of any precision and offset.
    Datetime,
    /// Unix time in seconds.
    Epoch,
    /// Unix time in milliseconds.
    EpochMs,
    /// `2026-10-31`
    Date,
    /// Amount in whole nano-units of the currency.
    Money,
    /// One of these strings.
    OneOf(Vec<String>),
    /// List; the bounds limit its elements.
    List(Box<Type>, Bounds),
    /// Map with string keys; the bounds limit its entries.
    Map(Box<Type>, Bounds),
    /// Set; the bounds limit its elements.
    Set(Box<Type>, Bounds),
    /// Any JSON value.
    Json,
    /// Map with exactly these fields.
    Record(Vec<Field>),
    /// Reference to an entity: its id field, or another field of it.
    Ref {
        /// Target entity; `None` if the name did not resolve.
        entity: Option<EntityId>,
        /// Target field; `None` if it did not resolve.
        field: Option<FieldId>,
        /// Type of the target field.
        plain: Box<Type>,
    },
    /// Denormalized copy of another entity's field.
    Copy {
        /// Source entity; `None` if the name did not resolve.
        entity: Option<EntityId>,
        /// Source field; `None` if it did not resolve.
        field: Option<FieldId>,
        /// Type of the source field.
        plain: Box<Type>,
    },
    /// Unresolved type; already reported.
    Unknown,
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

    /// Returns true if values are stored as DynamoDB type N.
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        matches!(self.resolved(), Self::Int(_) | Self::Number | Self::Epoch | Self::EpochMs | Self::Money)
    }

    /// Returns true if values are stored as DynamoDB type S.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(
            self.resolved(),
            Self::String(_)
                | Self::Slug(_)
                | Self::Ulid
                | Self::Uuid
                | Self::Email
                | Self::Url
                | Self::Timestamp
                | Self::Datetime
                | Self::Date
                | Self::OneOf(_)
        )
    }

    /// Returns true if values are points in time.
    #[must_use]
    pub fn is_time(&self) -> bool {
        matches!(self.resolved(), Self::Timestamp | Self::Datetime | Self::Epoch | Self::EpochMs | Self::Date)
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
        !self.optional && !self.null && !matches!(self.kind.resolved(), Type::Set(..))
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
