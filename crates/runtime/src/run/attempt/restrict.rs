//! Refuses a delete while an item refers to the deleted one with `restrict`.
//!
//! Before the request, one page of the referring items is read: one item is enough, and items that the same request
//! deletes do not count. If items that the delete cascades to are restricted themselves, they are checked one by one
//! before anything is deleted. A reference that is written between the check and the request goes unnoticed (ADR
//! 0020); a condition in the model, such as a counter, closes that race.
//!
//! The outcomes that the author named take precedence: they are more specific.

use keyform_core::execute::BoxFuture;
use keyform_core::operation::TransactAction;
use keyform_core::{Attributes, Item};

use keyform_language::bind::{self, Parent, WriteOperation};
use keyform_language::plan::{Dependent, Finder, remaining_name};
use keyform_language::schema::EntityId;

use super::refusal::Called;
use super::state::{Attempt, Bound};
use super::step::{Hook, Step};
use super::two_forms::targets;
use crate::run::children::{finder_call, refers, shared};
use crate::run::found::{self, Answer};
use crate::run::read::Pages;
use crate::run::{RunError, Runner};

/// Items that a request deletes: table and key.
type Going = Vec<(String, Attributes)>;

#[derive(Debug)]
pub(super) struct Restrict;

impl Step for Restrict {
    fn before<'r>(&self, attempt: &'r mut Attempt<'_, Bound>) -> Hook<'r, Result<(), RunError>> {
        let (runner, state) = (attempt.of.runner, &attempt.state);
        let dependents = &runner.checked.plans.dependents;
        match state.deleted.parents.iter().any(|parent| dependents.may_refuse(parent.entity, parent.entity)) {
            true => {
                Hook::wait(runner.refuse_restricted(Called::before(attempt), &state.operation, &state.deleted.parents))
            }
            false => Hook::pass(),
        }
    }
}

impl Runner {
    /// Refuses a write that deletes an item which others still refer to.
    async fn refuse_restricted(
        &self,
        called: Called<'_>,
        operation: &WriteOperation,
        parents: &[Parent],
    ) -> Result<(), RunError> {
        let dependents = &self.checked.plans.dependents;
        let going = going(operation);
        for parent in parents {
            if !dependents.may_refuse(parent.entity, parent.entity) {
                continue;
            }
            if let Some(entity) = self.refusing(parent.entity, parent, &going).await? {
                self.refuse_as_written(&called, operation).await?;
                let outcome = remaining_name(&self.checked.model.entity(entity).name);
                return Err(RunError::Refused { outcome, item: None });
            }
        }
        Ok(())
    }

    /// Returns the outcome that the author named, if one of the write's own conditions does not hold.
    async fn refuse_as_written(&self, called: &Called<'_>, operation: &WriteOperation) -> Result<(), RunError> {
        for (number, (table, key)) in targets(operation).into_iter().enumerate() {
            let Some(action) = called.actions.get(number).filter(|action| !action.demands.is_empty()) else {
                continue;
            };
            let item = self.current(table, key).await?;
            if action.demands.iter().any(|demand| !demand.condition.holds(item.as_ref())) {
                called.refused_by(number, item.as_ref()).await?;
            }
        }
        Ok(())
    }

    /// Returns the entity of an item that refuses the delete of a root. `parent` is the root or an item that the
    /// delete cascades to.
    fn refusing<'a>(
        &'a self,
        root: EntityId,
        parent: &'a Parent,
        going: &'a Going,
    ) -> BoxFuture<'a, Result<Option<EntityId>, RunError>> {
        Box::pin(async move {
            let dependents = &self.checked.plans.dependents;
            for (dependent, finder) in dependents.refusing(root, parent.entity) {
                if !self.referring(parent, dependent, finder, going, true).await?.is_empty() {
                    return Ok(Some(dependent.entity));
                }
            }
            for (dependent, finder) in dependents.cascading(parent.entity) {
                if dependent.entity == parent.entity || !dependents.may_refuse(root, dependent.entity) {
                    continue;
                }
                for child in self.referring(parent, dependent, finder, going, false).await? {
                    let child = self.as_parent(dependent.entity, &child);
                    if let Some(entity) = self.refusing(root, &child, going).await? {
                        return Ok(Some(entity));
                    }
                }
            }
            Ok(None)
        })
    }

    /// Returns the items that refer to a parent and are not deleted by the same request. With `one`, stops after the
    /// first.
    async fn referring(
        &self,
        parent: &Parent,
        dependent: &Dependent,
        finder: &Finder,
        going: &Going,
        one: bool,
    ) -> Result<Vec<Attributes>, RunError> {
        let model = &self.checked.model;
        let Some(call) = finder_call(model, parent, finder) else { return Ok(Vec::new()) };
        let forms = if self.evolving.is_some() { self.open_forms(&[dependent.entity]).await? } else { Vec::new() };
        if !forms.is_empty() {
            let answer = Box::pin(self.read_both(&finder.read, &finder.plan, &call, forms, None)).await?;
            let Answer::Page { items, broken, .. } = answer else { return Ok(Vec::new()) };
            // A broken item refers to its parent all the same.
            let broken = broken.into_iter().map(|broken| broken.key);
            return Ok(items.into_iter().map(|found| found.fields.into()).chain(broken).collect());
        }
        let bound = bind::read(model, &finder.read, &finder.plan, &self.inputs(&call))?;
        let mut pages = Pages::new(&bound);
        if one && finder.plan.filters.is_empty() {
            pages.limit(Some(going.len() + 1));
        }
        let wanted = shared(model, parent, finder);
        let mut referring = Vec::new();
        while let Some(page) = pages.next(self).await? {
            let stays = |item: &Item| {
                let attributes = item.to_attributes();
                let is_going = |(_, key): &(String, Attributes)| {
                    key.iter().all(|(name, value)| attributes.get(name) == Some(value))
                };
                bound.keeps(item)
                    && found::entity_among(model, &[dependent.entity], item).is_some()
                    && !going
                        .iter()
                        .filter(|(table, _)| *table == model.table(finder.plan.table).physical)
                        .any(is_going)
            };
            let found: Vec<Item> = page.into_iter().filter(stays).collect();
            // An index may still contain deleted items.
            let found = if !self.is_whole(dependent.entity, finder) || finder.lags {
                self.whole(dependent.entity, found).await?
            } else {
                found
            };
            let refers = |item: &Attributes| refers(model, dependent.entity, &wanted, item);
            referring.extend(found.iter().map(Item::to_attributes).filter(refers));
            if one && !referring.is_empty() {
                break;
            }
        }
        Ok(referring)
    }
}

/// Returns the items that a request deletes.
fn going(operation: &WriteOperation) -> Going {
    match operation {
        WriteOperation::Delete(delete) => vec![(delete.table.clone(), delete.key.clone())],
        WriteOperation::Transact(transaction) => {
            let deleted = |action: &TransactAction| match action {
                TransactAction::Delete { table, key, .. } => Some((table.clone(), key.clone())),
                TransactAction::Put { .. } | TransactAction::Update { .. } | TransactAction::Check { .. } => None,
            };
            transaction.actions.iter().filter_map(deleted).collect()
        }
        WriteOperation::Batch(_) => targets(operation),
        WriteOperation::Put(_) | WriteOperation::Update(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::Restrict;
    use crate::run::RunError;
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{Rig, attributes, now, page};

    fn refused(rig: &Rig) -> Result<(), RunError> {
        let fixed = rig.fixed();
        now(Restrict.before(&mut rig.bound(&fixed)).result())
    }

    #[test]
    fn an_item_that_others_refer_to_is_not_deleted() {
        let lease = attributes(&[
            ("pk", "ROOM#r".into()),
            ("sk", "LEASE#l".into()),
            ("kind", "Lease".into()),
            ("room", "r".into()),
            ("lease", "l".into()),
        ]);
        let rig = Rig::new("leave", &[("room", "r".into())]).answers([page(&[lease])]);
        assert_eq!(refused(&rig), Err(RunError::Refused { outcome: "LeaseRemains".to_owned(), item: None }));
    }

    #[test]
    fn an_item_without_references_is_deleted_after_one_query() {
        let rig = Rig::new("leave", &[("room", "r".into())]).answers([page(&[])]);
        assert_eq!((refused(&rig), rig.requests().len()), (Ok(()), 1));
    }

    #[test]
    fn a_delete_that_nothing_restricts_costs_no_query() {
        let rig = Rig::new("clear", &[("shelf", "s".into())]);
        assert_eq!((refused(&rig), rig.requests().len()), (Ok(()), 0));
    }
}
