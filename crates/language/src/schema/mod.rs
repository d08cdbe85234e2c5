//! The resolved model: the document with every name bound to its declaration.
//!
//! Parts refer to each other by index ([`TableId`], [`EntityId`], …), so the model borrows nothing. [`mod@resolve`]
//! reports each unresolved name once and stores a `None` or an `Unknown`. Later passes skip those silently, so one
//! mistake yields one diagnostic (ADR 0008).
//!
//! 1. [`field`]: types and flags, with shapes merged into their entities.
//! 2. [`key`]: tables, indexes, and the templates with which each entity fills their keys.
//! 3. [`expression`]: conditions and values, each name bound to a field, a parameter, a `let` or the caller.
//! 4. [`pattern`]: reads, guards and writes.
//! 5. `fits` and [`limit`]: values that fit their types, and changes that may not keep the bounds of theirs.
//! 6. [`change`]: stream consumers and evolutions.
//! 7. [`mod@resolve`]: builds the model from a document.

pub mod change;
mod claim_source;
mod claims;
pub mod expression;
pub mod field;
mod fits;
pub mod key;
pub mod limit;
pub mod pattern;
pub mod relation;
pub mod resolve;
pub mod words;

use std::sync::OnceLock;

use crate::document::ast;
use crate::plan::Beginnings;
use crate::span::Span;

pub use change::{Consumer, Evolution, Target};
pub use claim_source::ClaimSource;
pub use expression::{Expr, ExprKind, Origin, PathStep, ValuePath};
pub use field::{Field, Flags, Type, Unique};
pub use fits::{fits, misfit_at};
pub use key::{EntityKey, Format, Index, IndexId, KeyAttribute, KeyPart, Part, Table, TableId, Template};
pub use pattern::{
    Action, Change, ChangeKind, Condition, Equality, For, Guard, GuardId, KeyCondition, KeyTest, Let, LetSource,
    Outcome, Parameter, Permission, Read, ReadId, Require, Result, Test, Timing, Unscoped, Write, WriteId, WriteStep,
};
pub use resolve::resolve;

/// A model whose names are resolved; unresolved ones are reported and marked as unknown.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Declared name; empty if the file has none.
    pub name: String,
    /// Source range of the name.
    pub name_span: Span,
    /// Documentation lines before `model`.
    pub docs: Vec<String>,
    /// Claims of a caller's token; `None` if the model declares no caller.
    pub caller: Option<Caller>,
    /// Tables in source order; a [`TableId`] is an index into this list.
    pub tables: Vec<Table>,
    /// Entities in source order; an [`EntityId`] is an index into this list.
    pub entities: Vec<Entity>,
    /// Guards in source order; a [`GuardId`] is an index into this list.
    pub guards: Vec<Guard>,
    /// Reads in source order; a [`ReadId`] is an index into this list.
    pub reads: Vec<Read>,
    /// Writes in source order; a [`WriteId`] is an index into this list.
    pub writes: Vec<Write>,
    /// Consumers of change events.
    pub consumers: Vec<Consumer>,
    /// Declared migrations of entities from their earlier form.
    pub evolutions: Vec<Evolution>,
    /// Warnings that the author suppresses, each with its scope.
    pub allows: Vec<Allow>,
    /// Beginnings of the keys, computed when the first read is planned.
    pub(crate) beginnings: OnceLock<Beginnings>,
}

/// The `caller` declaration: claims of a verified token.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Claims in source order.
    pub fields: Vec<Field>,
    /// Claims with `from "…"`, by index. Other claims have the same name in the token.
    pub sources: Vec<(usize, ClaimSource)>,
    /// Claims with `global "reason"`, by index: marks of operators, whose permission has no scope.
    pub global: Vec<(usize, String)>,
    /// Source range of the declaration.
    pub span: Span,
}

impl Caller {
    /// Returns where a token carries a claim, if it has another name there.
    #[must_use]
    pub fn source(&self, name: &str) -> Option<&ClaimSource> {
        self.sources.iter().find(|(number, _)| self.fields[*number].name == name).map(|(_, source)| source)
    }
}

/// `allow CODE "reason"`: a suppressed warning.
#[derive(Clone, Debug)]
pub struct Allow {
    /// Rule code such as `W03`.
    pub code: String,
    /// Reason given by the author.
    pub reason: String,
    /// Source range of the clause.
    pub span: Span,
    /// Declaration in which the warning is suppressed; `None` for the whole file.
    pub within: Option<Span>,
}

/// Index of an entity in [`Model::entities`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntityId(pub usize);

/// Index of a field in [`Entity::fields`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub usize);

/// An item type of a table.
#[derive(Clone, Debug)]
pub struct Entity {
    /// Name in the model; unique among entities.
    pub name: String,
    /// Source range of the name.
    pub name_span: Span,
    /// Source range of the declaration.
    pub span: Span,
    /// Lines of the `///` comments, without the slashes.
    pub docs: Vec<String>,
    /// Table that stores its items; `None` if the name did not resolve.
    pub table: Option<TableId>,
    /// Value of the table's tag attribute in its items.
    pub tag: String,
    /// Fields of its shapes, in the order the shapes are named, then its own fields in source order.
    pub fields: Vec<Field>,
    /// Templates that fill the table's key.
    pub key: Option<EntityKey>,
    /// Templates that fill the keys of the indexes it appears in.
    pub indexes: Vec<EntityKey>,
    /// Declared item count and size, for cost estimates.
    pub volume: ast::Volume,
    /// Source range of the volume clause.
    pub volume_span: Option<Span>,
}

impl Model {
    /// Returns the table with this id.
    #[must_use]
    pub fn table(&self, id: TableId) -> &Table {
        &self.tables[id.0]
    }

    /// Returns the entity with this id.
    #[must_use]
    pub fn entity(&self, id: EntityId) -> &Entity {
        &self.entities[id.0]
    }

    /// Returns the read with this id.
    #[must_use]
    pub fn read(&self, id: ReadId) -> &Read {
        &self.reads[id.0]
    }

    /// Iterates over the entities of a table in source order.
    pub fn entities_of(&self, table: TableId) -> impl Iterator<Item = (EntityId, &Entity)> {
        let numbered = self.entities.iter().enumerate().map(|(number, entity)| (EntityId(number), entity));
        numbered.filter(move |(_, entity)| entity.table == Some(table))
    }

    /// Iterates over the ids of all entities.
    pub fn entity_ids(&self) -> impl Iterator<Item = EntityId> + use<> {
        (0..self.entities.len()).map(EntityId)
    }

    /// Returns the beginnings of the keys.
    pub(crate) fn beginnings(&self) -> &Beginnings {
        self.beginnings.get_or_init(|| Beginnings::of(self))
    }

    /// Returns the entity with this name.
    #[must_use]
    pub fn entity_named(&self, name: &str) -> Option<EntityId> {
        self.entities.iter().position(|entity| entity.name == name).map(EntityId)
    }
}

impl Entity {
    /// Returns the field with this id.
    #[must_use]
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.0]
    }

    /// Iterates over the fields that are encrypted before they reach a store (ADR 0014).
    pub fn encrypted_fields(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.flags.encrypted.is_some())
    }

    /// Returns the field with this name.
    #[must_use]
    pub fn field_named(&self, name: &str) -> Option<FieldId> {
        self.fields.iter().position(|field| field.name == name).map(FieldId)
    }

    /// Returns true if a key template refers to a field of this name that the entity lacks.
    #[must_use]
    pub fn misses(&self, name: &str) -> bool {
        let parts =
            self.key.iter().chain(&self.indexes).flat_map(EntityKey::parts).flat_map(|part| &part.template.parts);
        parts.into_iter().any(|part| matches!(part, Part::Unknown { name: missed, .. } if missed == name))
    }

    /// Returns the templates that fill the key of an index, or with `None` the key of the table.
    #[must_use]
    pub fn key_of(&self, index: Option<IndexId>) -> Option<&EntityKey> {
        match index {
            None => self.key.as_ref(),
            Some(_) => self.indexes.iter().find(|key| key.index == index),
        }
    }

    /// Returns the fields of the table key in template order, each once. They identify an item, and `Entity(…)` takes
    /// its arguments in this order.
    #[must_use]
    pub fn key_fields(&self) -> Vec<FieldId> {
        let mut fields = Vec::new();
        for field in self.key.iter().flat_map(EntityKey::fields) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    /// Returns true if every key template resolved.
    #[must_use]
    pub fn has_whole_key(&self) -> bool {
        self.key.as_ref().is_some_and(|key| !key.parts().any(|part| part.template.is_broken()))
    }

    /// Returns the field that a `ref` to the entity stores: the key field with a generated default, else the last
    /// required key field, else the last key field.
    #[must_use]
    pub fn id_field(&self) -> Option<FieldId> {
        let fields = self.key_fields();
        let generated = fields.iter().copied().find(|&id| self.field(id).is_generated());
        let present = || fields.iter().copied().rfind(|&id| !self.field(id).optional);
        generated.or_else(present).or_else(|| fields.last().copied())
    }
}
