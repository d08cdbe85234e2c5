//! Finds the items that refer to one parent.

use keyform_core::operation::BatchGetRequest;
use keyform_core::{AttributeValue, Attributes, Item};

use crate::evolve::{Class, Form};
use keyform_language::bind::{self, Parent};
use keyform_language::plan::{self, Dependent, Finder};
use keyform_language::schema::{EntityId, FieldId, Model};

use super::found::{self, Answer};
use super::{Call, RunError, Runner};

/// Items of one entity that refer to one parent.
pub(super) struct Children {
    pub(super) entity: EntityId,
    pub(super) refers: Vec<(FieldId, AttributeValue)>,
    pub(super) items: Vec<Attributes>,
}

impl Runner {
    /// Returns the key of an item and the fields that others refer to.
    pub(super) fn as_parent(&self, id: EntityId, item: &Attributes) -> Parent {
        let model = &self.checked.model;
        let entity = model.entity(id);
        let table = entity.table.map(|table| model.table(table));
        let key = table.into_iter().flat_map(|table| table.key_names());
        let key = key.filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect();
        let fields = entity.key_fields().into_iter().chain(plan::referred_fields(model, id));
        let names = fields.map(|field| &entity.field(field).name);
        let values = names.filter_map(|name| Some((name.clone(), item.get(name)?.clone()))).collect();
        let table = table.map(|table| table.physical.clone()).unwrap_or_default();
        Parent { entity: id, table, key, values, cascades: true }
    }

    /// Migrates the old-form items among the children of an evolving entity, so that the caller only meets the new
    /// form.
    pub(super) async fn settle_children(
        &self,
        dependent: &Dependent,
        finder: &Finder,
        call: &Call,
    ) -> Result<Vec<&Form>, RunError> {
        if self.evolving.is_none() {
            return Ok(Vec::new());
        }
        let forms = self.open_forms_for_write(&[dependent.entity]).await?;
        let entity = self.checked.model.entity(dependent.entity);
        let Some(table) = entity.table.map(|table| self.checked.model.table(table)).filter(|_| !forms.is_empty())
        else {
            return Ok(forms);
        };
        let mut call = call.clone();
        loop {
            let start = self.start(&finder.read, &call)?;
            let answer = Box::pin(self.read_both(&finder.read, &finder.plan, &call, forms.clone(), start)).await?;
            let Answer::Page { items, cursor, broken } = answer else { break };
            if let Some(broken) = broken.into_iter().next() {
                return Err(RunError::Broken(Box::new(broken)));
            }
            for found in items {
                let key = bind::key_of_fields(table, entity, &found.fields.into())?;
                for form in forms.iter().filter(|form| form.entity == dependent.entity) {
                    self.settle_item(form, key.clone()).await?;
                }
            }
            if cursor.is_none() {
                break;
            }
            call.cursor = cursor;
        }
        Ok(forms)
    }

    /// Returns the items that belong to the dependent entity and refer to the parent, with all attributes.
    pub(super) async fn children(
        &self,
        dependent: &Dependent,
        finder: &Finder,
        parent: &Parent,
        forms: &[&Form],
        items: Vec<Item>,
    ) -> Result<Children, RunError> {
        let model = &self.checked.model;
        let shared = shared(model, parent, finder);
        let mut children = Children { entity: dependent.entity, refers: shared, items: Vec::new() };
        let is_its = |item: &Item| found::entity_among(model, &[dependent.entity], item).is_some();
        let found: Vec<Item> = items.into_iter().filter(is_its).collect();
        let found =
            if self.is_whole(dependent.entity, finder) { found } else { self.whole(dependent.entity, found).await? };
        let is_old = |item: &Attributes| {
            forms.iter().any(|form| !form.in_place && matches!(form.class(item), Class::Old | Class::Moved(_)))
        };
        let items = found
            .iter()
            .map(Item::to_attributes)
            .filter(|item| refers(model, dependent.entity, &children.refers, item) && !is_old(item));
        children.items = items.collect();
        Ok(children)
    }

    /// Returns whether a finder returns all attributes, and whether they are current enough to delete by.
    pub(super) fn is_whole(&self, entity: EntityId, finder: &Finder) -> bool {
        let table = self.checked.model.table(finder.plan.table);
        let copies_all = finder.plan.index.is_none_or(|index| table.index_at(index).projection.is_none());
        let is_plain = keyform_language::plan::guarded_fields(self.checked.model.entity(entity)).next().is_none()
            && self.checked.plans.dependents.cascading(entity).next().is_none();
        copies_all && (!finder.lags || is_plain)
    }

    /// Reads all attributes of the items by their keys.
    pub(super) async fn whole(&self, entity: EntityId, items: Vec<Item>) -> Result<Vec<Item>, RunError> {
        let keys: Vec<Attributes> =
            items.iter().map(|item| self.as_parent(entity, &item.to_attributes()).key).collect();
        let Some(table) = self.checked.model.entity(entity).table.filter(|_| !keys.is_empty()) else {
            return Ok(Vec::new());
        };
        let request = BatchGetRequest { keys, projection: None, consistent: true };
        let mut whole = Vec::new();
        self.batch_all(&self.checked.model.table(table).physical, &request, &mut whole).await?;
        Ok(whole)
    }
}

/// Returns the call of the finder's read; `None` if the parent lacks a value that it needs.
pub(super) fn finder_call(model: &Model, parent: &Parent, finder: &Finder) -> Option<Call> {
    let entity = model.entity(parent.entity);
    let mut arguments = Attributes::new();
    for (parameter, given) in finder.read.parameters.iter().zip(&finder.given) {
        let value = parent.values.get(&entity.field(*given).name)?;
        arguments.insert(parameter.field_name.clone(), value.clone());
    }
    Some(Call { arguments, ..Call::default() })
}

/// Returns the field values that an item must have to belong to the parent (ADR 0020).
pub(super) fn shared(model: &Model, parent: &Parent, finder: &Finder) -> Vec<(FieldId, AttributeValue)> {
    let entity = model.entity(parent.entity);
    let value = |(field, of): &(FieldId, FieldId)| Some((*field, parent.values.get(&entity.field(*of).name)?.clone()));
    finder.shared.iter().filter_map(value).collect()
}

/// Returns whether an item has these values.
pub(super) fn refers(model: &Model, id: EntityId, wanted: &[(FieldId, AttributeValue)], item: &Attributes) -> bool {
    let entity = model.entity(id);
    wanted.iter().all(|(field, value)| item.get(&entity.field(*field).name) == Some(value))
}
