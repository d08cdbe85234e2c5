//! Collects the items that must be read before a write can be bound.

use keyform_core::operation::GetItem;

use crate::document::ast::Verb;
use crate::plan;

use super::super::evaluate::Scope;
use super::super::{BindError, item};
use super::unique;
use super::walk::{Visited, Visitor};

/// Pass that collects reads.
pub(super) struct Look<'a> {
    scope: Scope<'a>,
    pub(super) reads: Vec<GetItem>,
}

impl<'a> Look<'a> {
    pub(super) fn new(scope: Scope<'a>) -> Self {
        Self { scope, reads: Vec::new() }
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
            Verb::Put => plan::guarded_fields(entity).next().is_some(),
            Verb::Update | Verb::Upsert => plan::moved_fields(table, entity, action).next().is_some(),
            Verb::Delete => !unique::watched_fields(self.scope.model, visited.id).is_empty(),
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
