//! Stream consumers and evolutions.

use crate::document::ast::{Event, Image};
use crate::span::Span;

use super::expression::Expr;
use super::key::{EntityKey, TableId, Template};
use super::pattern::ReadId;
use super::{EntityId, FieldId};

/// A consumer of an entity's change events.
#[derive(Clone, Debug)]
pub struct Consumer {
    /// Entity whose changes it receives; `None` if the name did not resolve.
    pub entity: Option<EntityId>,
    /// Kinds of changes it receives.
    pub events: Vec<Event>,
    /// Receiver of the events.
    pub target: Target,
    /// Item images it needs, which the table's stream must provide.
    pub needs: Vec<Image>,
    /// Source range of the declaration.
    pub span: Span,
    /// Lines of the `///` comments, without the slashes.
    pub docs: Vec<String>,
}

/// Receiver of change events.
#[derive(Clone, Debug)]
pub enum Target {
    /// Live read, with these fields of the changed item as arguments.
    Live(Option<ReadId>, Vec<FieldId>),
    /// Application handler with this name.
    Handler(String),
}

/// Migration of stored items of an entity to its current form.
#[derive(Clone, Debug)]
pub struct Evolution {
    /// Entity to migrate; `None` if the name did not resolve.
    pub entity: Option<EntityId>,
    /// Table that holds the old items; `None` for the entity's own table.
    pub table: Option<TableId>,
    /// Names of fields that only old items have.
    pub old_fields: Vec<String>,
    /// Old key. `FieldId(n)` in its templates is the entity's field, or from `fields.len()` on one of `old_fields`.
    pub key: Option<EntityKey>,
    /// Old templates of indexes.
    pub indexes: Vec<EntityKey>,
    /// `rename old -> new`
    pub renames: Vec<(String, FieldId, Span)>,
    /// `set field = expr`
    pub sets: Vec<(FieldId, Expr, Span)>,
    /// Source range of the declaration.
    pub span: Span,
}

impl Evolution {
    /// Iterates over the old templates of the table's key.
    pub fn key_templates(&self) -> impl Iterator<Item = &Template> {
        self.key.iter().flat_map(|key| key.partition.iter().chain(&key.sort)).map(|part| &part.template)
    }
}
