//! Changes inside a map, list or record that an item lacks because the item is older than the field.
//!
//! The field's constant default is its value there, so the change applies to the default. The store cannot express that:
//! a path into an absent attribute is invalid. The first request therefore requires that the attribute exists. If the
//! store refuses and returns an item without it, the next request sets the whole changed default, on the condition that
//! the attribute is still absent.

use keyform_core::expression::{Condition, Path, SetAction, SetValue, Update, UpdateOperand, apply};
use keyform_core::{AttributeValue, Attributes, Item};

use crate::document::ast::Verb;
use crate::schema::{Change, Field, FieldId};

use super::BindError;
use super::condition::Logic;
use super::constant::when_absent;
use super::fields::Fields;
use super::limit::Limit;
use super::update::Changing;

impl Changing<'_> {
    /// Returns the default that an absent attribute stands for, if a change of this step leads into it.
    pub(super) fn default_inside(&self, field: &Field, change: &Change) -> Option<AttributeValue> {
        let leads_inside = !change.path().is_empty() && self.action.verb == Verb::Update;
        when_absent(field).filter(|_| leads_inside && field.flags.encrypted.is_none())
    }

    /// Returns the item that was read, with the default of the field that it lacks; `None` if it has the field, if it
    /// was not read, or if absence has no such meaning.
    pub(super) fn with_default(&self, field: &Field, change: &Change) -> Option<Attributes> {
        let current = self.current.filter(|current| !current.contains_key(&field.name))?;
        let mut item = current.clone();
        item.insert(field.name.clone(), self.default_inside(field, change)?);
        Some(item)
    }

    /// Sets the fields that the item lacks to their changed defaults. Returns these fields, whose changes are done.
    pub(super) fn set_older(&self, update: &mut Update) -> Result<Vec<FieldId>, BindError> {
        let mut done: Vec<FieldId> = Vec::new();
        for change in &self.action.changes {
            let Some(id) = change.field.filter(|id| !done.contains(id)) else { continue };
            let field = self.entity.field(id);
            let Some(item) = self.with_default(field, change) else { continue };
            let mut inside = Update::default();
            for change in self.action.changes.iter().filter(|other| other.field == Some(id)) {
                self.change(change, &mut inside, &mut Fields::new())?;
            }
            // A change that the default does not allow has a limit, which names the refusal.
            let Ok(mut changed) = apply(&inside, &item) else { continue };
            if let Some(value) = changed.remove(&field.name) {
                let value = SetValue::Operand(UpdateOperand::Value(value.into()));
                update.set.push(SetAction { path: Path::attribute(field.name.clone()), value });
                done.push(id);
            }
        }
        Ok(done)
    }

    /// Evaluates the limits of a change on the default, if the item lacks the field.
    pub(super) fn limits_of_older(&self, field: &Field, change: &Change, limits: Vec<Limit>) -> Vec<Limit> {
        let Some(item) = self.with_default(field, change) else { return limits };
        let item = Item::from(&item);
        let lacks = Condition::AttributeNotExists(Path::attribute(field.name.clone()));
        let known = |limit: Limit| match limit.logic {
            Logic::Test(test) => Limit { logic: Logic::Known(test.holds(Some(&item))), ..limit },
            Logic::Known(_) => limit,
        };
        let absent = Limit { logic: Logic::Test(lacks), outcome: String::new(), is_strict: true };
        limits.into_iter().map(known).chain([absent]).collect()
    }
}
