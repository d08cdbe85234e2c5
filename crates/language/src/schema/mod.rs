//! What the author meant: the document with every name resolved.
//!
//! Everything is numbered ([`TableId`], [`EntityId`], …), so that parts refer to each other without borrowing. A name that does not
//! resolve has been reported once, by [`mod@resolve`]; here it is a `None` or an `Unknown`, and whoever meets one stays silent.
//!
//! 1. [`field`]: types and flags, shapes merged into their entities.
//! 2. [`key`]: tables, indexes, and the templates by which each entity fills their keys.
//! 3. [`expression`]: conditions and values, each name bound to a field, a parameter, a `let` or the caller.
//! 4. [`pattern`]: reads, guards and writes.
//! 5. [`change`]: what changes trigger, and how entities evolve.
//! 6. [`mod@resolve`]: how a document becomes all that.

pub mod change;
pub mod expression;
pub mod field;
pub mod key;
pub mod pattern;
pub mod resolve;
pub mod words;

use crate::document::ast;
use crate::span::Span;

pub use change::{Consumer, Evolution, Target};
pub use expression::{Expr, ExprKind, Origin, Place, Step as PathStep};
pub use field::{Field, Flags, Type, Unique};
pub use key::{EntityKey, Format, Index, IndexId, KeyAttribute, KeyPart, Part, Table, TableId, Template};
pub use pattern::{
    Action, Change, ChangeKind, Condition, For, Guard, GuardId, KeyCondition, KeyTest, Let, LetSource, Outcome,
    Parameter, Permission, Read, ReadId, Require, Result, Step, Test, Write, WriteId,
};
pub use resolve::resolve;

/// A resolved model.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Its name; empty if the file has none.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// The documentation before `model`.
    pub docs: Vec<String>,
    /// What a caller's token proves; `None` if the model has no caller.
    pub caller: Option<Caller>,
    /// The tables.
    pub tables: Vec<Table>,
    /// The entities.
    pub entities: Vec<Entity>,
    /// The guards.
    pub guards: Vec<Guard>,
    /// The reads.
    pub reads: Vec<Read>,
    /// The writes.
    pub writes: Vec<Write>,
    /// What changes trigger.
    pub consumers: Vec<Consumer>,
    /// How entities evolve.
    pub evolutions: Vec<Evolution>,
    /// The warnings the author accepts, each with the place within which it holds.
    pub allows: Vec<Allow>,
}

/// What a caller's token proves.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The claims.
    pub fields: Vec<Field>,
    /// The declaration.
    pub span: Span,
}

/// A warning the author accepts.
#[derive(Clone, Debug)]
pub struct Allow {
    /// The code.
    pub code: String,
    /// Why.
    pub reason: String,
    /// Where it stands.
    pub span: Span,
    /// The declaration within which it holds; `None` for the whole file.
    pub within: Option<Span>,
}

/// The number of an entity in [`Model::entities`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntityId(pub usize);

/// The number of a field in [`Entity::fields`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub usize);

/// An item type.
#[derive(Clone, Debug)]
pub struct Entity {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub name_span: Span,
    /// The whole declaration.
    pub span: Span,
    /// Its documentation.
    pub docs: Vec<String>,
    /// Its table.
    pub table: Option<TableId>,
    /// The value of the table's tag attribute in its items.
    pub tag: String,
    /// Its own fields and those of its shapes, in the order of the file (shapes first, in the order they are named).
    pub fields: Vec<Field>,
    /// How it fills the table's key.
    pub key: Option<EntityKey>,
    /// How it fills the key of each index it is in.
    pub indexes: Vec<EntityKey>,
    /// Its figures.
    pub volume: ast::Volume,
    /// Where the figures stand.
    pub volume_span: Option<Span>,
}

impl Model {
    /// The table of that number.
    #[must_use]
    pub fn table(&self, id: TableId) -> &Table {
        &self.tables[id.0]
    }

    /// The entity of that number.
    #[must_use]
    pub fn entity(&self, id: EntityId) -> &Entity {
        &self.entities[id.0]
    }

    /// The read of that number.
    #[must_use]
    pub fn read(&self, id: ReadId) -> &Read {
        &self.reads[id.0]
    }

    /// The entities of a table, in the order of the file.
    pub fn entities_of(&self, table: TableId) -> impl Iterator<Item = (EntityId, &Entity)> {
        let numbered = self.entities.iter().enumerate().map(|(number, entity)| (EntityId(number), entity));
        numbered.filter(move |(_, entity)| entity.table == Some(table))
    }

    /// The numbers of all entities.
    pub fn entity_ids(&self) -> impl Iterator<Item = EntityId> + use<> {
        (0..self.entities.len()).map(EntityId)
    }

    /// The entity of that name.
    #[must_use]
    pub fn entity_named(&self, name: &str) -> Option<EntityId> {
        self.entities.iter().position(|entity| entity.name == name).map(EntityId)
    }
}

impl Entity {
    /// The field of that number.
    #[must_use]
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.0]
    }

    /// Its fields that are sealed before they reach a store.
    pub fn encrypted_fields(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.flags.encrypted.is_some())
    }

    /// The field of that name.
    #[must_use]
    pub fn field_named(&self, name: &str) -> Option<FieldId> {
        self.fields.iter().position(|field| field.name == name).map(FieldId)
    }

    /// Whether a template of it names a field of this name that it does not have.
    #[must_use]
    pub fn misses(&self, name: &str) -> bool {
        let parts =
            self.key.iter().chain(&self.indexes).flat_map(EntityKey::parts).flat_map(|part| &part.template.parts);
        parts.into_iter().any(|part| matches!(part, Part::Unknown { name: missed, .. } if missed == name))
    }

    /// How it fills the key of an index, or with `None` the table's.
    #[must_use]
    pub fn key_of(&self, index: Option<IndexId>) -> Option<&EntityKey> {
        match index {
            None => self.key.as_ref(),
            Some(_) => self.indexes.iter().find(|key| key.index == index),
        }
    }

    /// The fields of its table key in the order of the templates, each once: what identifies an item, and the order in which
    /// `Entity(…)` takes arguments.
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

    /// Whether its key is known: nothing of it has been reported.
    #[must_use]
    pub fn has_whole_key(&self) -> bool {
        self.key.as_ref().is_some_and(|key| !key.parts().any(|part| part.template.is_broken()))
    }

    /// The field that names an item of it: the key field with a generated default, or else the last of the key that is never absent.
    #[must_use]
    pub fn id_field(&self) -> Option<FieldId> {
        let fields = self.key_fields();
        let generated = fields.iter().copied().find(|&id| self.field(id).is_generated());
        let present = || fields.iter().copied().rfind(|&id| !self.field(id).optional);
        generated.or_else(present).or_else(|| fields.last().copied())
    }
}
