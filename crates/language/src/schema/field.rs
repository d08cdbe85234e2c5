//! Fields: types, flags, defaults.

use crate::document::ast::Bounds;
use crate::span::Span;

use super::expression::{Expr, ExprKind};
use super::{EntityId, FieldId};

/// A field of an entity, a shape or a nested record.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name, which is its attribute's.
    pub name: String,
    /// Where its name stands (in the shape, for a shape's field).
    pub name_span: Span,
    /// The whole line.
    pub span: Span,
    /// Its documentation.
    pub docs: Vec<String>,
    /// Its type.
    pub kind: Type,
    /// Where the type stands.
    pub type_span: Span,
    /// It may be absent.
    pub optional: bool,
    /// NULL may be stored in it.
    pub null: bool,
    /// Its flags.
    pub flags: Flags,
    /// What it is if nobody says otherwise.
    pub default: Option<Expr>,
}

/// A type with references followed once: a `ref` or `copy` knows its target and, through [`Type::resolved`], its plain type.
#[derive(Clone, Debug)]
pub enum Type {
    /// Text of so many characters.
    String(Bounds),
    /// Letters, digits, `-`, `_` and `.`; so many characters.
    Slug(Bounds),
    /// A whole number.
    Int(Bounds),
    /// A number.
    Number,
    /// A truth value.
    Bool,
    /// Bytes.
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
    /// Seconds.
    Epoch,
    /// Milliseconds.
    EpochMs,
    /// `2026-10-31`
    Date,
    /// Whole nano-units.
    Money,
    /// One of these texts.
    OneOf(Vec<String>),
    /// A list.
    List(Box<Type>, Bounds),
    /// A map from text.
    Map(Box<Type>, Bounds),
    /// A set.
    Set(Box<Type>, Bounds),
    /// Any value.
    Json,
    /// A map with these fields.
    Record(Vec<Field>),
    /// The id (or another field) of an entity; the plain type it has is the box.
    Ref {
        /// The entity.
        entity: Option<EntityId>,
        /// The field of it.
        field: Option<FieldId>,
        /// The plain type.
        plain: Box<Type>,
    },
    /// A repetition of a field.
    Copy {
        /// The entity.
        entity: Option<EntityId>,
        /// The field of it.
        field: Option<FieldId>,
        /// The plain type.
        plain: Box<Type>,
    },
    /// It has been reported.
    Unknown,
}

impl Type {
    /// The type without `ref` and `copy`.
    #[must_use]
    pub fn resolved(&self) -> &Self {
        match self {
            Self::Ref { plain, .. } | Self::Copy { plain, .. } => plain.resolved(),
            other => other,
        }
    }

    /// Whether it is stored as N.
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        matches!(self.resolved(), Self::Int(_) | Self::Number | Self::Epoch | Self::EpochMs | Self::Money)
    }

    /// Whether it is stored as S.
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

    /// Whether it says when something was.
    #[must_use]
    pub fn is_time(&self) -> bool {
        matches!(self.resolved(), Self::Timestamp | Self::Datetime | Self::Epoch | Self::EpochMs | Self::Date)
    }
}

/// The flags of a field, each with its place.
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
    /// The fields within which it is unique; none for the whole table.
    pub per: Vec<FieldId>,
    /// Its place.
    pub span: Span,
}

impl Field {
    /// Whether its default makes a fresh id.
    #[must_use]
    pub fn is_generated(&self) -> bool {
        matches!(&self.default, Some(Expr { kind: ExprKind::Call { function, .. }, .. })
            if matches!(function.as_str(), "ulid" | "uuid" | "code" | "token"))
    }

    /// Whether an item always has it.
    #[must_use]
    pub fn is_required(&self) -> bool {
        !self.optional
    }

    /// Whether an item without a value for it would not be one of its entity. What may be NULL is that then, and an empty set is not stored.
    #[must_use]
    pub fn must_have_value(&self) -> bool {
        !self.optional && !self.null && !matches!(self.kind.resolved(), Type::Set(..))
    }

    /// Whether a creation has a value for it without being told.
    #[must_use]
    pub fn has_source(&self) -> bool {
        self.default.is_some()
            || self.flags.created.is_some()
            || self.flags.updated.is_some()
            || self.flags.version.is_some()
    }

    /// Whether it never changes once the item is there.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.flags.immutable.is_some() || self.flags.created.is_some() || self.is_generated()
    }
}
