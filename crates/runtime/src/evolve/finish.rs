//! End of a migration: verification, cut-over or rollback.

use std::time::Duration;

use keyform_core::capacity::ReturnConsumedCapacity;
use keyform_core::expression::{Condition, Path};
use keyform_core::operation::{DeleteItem, PutItem, TransactAction, TransactWriteItems, WriteOptions};
use keyform_core::{Attributes, Error, ErrorCode, ExecuteExt};
use serde::Serialize;

use keyform_language::bind::evolve::claims;

use super::carry::spent;
use super::find::{batch_get, get};
use super::form::{Class, Form};
use super::mark::{MARK, Mark, sum};
use super::migration::{Held, MigrateError, Migration, Pace, Progress, Watch, shown_key};
use super::state::{Phase, State};
use super::unchanged::unchanged;
use crate::accept;
use crate::contention::{Tries, is_contention};

/// Limit of reported examples.
const EXAMPLES_MAX: usize = 10;
const TRIES_MAX: u32 = 12;

/// Result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// Items read by the scans.
    pub scanned: u64,
    /// Old items that are not migrated.
    pub left: u64,
    /// Migrated, and unchanged since.
    pub same: u64,
    /// Migrated, and the new item was changed since.
    pub changed: u64,
    /// Migrated, and the new item was deleted since.
    pub deleted: u64,
    /// Only marked, because an item with the new key already existed.
    pub superseded: u64,
    /// The hash in the mark is not that of the converted old item.
    pub wrong: u64,
    /// Items in the new form without an old one.
    pub new: u64,
    /// Items of other entities, and sentinels of unique values. All counts add up to `scanned`.
    pub other: u64,
    /// Keys of some items that remain or are wrong.
    pub examples: Vec<String>,
}

impl Verified {
    /// Returns whether every item is migrated and none is wrong.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.left == 0 && self.wrong == 0
    }
}

/// Result of a rollback.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RolledBack {
    /// Items that have the old form again.
    pub reverted: u64,
    /// Old items that were deleted because their new item was.
    pub deleted: u64,
    /// Items that stay in the new form, because the old form cannot represent them or their old key is taken.
    pub kept: u64,
    /// Keys of some items that stay.
    pub examples: Vec<String>,
}

impl Migration {
    /// Compares every old item with its new one. Reads and writes may continue.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    pub async fn verify(&self, watch: Watch<'_>) -> Result<Verified, MigrateError> {
        let mut found = Verified::default();
        for (table, forms) in self.sources() {
            let total = self.item_count(&table).await?;
            let mut start = None;
            loop {
                let (items, last) = self.page(&table, None, start).await?;
                self.verify_page(&forms, &items, &mut found).await?;
                let progress = Progress { step: "comparing", done: found.scanned, total, counts: Default::default() };
                watch(&progress);
                match last {
                    Some(key) => start = Some(key),
                    None => break,
                }
            }
        }
        Ok(found)
    }

    async fn verify_page(
        &self,
        forms: &[&Form],
        items: &[Attributes],
        found: &mut Verified,
    ) -> Result<(), MigrateError> {
        found.scanned += items.len() as u64;
        let mut moved: Vec<Vec<(&Attributes, Mark)>> = vec![Vec::new(); forms.len()];
        for item in items {
            // An item belongs to one form at most, so it is counted once.
            let classes = forms.iter().zip(&mut moved).map(|(form, moved)| (form, moved, form.class(item)));
            match classes.into_iter().find(|(_, _, class)| *class != Class::Other) {
                None | Some((_, _, Class::Other)) => found.other += 1,
                Some((_, _, Class::New)) => found.new += 1,
                Some((form, _, Class::Old)) => {
                    found.left += 1;
                    example(form, item, &mut found.examples);
                }
                Some((_, moved, Class::Moved(mark))) => moved.push((item, mark)),
            }
        }
        for (form, moved) in forms.iter().zip(&moved) {
            self.verify_moved(form, moved, found).await?;
        }
        Ok(())
    }

    async fn verify_moved(
        &self,
        form: &Form,
        moved: &[(&Attributes, Mark)],
        found: &mut Verified,
    ) -> Result<(), MigrateError> {
        let keys = moved.iter().map(|(_, mark)| mark.to.clone()).collect();
        let now = batch_get(&*self.store, &form.new.name, keys).await?;
        for (old, mark) in moved {
            let current = now.iter().find(|item| form.new.key_of(item) == mark.to);
            let expected = form.converted(old, mark.at_millis);
            let right = mark.sum.is_empty() || expected.as_ref().is_ok_and(|expected| sum(expected) == mark.sum);
            match current {
                _ if !right => {
                    found.wrong += 1;
                    example(form, old, &mut found.examples);
                }
                _ if mark.sum.is_empty() => found.superseded += 1,
                None => found.deleted += 1,
                Some(current) if sum(current) == mark.sum => found.same += 1,
                Some(_) => found.changed += 1,
            }
        }
        Ok(())
    }

    /// Completes the migration: from now on only the new form is read, and the marked old items are deleted.
    ///
    /// # Errors
    ///
    /// Returns [`MigrateError::Left`] if an old item is not migrated; nothing has changed then.
    pub async fn cut_over(&self, pace: &Pace, watch: Watch<'_>) -> Result<State, MigrateError> {
        let phase = self.status().await?.phase;
        match phase {
            Phase::Closed => return self.status().await,
            Phase::RollingBack | Phase::RolledBack => {
                return Err(MigrateError::Phase(phase, "run `keyform migrate run` first"));
            }
            Phase::Open | Phase::Filling | Phase::Filled | Phase::Closing => {}
        }
        let mut held = self.take(pace).await?;
        if held.state.phase != Phase::Closing {
            let found = self.verify(watch).await?;
            if !found.is_complete() {
                held.release().await?;
                return Err(MigrateError::Left(found.left + found.wrong, found.examples));
            }
            // The phase changes before anything is deleted: an interrupted cut-over continues with the deletes.
            held.enter(Phase::Closing).await?;
        }
        // Instances with the model before the evolution would miss the items that are deleted now.
        accept::retire(&*self.store, &self.candidate()).await?;
        self.remove_old(&mut held, watch).await?;
        held.state.phase = Phase::Closed;
        held.release().await
    }

    /// Deletes the marked items. No instance needs them: they all find the new items.
    async fn remove_old(&self, held: &mut Held<'_>, watch: Watch<'_>) -> Result<(), MigrateError> {
        for (table, forms) in self.sources() {
            if forms.iter().all(|form| form.in_place) {
                continue;
            }
            let total = self.item_count(&table).await?;
            let (mut start, mut done) = (None, 0);
            loop {
                let (items, last) = self.page(&table, None, start).await?;
                for item in &items {
                    let form = forms.iter().find(|form| matches!(form.class(item), Class::Moved(_)));
                    if let Some(form) = form {
                        let units = self.remove(form, item).await?;
                        held.state.counts.removed += 1;
                        held.spent(units).await?;
                    }
                }
                done += items.len() as u64;
                held.save().await?;
                watch(&Progress { step: "removing", done, total, counts: held.state.counts.clone() });
                match last {
                    Some(key) => start = Some(key),
                    None => break,
                }
            }
        }
        Ok(())
    }

    async fn remove(&self, form: &Form, item: &Attributes) -> Result<f64, MigrateError> {
        let delete = DeleteItem {
            table: form.old.name.clone(),
            key: form.old.key_of(item),
            options: WriteOptions {
                return_capacity: ReturnConsumedCapacity::Total,
                ..Condition::AttributeExists(Path::attribute(MARK)).into()
            },
        };
        let mut tries = self.tries();
        while tries.next().await {
            match self.store.call(delete.clone()).await {
                Ok(output) => return Ok(spent(&output.capacity)),
                Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => return Ok(0.0),
                Err(error) if is_contention(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(MigrateError::Store(Error::internal("the store is too busy: run it again later")))
    }

    fn tries(&self) -> Tries<'_> {
        Tries::new(&*self.world, TRIES_MAX)
    }

    /// Rolls back: the old form becomes authoritative again, including the changes made since, as far as it can
    /// represent them.
    ///
    /// Writes of the entities are refused meanwhile; the first step waits until every instance of the application has
    /// noticed.
    ///
    /// # Errors
    ///
    /// Returns an error if the cut-over has begun, another process runs the migration, or the store fails.
    pub async fn roll_back(&self, pace: &Pace, watch: Watch<'_>) -> Result<RolledBack, MigrateError> {
        let phase = self.status().await?.phase;
        if matches!(phase, Phase::Closing | Phase::Closed) {
            return Err(MigrateError::Phase(phase, "a rollback is not possible after the cut-over"));
        }
        let mut held = self.take(pace).await?;
        held.enter(Phase::RollingBack).await?;
        // ADR 0015: instances read the phase every REFRESH_MILLIS; after twice that time all of them refuse writes.
        self.world.sleep(Duration::from_millis(self.notice_millis)).await;
        held.save().await?;
        let mut found = RolledBack::default();
        for (table, forms) in self.sources() {
            self.revert_table(&mut held, &table, &forms, &mut found, watch).await?;
        }
        self.revert_new(&mut held, &mut found, watch).await?;
        held.state.phase = Phase::RolledBack;
        held.state.checkpoints.clear();
        held.release().await?;
        Ok(found)
    }

    /// Reverts the items that came from old ones.
    async fn revert_table(
        &self,
        held: &mut Held<'_>,
        table: &str,
        forms: &[&Form],
        found: &mut RolledBack,
        watch: Watch<'_>,
    ) -> Result<(), MigrateError> {
        let total = self.item_count(table).await?;
        let (mut start, mut done) = (None, 0);
        loop {
            let (items, last) = self.page(table, None, start).await?;
            for item in &items {
                for form in forms {
                    match form.class(item) {
                        Class::Moved(mark) if !form.in_place => self.revert(form, item, &mark, found).await?,
                        Class::New if form.in_place => self.revert_in_place(form, item, found).await?,
                        _ => {}
                    }
                }
            }
            done += items.len() as u64;
            held.state.counts.reverted = found.reverted;
            held.save().await?;
            watch(&Progress { step: "rolling back", done, total, counts: held.state.counts.clone() });
            match last {
                Some(key) => start = Some(key),
                None => return Ok(()),
            }
        }
    }

    async fn revert(
        &self,
        form: &Form,
        old: &Attributes,
        mark: &Mark,
        found: &mut RolledBack,
    ) -> Result<(), MigrateError> {
        let mut tries = self.tries();
        while tries.next().await {
            let new = get(&*self.store, &form.new.name, mark.to.clone()).await?;
            let Some(new) = new else {
                let Some(delete) = deleting(form, old) else {
                    found.keep(form, old);
                    return Ok(());
                };
                if self.transact(vec![delete]).await? {
                    found.deleted += 1;
                    return Ok(());
                }
                continue;
            };
            let Some(actions) = reverting(form, old, &new) else {
                found.keep(form, &new);
                return Ok(());
            };
            if self.transact(actions).await? {
                found.reverted += 1;
                return Ok(());
            }
        }
        Err(contested())
    }

    async fn revert_in_place(
        &self,
        form: &Form,
        item: &Attributes,
        found: &mut RolledBack,
    ) -> Result<(), MigrateError> {
        let mut image = item.clone();
        let mut tries = self.tries();
        while tries.next().await {
            let Ok(reverted) = form.reverted(&image, None) else { return Ok(()) };
            if reverted == image {
                return Ok(());
            }
            let Ok(condition) = unchanged(form, &image) else {
                found.keep(form, &image);
                return Ok(());
            };
            let put = PutItem { table: form.old.name.clone(), item: reverted, options: condition.into() };
            match self.store.call(put).await {
                Ok(_) => {
                    found.reverted += 1;
                    return Ok(());
                }
                Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => {
                    match get(&*self.store, &form.old.name, form.old.key_of(&image)).await? {
                        Some(current) => image = current,
                        None => return Ok(()),
                    }
                }
                Err(error) if is_contention(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(contested())
    }

    /// Reverts the items that were created in the new form, if the old form can represent them.
    async fn revert_new(
        &self,
        held: &mut Held<'_>,
        found: &mut RolledBack,
        watch: Watch<'_>,
    ) -> Result<(), MigrateError> {
        for form in self.forms.iter().filter(|form| !form.in_place) {
            let table = &form.new.name;
            let total = self.item_count(table).await?;
            let (mut start, mut done) = (None, 0);
            loop {
                let (items, last) = self.page(table, None, start).await?;
                for item in items.iter().filter(|item| form.is_new(item)) {
                    self.revert_made(form, item, found).await?;
                }
                done += items.len() as u64;
                held.state.counts.reverted = found.reverted;
                held.save().await?;
                watch(&Progress { step: "rolling back", done, total, counts: held.state.counts.clone() });
                match last {
                    Some(key) => start = Some(key),
                    None => break,
                }
            }
        }
        Ok(())
    }

    async fn revert_made(&self, form: &Form, new: &Attributes, found: &mut RolledBack) -> Result<(), MigrateError> {
        let back = form.reverted(new, None).ok().filter(|old| {
            let again = form.converted(old, 0);
            form.old.has_key(old) && again.is_ok_and(|again| form.new.key_of(&again) == form.new.key_of(new))
        });
        let Some(old) = back else {
            found.keep(form, new);
            return Ok(());
        };
        let key = form.old.table.partition.as_ref().map_or("", |key| key.name.as_str());
        let put = TransactAction::Put {
            table: form.old.name.clone(),
            item: old,
            condition: Some(Condition::AttributeNotExists(Path::attribute(key))),
            return_item_on_failure: false,
        };
        let Some(actions) = replacing(form, put, new) else {
            found.keep(form, new);
            return Ok(());
        };
        match self.transact(actions).await? {
            true => found.reverted += 1,
            false => found.keep(form, new),
        }
        Ok(())
    }

    /// Returns whether a transaction was applied; `false` after contention or a failed condition.
    async fn transact(&self, actions: Vec<TransactAction>) -> Result<bool, MigrateError> {
        let transaction = TransactWriteItems { actions, ..TransactWriteItems::default() };
        match self.store.call(transaction).await {
            Ok(_) => Ok(true),
            Err(error) if error.code() == ErrorCode::TransactionCanceled || is_contention(&error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn contested() -> MigrateError {
    MigrateError::Store(Error::internal("an item kept changing: stop other writers, and run it again"))
}

/// Returns the action that deletes an old item whose new item was deleted; `None` if it cannot be compared.
fn deleting(form: &Form, old: &Attributes) -> Option<TransactAction> {
    Some(TransactAction::Delete {
        table: form.old.name.clone(),
        key: form.old.key_of(old),
        condition: Some(unchanged(form, old).ok()?),
        return_item_on_failure: false,
    })
}

/// Returns the actions that give an old item what the new one holds; `None` if the old form cannot represent it.
fn reverting(form: &Form, old: &Attributes, new: &Attributes) -> Option<Vec<TransactAction>> {
    let reverted = form.reverted(new, Some(old)).ok()?;
    if form.old.key_of(&reverted) != form.old.key_of(old) {
        return None;
    }
    let put = TransactAction::Put {
        table: form.old.name.clone(),
        item: reverted,
        condition: Some(unchanged(form, old).ok()?),
        return_item_on_failure: false,
    };
    replacing(form, put, new)
}

/// Returns the actions that put an old item and delete the new one; its sentinels too, if the forms are in different
/// tables. `None` if the new item cannot be compared.
fn replacing(form: &Form, put: TransactAction, new: &Attributes) -> Option<Vec<TransactAction>> {
    let delete = TransactAction::Delete {
        table: form.new.name.clone(),
        key: form.new.key_of(new),
        condition: Some(unchanged(form, new).ok()?),
        return_item_on_failure: false,
    };
    let mut actions = vec![put, delete];
    if form.old.name != form.new.name {
        let unique = claims(&form.new.table, &form.new.name, &form.new.entity, new).unwrap_or_default();
        actions.extend(unique.into_iter().filter_map(|(_, claim)| match claim {
            TransactAction::Put { table, item, .. } => Some(TransactAction::Delete {
                key: form.new.key_of(&item),
                table,
                condition: None,
                return_item_on_failure: false,
            }),
            TransactAction::Update { .. } | TransactAction::Delete { .. } | TransactAction::Check { .. } => None,
        }));
    }
    Some(actions)
}

impl RolledBack {
    /// Counts an item that stays in the new form.
    fn keep(&mut self, form: &Form, item: &Attributes) {
        self.kept += 1;
        example(form, item, &mut self.examples);
    }
}

fn example(form: &Form, item: &Attributes, examples: &mut Vec<String>) {
    if examples.len() < EXAMPLES_MAX {
        let key = form.old.key_of(item);
        let key = if key.is_empty() { form.new.key_of(item) } else { key };
        examples.push(format!("{} {}", form.new.entity.name, shown_key(&key)));
    }
}
