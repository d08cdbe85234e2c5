//! What changes trigger, and how entities evolve.

use crate::document::ast::{Event, Image};
use crate::span::Span;

use super::expression::Expr;
use super::key::{EntityKey, TableId, Template};
use super::pattern::ReadId;
use super::{EntityId, FieldId};

/// What changes of an entity trigger.
#[derive(Clone, Debug)]
pub struct Consumer {
    /// The entity.
    pub entity: Option<EntityId>,
    /// The kinds of changes.
    pub events: Vec<Event>,
    /// What happens.
    pub target: Target,
    /// The images it reads.
    pub needs: Vec<Image>,
    /// The whole declaration.
    pub span: Span,
    /// Its documentation.
    pub docs: Vec<String>,
}

/// What a change goes to.
#[derive(Clone, Debug)]
pub enum Target {
    /// A live read with these fields of the changed item as arguments.
    Live(Option<ReadId>, Vec<FieldId>),
    /// Code of that name.
    Handler(String),
}

/// How older items of an entity become the new form.
#[derive(Clone, Debug)]
pub struct Evolution {
    /// The entity.
    pub entity: Option<EntityId>,
    /// Where the old items are; `None` for the entity's own table.
    pub table: Option<TableId>,
    /// The fields that only old items have, by the names their templates use.
    pub old_fields: Vec<String>,
    /// The old key. `FieldId(n)` in its templates is the entity's field, or from `fields.len()` on one of `old_fields`.
    pub key: Option<EntityKey>,
    /// The old templates of indexes.
    pub indexes: Vec<EntityKey>,
    /// `rename old -> new`
    pub renames: Vec<(String, FieldId, Span)>,
    /// `set field = expr`
    pub sets: Vec<(FieldId, Expr, Span)>,
    /// The whole declaration.
    pub span: Span,
}

impl Evolution {
    /// All old templates of the table's key.
    pub fn key_templates(&self) -> impl Iterator<Item = &Template> {
        self.key.iter().flat_map(|key| key.partition.iter().chain(&key.sort)).map(|part| &part.template)
    }
}
