//! Collects the items that must be read before a write can be bound.

use keyform_core::operation::GetItem;

use crate::document::ast::Verb;
use crate::plan;
use crate::schema::{Action, Model, Type, Write, limit};

use super::super::evaluate::Scope;
use super::super::{BindError, item};
use super::unique;
use super::walk::{Visited, Visitor};

/// Pass that collects reads.
pub(super) struct Look<'a> {
    write: &'a Write,
    scope: Scope<'a>,
    /// True for a batch, whose puts replace items as they are.
    is_batch: bool,
    pub(super) reads: Vec<GetItem>,
}

impl<'a> Look<'a> {
    pub(super) fn new(write: &'a Write, scope: Scope<'a>) -> Self {
        Self { write, scope, is_batch: write.batch.is_some(), reads: Vec::new() }
    }
}

impl<'a> Visitor<'a> for Look<'a> {
    fn scope(&mut self) -> &mut Scope<'a> {
        &mut self.scope
    }

    fn visit(&mut self, visited: Visited<'a, '_>) -> Result<(), BindError> {
        let Visited { action, entity, table, .. } = visited;
        let is_needed = match action.verb {
            // A new item replaces none, and a check changes none.
            Verb::Create | Verb::Check => false,
            Verb::Put => {
                let continues = !self.is_batch && !limit::continued(entity, action).is_empty();
                plan::guarded_fields(entity).next().is_some() || continues
            }
            Verb::Update | Verb::Upsert => plan::moved_fields(table, entity, action).next().is_some(),
            Verb::Delete => {
                !unique::watched_fields(self.scope.model, visited.id).is_empty()
                    || visited.path.len() == 1 && may_be_foreign(self.scope.model, self.write, action)
            }
        };
        if !is_needed {
            return Ok(());
        }
        let fields = match action.verb {
            Verb::Create | Verb::Put => item::new_fields(&mut self.scope, entity, action)?,
            Verb::Update | Verb::Upsert | Verb::Delete | Verb::Check => item::key_fields(&self.scope, entity, action)?,
        };
        let key = item::key(table, entity, &fields)?;
        let table = self.scope.inputs.table_name(table);
        self.reads.push(GetItem { table, key, consistent: true, ..GetItem::default() });
        Ok(())
    }
}

/// Returns true if a delete may have to be left out of a request with other actions, because the item differs in a field
/// that it must have. A single delete needs no read: its condition fails, and nothing else is to be done.
pub(super) fn may_be_foreign(model: &Model, write: &Write, action: &Action) -> bool {
    let is_parent = || {
        let refers = |kind: &Type| matches!(kind, Type::Ref { entity, .. } if *entity == action.entity);
        model.entities.iter().flat_map(|entity| &entity.fields).any(|field| refers(&field.kind))
    };
    action.verb == Verb::Delete
        && !action.equalities.is_empty()
        && (write.steps.len() > 1 || write.idempotent.is_some() || is_parent())
}
