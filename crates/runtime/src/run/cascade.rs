//! Deletes the items that refer to a deleted item: page by page, grandchildren before children.
//!
//! ```text
//! TransactWriteItems [ delete the parent, put the intent ]
//! for each entity that cascades:   Query a page → their own dependents first → BatchWriteItem or TransactWriteItems
//! DeleteItem the intent
//! ```
//!
//! The intent exists if and only if the parent was deleted and something may still refer to it (ADR 0020). An
//! interrupted cascade leaves its intent behind, and [`Runner::resume_cascades`] resumes it, in this process or
//! another. Because a child is deleted after its own children, everything that remains can still be found from the
//! parent. Two processes that resume the same cascade at once only duplicate work.
//!
//! A global index on DynamoDB lags: it may not yet contain a child that was written right before the delete. The
//! intent of a parent whose children are found through a global index therefore stays, marked as late, until a pass
//! some seconds later finds nothing.
//!
//! A child is deleted only in the state in which it was found: one that moved to another parent, or whose unique
//! values changed, is read again. If a new item takes the parent's key, the cascade stops: each transaction checks
//! that the parent is still absent.

use keyform_core::expression::{
    Comparator, Condition, KeyCondition, KeyPredicate, KeyTest, Operand, Path, SetAction, SetValue, Update,
    UpdateOperand,
};
use keyform_core::operation::{CreateTable, DeleteItem, PutItem, Query, UpdateItem};
use keyform_core::table::{KeySchema, ScalarType};
use keyform_core::{AttributeValue, Attributes, ErrorCode, Item, Operation};

use keyform_language::bind::{self, DUE, INTENT_KEY, INTENT_SORT, LEASE_MILLIS, Parent};
use keyform_language::bookkeeping::CASCADES;
use keyform_language::plan;
use keyform_language::schema::EntityId;

use super::{RunError, Runner};

/// Delay before the second pass over a lagging index.
pub(super) const LATE_MILLIS: i64 = 10_000;
/// Limit of finished intents per call of [`Runner::resume_cascades`].
const RESUMED_MAX: usize = 100;

/// Result of a call of [`Runner::resume_cascades`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// Cascades that are complete.
    pub finished: usize,
    /// Intents that remain: another process works on them, or a lagging index needs a second pass.
    pub waiting: usize,
    /// Number of items deleted by this call.
    pub removed: u64,
}

/// State of a running cascade.
pub(super) struct Work<'a> {
    pub(super) root: &'a Parent,
    /// Second pass: visits only what is found through global indexes.
    pub(super) late: bool,
    /// Every transaction checks that the root is still absent, because its key can be used again.
    pub(super) guarded: bool,
    /// Expiry of the lease on the intent; other processes leave it alone until then.
    due_millis: i64,
    pub(super) removed: u64,
    /// Ancestors of the items being deleted; a `ref` cycle ends here.
    pub(super) above: Vec<(String, Attributes)>,
}

/// Result of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// Nothing remains.
    Done,
    /// A lagging index needs a second pass.
    Later,
    /// An item has the root's key: a new one, or the delete was never applied.
    Reappeared,
}

/// Reason why a removal stops early.
pub(super) enum Stopped {
    Reappeared,
    Failed(RunError),
}

impl<E: Into<RunError>> From<E> for Stopped {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl Runner {
    /// Returns whether a delete of the model cascades, so that the model needs the intent table.
    #[must_use]
    pub fn cascades(&self) -> bool {
        self.checked.plans.writes.iter().flatten().any(plan::WritePlan::cascades)
    }

    /// Creates the intent table if it does not exist; returns whether it did.
    ///
    /// # Errors
    ///
    /// Returns an error if the store rejects the table.
    pub async fn create_cascade_table(&self) -> Result<bool, RunError> {
        match self.send(Operation::CreateTable(cascade_table())).await {
            Ok(_) => self.wait_until_active(CASCADES).await.map(|()| true),
            // Another process may be creating it right now.
            Err(error) if error.code() == ErrorCode::ResourceInUse => {
                self.wait_until_active(CASCADES).await.map(|()| false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Resumes interrupted cascades, and runs the second pass where an index may have lagged. Call it at startup and
    /// every few seconds; any number of processes may do so concurrently. A call returns after a hundred finished
    /// cascades.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails; the next call continues with what remains.
    pub async fn resume_cascades(&self) -> Result<Resumed, RunError> {
        self.ensure_accepted().await?;
        let mut resumed = Resumed::default();
        for table in self.cascading_tables() {
            for intent in self.intents(&table).await? {
                if resumed.finished >= RESUMED_MAX {
                    return Ok(resumed);
                }
                self.resume(&intent, &mut resumed).await?;
            }
        }
        Ok(resumed)
    }

    /// Returns the names in the store of the tables whose deletes cascade.
    fn cascading_tables(&self) -> Vec<String> {
        let model = &self.checked.model;
        let cascades = |id: &EntityId| self.checked.plans.dependents.cascading(*id).next().is_some();
        let mut tables: Vec<String> = Vec::new();
        for table in model.entity_ids().filter(cascades).filter_map(|id| model.entity(id).table) {
            let name = &model.table(table).physical;
            if !tables.contains(name) {
                tables.push(name.clone());
            }
        }
        tables
    }

    /// Returns the intents of a table.
    async fn intents(&self, table: &str) -> Result<Vec<Attributes>, RunError> {
        let value = bind::intent_partition(&self.checked.model, table);
        let test = KeyTest::Compare(Comparator::Equal, value.into());
        let key = KeyCondition { predicates: vec![KeyPredicate { attribute: INTENT_KEY.to_owned(), test }] };
        let mut query = Query {
            table: CASCADES.to_owned(),
            index: None,
            key,
            filter: None,
            projection: None,
            select: None,
            limit: None,
            consistent: true,
            reverse: false,
            start: None,
            return_capacity: Default::default(),
        };
        let mut intents: Vec<Attributes> = Vec::new();
        loop {
            let page = match self.call(query.clone()).await {
                Ok(page) => page,
                Err(error) if error.code() == ErrorCode::ResourceNotFound => break,
                Err(error) => return Err(error.into()),
            };
            page.ensure_progress(query.start.as_ref())?;
            intents.extend(page.items.unwrap_or_default().iter().map(Item::to_attributes));
            query.start = page.last_key.map(|last| last.to_attributes());
            if query.start.is_none() || intents.len() >= RESUMED_MAX {
                break;
            }
        }
        Ok(intents)
    }

    async fn resume(&self, intent: &Attributes, resumed: &mut Resumed) -> Result<(), RunError> {
        let Some((parent, late)) = Parent::of_intent(&self.checked.model, intent) else {
            resumed.waiting += 1;
            return Ok(());
        };
        let now = self.world.now_millis();
        let is_due = !matches!(intent.get(DUE), Some(AttributeValue::N(due)) if *due > now.into());
        if !is_due || !self.claim(&parent, intent.get(DUE), now + LEASE_MILLIS).await? {
            resumed.waiting += 1;
            return Ok(());
        }
        let (ended, removed) = if self.is_there(&parent).await? {
            (Ended::Reappeared, 0)
        } else {
            self.carry_out(&parent, late, now + LEASE_MILLIS).await?
        };
        resumed.removed += removed;
        match self.conclude(&parent, ended).await? {
            true => resumed.finished += 1,
            false => resumed.waiting += 1,
        }
        Ok(())
    }

    /// Acquires the lease on an intent; `false` if another process was faster.
    async fn claim(&self, parent: &Parent, due: Option<&AttributeValue>, until: i64) -> Result<bool, RunError> {
        let is_as_read = match due {
            Some(due) => Condition::Compare {
                left: Operand::Path(Path::attribute(DUE)),
                comparator: Comparator::Equal,
                right: Operand::Value(due.clone().into()),
            },
            None => Condition::And(vec![
                Condition::AttributeExists(Path::attribute(INTENT_KEY)),
                Condition::AttributeNotExists(Path::attribute(DUE)),
            ]),
        };
        self.put_off(parent, until, is_as_read).await
    }

    /// Sets the due time of an intent on a condition; returns whether the condition held.
    async fn put_off(&self, parent: &Parent, due_millis: i64, condition: Condition) -> Result<bool, RunError> {
        let due = AttributeValue::from(due_millis);
        let set = SetAction { path: Path::attribute(DUE), value: SetValue::Operand(UpdateOperand::Value(due.into())) };
        let update = UpdateItem {
            table: CASCADES.to_owned(),
            key: parent.intent_key(&self.checked.model),
            update: Some(Update { set: vec![set], ..Update::default() }),
            options: condition.into(),
        };
        match self.send(Operation::UpdateItem(update)).await {
            Ok(_) => Ok(true),
            Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether an unexpired item has this key, possibly a new one.
    pub(super) async fn is_there(&self, parent: &Parent) -> Result<bool, RunError> {
        let item = self.current(parent.table.clone(), parent.key.clone()).await?;
        Ok(item.is_some_and(|item| !self.is_over(parent.entity, &item)))
    }

    /// Deletes what refers to the items that a write deleted. Errors are ignored, because the write is already
    /// applied: [`Runner::resume_cascades`] continues.
    pub(super) async fn remove_dependents(&self, parents: &[Parent]) {
        for parent in parents.iter().filter(|parent| parent.cascades) {
            let until = self.world.now_millis() + LEASE_MILLIS;
            if let Ok((ended, _)) = self.carry_out(parent, false, until).await {
                // A remaining intent costs one more pass, which finds nothing.
                drop(self.conclude(parent, ended).await);
            }
        }
    }

    async fn carry_out(&self, parent: &Parent, late: bool, due_millis: i64) -> Result<(Ended, u64), RunError> {
        let guarded = plan::is_reusable(&self.checked.model, parent.entity);
        let mut work = Work { root: parent, late, guarded, due_millis, removed: 0, above: Vec::new() };
        match self.remove_children(&mut work, parent).await {
            Ok(()) => {}
            Err(Stopped::Reappeared) => return Ok((Ended::Reappeared, work.removed)),
            Err(Stopped::Failed(error)) => return Err(error),
        }
        let again = self.checked.plans.dependents.lags(parent.entity) && !(late && work.removed == 0);
        Ok((if again { Ended::Later } else { Ended::Done }, work.removed))
    }

    /// Deletes the intent or postpones it; returns whether it is gone.
    async fn conclude(&self, parent: &Parent, ended: Ended) -> Result<bool, RunError> {
        let model = &self.checked.model;
        if ended == Ended::Later && !self.store.indexes_keep_up() {
            let due = Some(self.world.now_millis() + LATE_MILLIS);
            let put = PutItem {
                table: CASCADES.to_owned(),
                item: parent.intent(model, due, true),
                options: Condition::AttributeExists(Path::attribute(INTENT_KEY)).into(),
            };
            return match self.send(Operation::PutItem(put)).await {
                Ok(_) => Ok(false),
                Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => Ok(true),
                Err(error) => Err(error.into()),
            };
        }
        let (table, key) = (CASCADES.to_owned(), parent.intent_key(model));
        self.send(Operation::DeleteItem(DeleteItem { table, key, ..DeleteItem::default() })).await?;
        Ok(true)
    }

    /// Renews the lease once half of it has passed.
    pub(super) async fn renew(&self, work: &mut Work<'_>) -> Result<(), RunError> {
        let now = self.world.now_millis();
        if now + LEASE_MILLIS / 2 < work.due_millis {
            return Ok(());
        }
        work.due_millis = now + LEASE_MILLIS;
        let is_there = Condition::AttributeExists(Path::attribute(INTENT_KEY));
        self.put_off(work.root, work.due_millis, is_there).await.map(drop)
    }
}

/// Returns the request that creates the intent table.
#[must_use]
pub fn cascade_table() -> CreateTable {
    CreateTable {
        attributes: [(INTENT_KEY.to_owned(), ScalarType::S), (INTENT_SORT.to_owned(), ScalarType::S)].into(),
        key: KeySchema { partition: vec![INTENT_KEY.to_owned()], sort: vec![INTENT_SORT.to_owned()] },
        ..CreateTable::named(CASCADES)
    }
}
