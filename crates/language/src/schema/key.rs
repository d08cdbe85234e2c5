//! Tables, indexes, and the templates with which entities fill their keys.

use std::fmt;

use crate::document::ast::{Billing, Encryption, KeyType, StreamView, TableClass};
use crate::span::{Span, Spanned};

use super::FieldId;

/// Index of a table in [`Model::tables`](super::Model::tables).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub usize);

/// Index of a secondary index in [`Table::indexes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IndexId(pub usize);

/// A table of the model.
#[derive(Clone, Debug)]
pub struct Table {
    /// Name in the model.
    pub name: String,
    /// Source range of the name.
    pub name_span: Span,
    /// Source range of the declaration.
    pub span: Span,
    /// Lines of the `///` comments, without the slashes.
    pub docs: Vec<String>,
    /// Name in the store, possibly with variables; defaults to the name in the model.
    pub physical: String,
    /// Partition key attribute; `None` if the table declares no key.
    pub partition: Option<KeyAttribute>,
    /// Sort key attribute, if the table has one.
    pub sort: Option<KeyAttribute>,
    /// Secondary indexes in source order.
    pub indexes: Vec<Index>,
    /// Attribute that holds the entity name of an item.
    pub tag: Option<Spanned<String>>,
    /// Attribute that holds the expiry time of an item.
    pub ttl: Option<Spanned<String>>,
    /// Stream view type; `None` if the table has no stream.
    pub stream: Option<Spanned<StreamView>>,
    /// Encryption at rest.
    pub encryption: Encryption,
    /// Billing mode.
    pub billing: Billing,
    /// Storage class.
    pub class: TableClass,
    /// True if point-in-time recovery is enabled.
    pub recovery: bool,
    /// True if deletion protection is enabled.
    pub protected: bool,
}

/// A key attribute of a table or an index.
#[derive(Clone, Debug)]
pub struct KeyAttribute {
    /// Attribute name in the store.
    pub name: String,
    /// Source range of the name.
    pub span: Span,
    /// Declared type, or the type inferred from the fields and templates that fill it.
    pub kind: KeyType,
    /// True if the author declared the type.
    pub declared: bool,
}

/// A global or local secondary index.
#[derive(Clone, Debug)]
pub struct Index {
    /// Name in the model.
    pub name: String,
    /// Name in the store; defaults to the name in the model.
    pub physical: String,
    /// Source range of the name.
    pub name_span: Span,
    /// Source range of the whole line.
    pub span: Span,
    /// Lines of the `///` comments, without the slashes.
    pub docs: Vec<String>,
    /// True for a local secondary index.
    pub local: bool,
    /// Partition key attributes; for a local index those of the table.
    pub partition: Vec<KeyAttribute>,
    /// Sort key attributes.
    pub sort: Vec<KeyAttribute>,
    /// Projected attributes besides the keys; `None` projects everything.
    pub projection: Option<Vec<Spanned<String>>>,
    /// True if the author declared that items without the index keys are intentionally not in the index.
    pub sparse: bool,
}

impl Table {
    /// Returns the index with this id.
    #[must_use]
    pub fn index_at(&self, id: IndexId) -> &Index {
        &self.indexes[id.0]
    }

    /// Returns the index with this name.
    #[must_use]
    pub fn index_named(&self, name: &str) -> Option<IndexId> {
        self.indexes.iter().position(|index| index.name == name).map(IndexId)
    }

    /// Returns the type of a key attribute of the index or of the table; `String` if there is no such attribute.
    #[must_use]
    pub fn key_type(&self, index: Option<IndexId>, attribute: &str) -> KeyType {
        let of_index = index.map(|index| self.index_at(index));
        let attributes = of_index.into_iter().flat_map(|index| index.partition.iter().chain(&index.sort));
        let mut all = attributes.chain(&self.partition).chain(&self.sort);
        all.find(|key| key.name == attribute).map_or(KeyType::String, |key| key.kind)
    }

    /// Iterates over the names of the table's key attributes.
    pub fn key_names(&self) -> impl Iterator<Item = &str> {
        self.partition.iter().chain(&self.sort).map(|attribute| attribute.name.as_str())
    }
}

/// Templates with which an entity fills the key of its table or of an index.
#[derive(Clone, Debug)]
pub struct EntityKey {
    /// Index; `None` for the table's key.
    pub index: Option<IndexId>,
    /// One template per partition key attribute.
    pub partition: Vec<KeyPart>,
    /// One template per sort key attribute the entity fills. Empty although the index has a sort key: the entity never
    /// appears in that index.
    pub sort: Vec<KeyPart>,
    /// Source range of the line in the entity; if the key follows from field names alone, of the entity's name.
    pub span: Span,
    /// True if the entity has an explicit line for this key.
    pub written: bool,
}

impl EntityKey {
    /// Iterates over the key parts, partition key first.
    pub fn parts(&self) -> impl Iterator<Item = &KeyPart> {
        self.partition.iter().chain(&self.sort)
    }

    /// Iterates over the fields in template order, repeated where they repeat.
    pub fn fields(&self) -> impl Iterator<Item = FieldId> {
        self.parts().flat_map(|part| part.template.fields())
    }
}

/// Template that fills one key attribute. If the table's tag attribute is a key, its template is the entity's tag as
/// literal text.
#[derive(Clone, Debug)]
pub struct KeyPart {
    /// Name of the key attribute.
    pub attribute: String,
    /// Template; a field with the attribute's own name is a template of just that field.
    pub template: Template,
}

/// A resolved key template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// Pieces; two text pieces are never adjacent.
    pub parts: Vec<Part>,
    /// Source range of the quoted text, quotes included, or of the field's name.
    pub span: Span,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Literal text.
    Text(String),
    /// `{field:format}`
    Field {
        /// Field whose value is inserted.
        field: FieldId,
        /// Format of the inserted value.
        format: Format,
        /// Source range, braces included.
        span: Span,
    },
    /// `{name}` where no such field exists; already reported.
    Unknown {
        /// Unresolved name.
        name: String,
        /// Source range, braces included.
        span: Span,
    },
}

/// Format of a field in a template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Value as stored.
    #[default]
    Plain,
    /// 13-digit epoch milliseconds.
    Milliseconds,
    /// 10-digit epoch seconds.
    Seconds,
    /// `2026-10`
    Month,
    /// `2026-10-31`
    Day,
    /// `2026-10-31T07`
    Hour,
    /// Decimal digits padded with zeros to this width, so that text order equals numeric order.
    Pad(u32),
    /// Upper case.
    Upper,
    /// Lower case.
    Lower,
    /// SHA-256 as hexadecimal digits.
    Hash,
}

/// Formats the suffix after the field's name: `:ms`; empty for a plain field.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => Ok(()),
            Self::Milliseconds => f.write_str(":ms"),
            Self::Seconds => f.write_str(":s"),
            Self::Month => f.write_str(":month"),
            Self::Day => f.write_str(":day"),
            Self::Hour => f.write_str(":hour"),
            Self::Pad(digits) => write!(f, ":pad({digits})"),
            Self::Upper => f.write_str(":upper"),
            Self::Lower => f.write_str(":lower"),
            Self::Hash => f.write_str(":hash"),
        }
    }
}

impl Template {
    /// Iterates over the fields in order, repeated where they repeat.
    pub fn fields(&self) -> impl Iterator<Item = FieldId> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field { field, .. } => Some(*field),
            Part::Text(_) | Part::Unknown { .. } => None,
        })
    }

    /// Formats the template in source syntax without quotes; `name` resolves the name of a field.
    #[must_use]
    pub fn text<'a>(&self, name: impl Fn(FieldId) -> &'a str) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(literal) => text.push_str(&literal.replace('{', "{{").replace('}', "}}")),
                Part::Field { field, format, .. } => text.push_str(&format!("{{{}{format}}}", name(*field))),
                Part::Unknown { name, .. } => text.push_str(&format!("{{{name}}}")),
            }
        }
        text
    }

    /// Returns true if both have the same literal text, fields and formats, regardless of source position.
    #[must_use]
    pub fn parts_alike(&self, other: &Self) -> bool {
        let alike = |one: &Part, other: &Part| match (one, other) {
            (Part::Text(one), Part::Text(other)) => one == other,
            (Part::Field { field, format, .. }, Part::Field { field: f, format: g, .. }) => (field, format) == (f, g),
            _ => false,
        };
        self.parts.len() == other.parts.len()
            && self.parts.iter().zip(&other.parts).all(|(one, other)| alike(one, other))
    }

    /// Returns the literal text before the first field.
    #[must_use]
    pub fn prefix(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns true if a field of the template did not resolve.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Unknown { .. }))
    }
}
