//! Types of fields. One definition serves the document, where a reference is a name, and the schema, where it is an id.

use std::fmt;

use crate::scalar::{Bounds, Scalar};

/// Stage of a model, with the form that the parts of a type have in it.
pub trait Stage: 'static {
    /// Text of a literal union.
    type Text: Clone + fmt::Debug;
    /// Type of an element.
    type Element: Clone + fmt::Debug;
    /// Field of a record.
    type Field: Clone + fmt::Debug;
    /// Entity that a `ref` or `copy` names.
    type Entity: Clone + fmt::Debug;
    /// Field that a `ref` names, which may be omitted.
    type RefField: Clone + fmt::Debug;
    /// Field that a `copy` names.
    type CopyField: Clone + fmt::Debug;
    /// Type of the field behind a `ref` or `copy`; `()` before names are resolved.
    type Plain: Clone + fmt::Debug;
}

/// Type of a field or a parameter.
pub enum Type<S: Stage> {
    /// A scalar; the bounds are empty if it takes none.
    Scalar(Scalar, Bounds),
    /// One of these strings.
    OneOf(Vec<S::Text>),
    /// List; the bounds limit its elements.
    List(Box<S::Element>, Bounds),
    /// Map with string keys; the bounds limit its entries.
    Map(Box<S::Element>, Bounds),
    /// Set; the bounds limit its elements.
    Set(Box<S::Element>, Bounds),
    /// Any JSON value.
    Json,
    /// Map with exactly these fields.
    Record(Vec<S::Field>),
    /// Reference to an entity: its id field, or another field of it.
    Ref {
        /// Target entity.
        entity: S::Entity,
        /// Target field.
        field: S::RefField,
        /// Type of the target field.
        plain: S::Plain,
    },
    /// Denormalized copy of another entity's field.
    Copy {
        /// Source entity.
        entity: S::Entity,
        /// Source field.
        field: S::CopyField,
        /// Type of the source field.
        plain: S::Plain,
    },
    /// Missing or unresolved type; already reported.
    Unknown,
}

impl<S: Stage> Type<S> {
    /// Returns true if both are the same scalar, or both are lists, maps and so on. Ignores bounds and elements.
    #[must_use]
    pub fn is_same_kind(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Scalar(one, _), Self::Scalar(other, _)) => one == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

impl<S: Stage> From<Scalar> for Type<S> {
    fn from(scalar: Scalar) -> Self {
        Self::Scalar(scalar, Bounds::NONE)
    }
}

// Derived implementations would require `S::Element: Clone`, which is circular where an element is a `Type` again.
impl<S: Stage> Clone for Type<S> {
    fn clone(&self) -> Self {
        match self {
            Self::Scalar(scalar, bounds) => Self::Scalar(*scalar, *bounds),
            Self::OneOf(texts) => Self::OneOf(texts.clone()),
            Self::List(of, bounds) => Self::List(of.clone(), *bounds),
            Self::Map(of, bounds) => Self::Map(of.clone(), *bounds),
            Self::Set(of, bounds) => Self::Set(of.clone(), *bounds),
            Self::Json => Self::Json,
            Self::Record(fields) => Self::Record(fields.clone()),
            Self::Ref { entity, field, plain } => {
                Self::Ref { entity: entity.clone(), field: field.clone(), plain: plain.clone() }
            }
            Self::Copy { entity, field, plain } => {
                Self::Copy { entity: entity.clone(), field: field.clone(), plain: plain.clone() }
            }
            Self::Unknown => Self::Unknown,
        }
    }
}

impl<S: Stage> fmt::Debug for Type<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar, bounds) => write!(f, "{}{bounds}", scalar.keyword()),
            Self::OneOf(texts) => f.debug_tuple("OneOf").field(texts).finish(),
            Self::List(of, bounds) => f.debug_tuple("List").field(of).field(bounds).finish(),
            Self::Map(of, bounds) => f.debug_tuple("Map").field(of).field(bounds).finish(),
            Self::Set(of, bounds) => f.debug_tuple("Set").field(of).field(bounds).finish(),
            Self::Json => f.write_str("Json"),
            Self::Record(fields) => f.debug_tuple("Record").field(fields).finish(),
            Self::Ref { entity, field, .. } => f.debug_tuple("Ref").field(entity).field(field).finish(),
            Self::Copy { entity, field, .. } => f.debug_tuple("Copy").field(entity).field(field).finish(),
            Self::Unknown => f.write_str("Unknown"),
        }
    }
}
