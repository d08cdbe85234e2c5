//! Tables, indexes, and how an entity fills their keys.

use std::fmt;

use crate::document::ast::{Billing, Encryption, KeyType, StreamView, TableClass};
use crate::span::Span;

use super::FieldId;

/// The number of a table in [`Model::tables`](super::Model::tables).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub usize);

/// The number of an index in [`Table::indexes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IndexId(pub usize);

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name in the model.
    pub name: String,
    /// Where its name stands.
    pub name_span: Span,
    /// The whole declaration.
    pub span: Span,
    /// Its documentation.
    pub docs: Vec<String>,
    /// Its name in the store, perhaps with variables; the model's name if none is given.
    pub physical: String,
    /// The partition key's attribute.
    pub partition: Option<KeyAttribute>,
    /// The sort key's attribute.
    pub sort: Option<KeyAttribute>,
    /// Its indexes.
    pub indexes: Vec<Index>,
    /// The attribute that names the entity of an item.
    pub tag: Option<(String, Span)>,
    /// The attribute by which items expire.
    pub ttl: Option<(String, Span)>,
    /// What its stream holds.
    pub stream: Option<(StreamView, Span)>,
    /// How it is encrypted at rest.
    pub encryption: Encryption,
    /// How it is paid.
    pub billing: Billing,
    /// Its storage class.
    pub class: TableClass,
    /// Point-in-time recovery.
    pub recovery: bool,
    /// Deletion protection.
    pub protected: bool,
}

/// An attribute of a key.
#[derive(Clone, Debug)]
pub struct KeyAttribute {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its type: the declared one, or what the fields and templates that fill it make it.
    pub kind: KeyType,
    /// Whether the author gave the type.
    pub declared: bool,
}

/// An index.
#[derive(Clone, Debug)]
pub struct Index {
    /// Its name in the model.
    pub name: String,
    /// Its name in the store; the model's if none is given.
    pub physical: String,
    /// Where its name stands.
    pub name_span: Span,
    /// The whole line.
    pub span: Span,
    /// Its documentation.
    pub docs: Vec<String>,
    /// It is a local one.
    pub local: bool,
    /// The attributes of its partition key: of a local index the table's.
    pub partition: Vec<KeyAttribute>,
    /// The attributes of its sort key.
    pub sort: Vec<KeyAttribute>,
    /// What it copies of an item; `None` for everything, else the names beside the keys.
    pub projection: Option<Vec<(String, Span)>>,
    /// Items without its keys are meant to be missing.
    pub sparse: bool,
}

impl Table {
    /// The index of that number.
    #[must_use]
    pub fn index_at(&self, id: IndexId) -> &Index {
        &self.indexes[id.0]
    }

    /// The index of that name.
    #[must_use]
    pub fn index_named(&self, name: &str) -> Option<IndexId> {
        self.indexes.iter().position(|index| index.name == name).map(IndexId)
    }

    /// The type of an attribute of an index's key, or of its own.
    #[must_use]
    pub fn key_type(&self, index: Option<IndexId>, attribute: &str) -> KeyType {
        let of_index = index.map(|index| self.index_at(index));
        let attributes = of_index.into_iter().flat_map(|index| index.partition.iter().chain(&index.sort));
        let mut all = attributes.chain(&self.partition).chain(&self.sort);
        all.find(|key| key.name == attribute).map_or(KeyType::String, |key| key.kind)
    }

    /// The names of its own key attributes.
    pub fn key_names(&self) -> impl Iterator<Item = &str> {
        self.partition.iter().chain(&self.sort).map(|attribute| attribute.name.as_str())
    }
}

/// How an entity fills the key of its table or of an index.
#[derive(Clone, Debug)]
pub struct EntityKey {
    /// The index; `None` for the table's key.
    pub index: Option<IndexId>,
    /// One template for each attribute of the partition key.
    pub partition: Vec<KeyPart>,
    /// One for each attribute of the sort key that it fills. Empty although the index has a sort key: the entity never appears there.
    pub sort: Vec<KeyPart>,
    /// The line of the entity that says so, or, if the fields' names alone say so, the entity's name.
    pub span: Span,
    /// Whether a line of the entity says so.
    pub written: bool,
}

impl EntityKey {
    /// What fills each attribute, partition key first.
    pub fn parts(&self) -> impl Iterator<Item = &KeyPart> {
        self.partition.iter().chain(&self.sort)
    }

    /// Its fields in the order of the templates, repeated where they repeat.
    pub fn fields(&self) -> impl Iterator<Item = FieldId> {
        self.parts().flat_map(|part| part.template.fields())
    }
}

/// What fills an attribute of a key. The table's tag attribute as a key is filled by the entity's tag: a template of just that text.
#[derive(Clone, Debug)]
pub struct KeyPart {
    /// The attribute.
    pub attribute: String,
    /// What fills it. A field of the attribute's own name is a template of just that field.
    pub template: Template,
}

/// A key template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// Its pieces; two texts never follow each other.
    pub parts: Vec<Part>,
    /// The quoted text, quotes included, or the field's name.
    pub span: Span,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text as it is.
    Text(String),
    /// `{field:format}`
    Field {
        /// The field.
        field: FieldId,
        /// How it is written.
        format: Format,
        /// From brace to brace.
        span: Span,
    },
    /// `{name}` of no field; it has been reported.
    Unknown {
        /// The name.
        name: String,
        /// From brace to brace.
        span: Span,
    },
}

/// How a field is written in a template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// As it is.
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
    /// So many digits with leading zeros.
    Pad(u32),
    /// In upper case.
    Upper,
    /// In lower case.
    Lower,
    /// SHA-256 in hexadecimal digits.
    Hash,
}

/// As it stands after the field's name: `:ms`; nothing for a plain field.
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
    /// Its fields in order, repeated where they repeat.
    pub fn fields(&self) -> impl Iterator<Item = FieldId> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field { field, .. } => Some(*field),
            Part::Text(_) | Part::Unknown { .. } => None,
        })
    }

    /// The template as an author writes it, without quotes; `name` gives the name of a field.
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

    /// Whether both are made of the same texts, fields and formats, wherever they stand.
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

    /// The text before its first field.
    #[must_use]
    pub fn prefix(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    /// Whether a part of it has been reported.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Unknown { .. }))
    }
}
