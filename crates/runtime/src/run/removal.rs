//! Deletes the children of a parent: page by page, their own dependents first.
//!
//! A page is deleted in plain batches where no relevant change is possible: the `ref` is part of the primary key,
//! there are no unique values, and the root's key is never used again. Otherwise it is deleted in transactions, on the
//! condition that each item is unchanged.

use keyform_core::execute::BoxFuture;
use keyform_core::expression::{Condition, Path};
use keyform_core::operation::{BatchWriteItem, DeleteItem, TransactAction, TransactWriteItems, WriteRequest};
use keyform_core::{ErrorCode, Item, Operation};

use crate::contention::failed_conditions;
use keyform_language::bind::{self, Parent};
use keyform_language::bookkeeping::CASCADES;
use keyform_language::plan::{Dependent, Finder};

use super::cascade::{LATE_MILLIS, Stopped, Work};
use super::children::{Children, finder_call, refers};
use super::read::Pages;
use super::{RunError, Runner};

/// Limit of BatchWriteItem.
const BATCH_ITEMS_MAX: usize = 25;
/// Limit of a transaction, less one for the check of the root.
const ACTIONS_MAX: usize = 99;

impl Runner {
    /// Deletes everything that refers to a parent.
    pub(super) fn remove_children<'a>(
        &'a self,
        work: &'a mut Work<'_>,
        parent: &'a Parent,
    ) -> BoxFuture<'a, Result<(), Stopped>> {
        Box::pin(async move {
            work.above.push((parent.table.clone(), parent.key.clone()));
            let late = work.late && work.above.len() == 1;
            let cascading = self.checked.plans.dependents.cascading(parent.entity);
            for (dependent, finder) in cascading.filter(|(_, finder)| finder.lags || !late) {
                self.remove_found(work, parent, dependent, finder).await?;
            }
            work.above.pop();
            Ok(())
        })
    }

    async fn remove_found(
        &self,
        work: &mut Work<'_>,
        parent: &Parent,
        dependent: &Dependent,
        finder: &Finder,
    ) -> Result<(), Stopped> {
        let Some(call) = finder_call(&self.checked.model, parent, finder) else { return Ok(()) };
        let forms = self.settle_children(dependent, finder, &call).await?;
        let bound = bind::read(&self.checked.model, &finder.read, &finder.plan, &self.inputs(&call))?;
        let mut pages = Pages::new(&bound);
        while let Some(page) = pages.next(self).await? {
            let kept: Vec<Item> = page.into_iter().filter(|item| bound.keeps(item)).collect();
            let children = self.children(dependent, finder, parent, &forms, kept).await?;
            if children.items.is_empty() {
                continue;
            }
            // ADR 0020: grandchildren first, so that a crash leaves everything reachable from the root.
            self.remove_below(work, &children).await?;
            work.removed += children.items.len() as u64;
            self.remove(work, children).await?;
            self.renew(work).await?;
        }
        Ok(())
    }

    /// Deletes what refers to the children, and writes a late intent for each child whose dependents a lagging index
    /// may still reveal.
    async fn remove_below(&self, work: &mut Work<'_>, children: &Children) -> Result<(), Stopped> {
        let dependents = &self.checked.plans.dependents;
        if dependents.cascading(children.entity).next().is_none() {
            return Ok(());
        }
        let lags = dependents.lags(children.entity) && !self.store.indexes_keep_up();
        let mut intents = Vec::new();
        for item in &children.items {
            let child = self.as_parent(children.entity, item);
            if work.above.iter().any(|(table, key)| *table == child.table && *key == child.key) {
                continue;
            }
            self.remove_children(work, &child).await?;
            let due = Some(self.world.now_millis() + LATE_MILLIS);
            intents.extend(lags.then(|| child.intent(&self.checked.model, due, true)));
        }
        for piece in intents.chunks(BATCH_ITEMS_MAX) {
            let requests = piece.iter().cloned().map(WriteRequest::Put).collect();
            let tables = vec![(CASCADES.to_owned(), requests)];
            self.apply_batch(BatchWriteItem { tables, ..BatchWriteItem::default() }).await?;
        }
        Ok(())
    }

    /// Deletes children whose own dependents are gone.
    async fn remove(&self, work: &Work<'_>, children: Children) -> Result<(), Stopped> {
        let now = self.world.now_millis();
        let mut removals: Vec<Vec<TransactAction>> = Vec::new();
        for item in &children.items {
            let model = &self.checked.model;
            removals.push(bind::removal(model, children.entity, item, &children.refers, now)?);
        }
        let is_plain = |actions: &Vec<TransactAction>| {
            matches!(actions.as_slice(), [TransactAction::Delete { condition: None, .. }])
        };
        if self.settings.without_transactions {
            return self.remove_one_by_one(work, removals).await;
        }
        if !work.guarded && removals.iter().all(is_plain) {
            return Ok(self.apply_batch(batch_of(removals)).await?);
        }
        let mut piece: Vec<Vec<TransactAction>> = Vec::new();
        for removal in removals {
            if piece.iter().map(Vec::len).sum::<usize>() + removal.len() > ACTIONS_MAX {
                self.remove_together(work, &children, std::mem::take(&mut piece)).await?;
            }
            piece.push(removal);
        }
        self.remove_together(work, &children, piece).await
    }

    /// Without transactions: deletes items with conditions one by one, after checking that the root is still absent.
    async fn remove_one_by_one(&self, work: &Work<'_>, removals: Vec<Vec<TransactAction>>) -> Result<(), Stopped> {
        if work.guarded && self.is_there(work.root).await? {
            return Err(Stopped::Reappeared);
        }
        let (plain, conditional): (Vec<_>, Vec<_>) = removals
            .into_iter()
            .partition(|actions| matches!(actions.as_slice(), [TransactAction::Delete { condition: None, .. }]));
        self.apply_batch(batch_of(plain)).await?;
        for action in conditional.into_iter().flatten() {
            let TransactAction::Delete { table, key, condition, .. } = action else { continue };
            let delete = DeleteItem { table, key, options: condition.into() };
            match self.send(Operation::DeleteItem(delete)).await {
                Err(error) if error.code() != ErrorCode::ConditionalCheckFailed => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Deletes children in one transaction. A child that changed is read again, and then deleted or kept.
    async fn remove_together(
        &self,
        work: &Work<'_>,
        children: &Children,
        mut removals: Vec<Vec<TransactAction>>,
    ) -> Result<(), Stopped> {
        let mut tries = 0;
        while !removals.is_empty() {
            let check = work.guarded.then(|| self.is_gone(work.root));
            let actions: Vec<TransactAction> = removals.iter().flatten().cloned().chain(check).collect();
            let count = actions.len() - usize::from(work.guarded);
            let transaction = TransactWriteItems { actions, ..TransactWriteItems::default() };
            let Err(error) = self.send(Operation::TransactWriteItems(transaction)).await else { return Ok(()) };
            let Some(failed) = failed_conditions(&error) else { return Err(error.into()) };
            if failed.iter().any(|&number| number >= count) {
                return Err(Stopped::Reappeared);
            }
            if failed.is_empty() {
                tries += 1;
                self.pause(tries).await?;
                continue;
            }
            let before = removals.len();
            removals = self.anew(children, removals, &failed).await?;
            // A deleted child is progress. Children that keep failing must not be read again forever.
            if removals.len() == before {
                tries += 1;
                self.pause(tries).await?;
            }
        }
        Ok(())
    }

    /// Returns the removals to retry; those with a failed action are rebuilt from the current item.
    async fn anew(
        &self,
        children: &Children,
        removals: Vec<Vec<TransactAction>>,
        failed: &[usize],
    ) -> Result<Vec<Vec<TransactAction>>, RunError> {
        let model = &self.checked.model;
        let (mut kept, mut first) = (Vec::new(), 0);
        for removal in removals {
            let mine = first..first + removal.len();
            first = mine.end;
            if !failed.iter().any(|number| mine.contains(number)) {
                kept.push(removal);
                continue;
            }
            let Some(TransactAction::Delete { table, key, .. }) = removal.into_iter().next() else { continue };
            let Some(item) = self.current(table, key).await? else { continue };
            let item = item.to_attributes();
            if refers(model, children.entity, &children.refers, &item) {
                let now = self.world.now_millis();
                kept.push(bind::removal(model, children.entity, &item, &children.refers, now)?);
            }
        }
        Ok(kept)
    }

    /// Checks that the parent is still absent.
    fn is_gone(&self, parent: &Parent) -> TransactAction {
        let name = parent.key.keys().next().cloned().unwrap_or_default();
        TransactAction::Check {
            table: parent.table.clone(),
            key: parent.key.clone(),
            condition: Condition::AttributeNotExists(Path::attribute(name)),
            return_item_on_failure: false,
        }
    }
}

fn batch_of(removals: Vec<Vec<TransactAction>>) -> BatchWriteItem {
    let mut tables: Vec<(String, Vec<WriteRequest>)> = Vec::new();
    for action in removals.into_iter().flatten() {
        let TransactAction::Delete { table, key, .. } = action else { continue };
        match tables.iter_mut().find(|(name, _)| *name == table) {
            Some((_, requests)) => requests.push(WriteRequest::Delete(key)),
            None => tables.push((table, vec![WriteRequest::Delete(key)])),
        }
    }
    BatchWriteItem { tables, ..BatchWriteItem::default() }
}
