//! What refers to a deleted item goes with it: found page by page, the grandchildren before their parent, whoever carries it out.
//!
//! ```text
//! TransactWriteItems [ delete the parent, put the intent ]
//! for each entity that cascades:   Query a page → their own dependents first → BatchWriteItem or TransactWriteItems
//! DeleteItem the intent
//! ```
//!
//! The intent is there if and only if the parent was deleted and something may still refer to it. Whoever stops half-way leaves it behind, and
//! [`Runner::resume_cascades`] takes it up, in this process or another: since a child goes after its own children, what is left is still
//! found from the parent. Two at once do the same work twice, and nothing else.
//!
//! An index of DynamoDB lags behind: a child that was written right before the delete may not be in it yet. The intent of a parent whose children
//! are found through an index therefore stays, marked as late, until a pass some seconds later has found nothing.
//!
//! A child goes only as what it was found as: one that has moved to another parent meanwhile, or whose unique values have changed, is looked at
//! again. A parent whose key is taken again by a new item is not touched: each transaction then makes sure that it is still gone.

use keyform_core::expression::{
    Comparator, Condition, KeyCondition, KeyPredicate, KeyTest, Operand, Path, SetAction, SetValue, Update,
    UpdateOperand,
};
use keyform_core::operation::{CreateTable, DeleteItem, PutItem, Query, UpdateItem};
use keyform_core::table::{KeySchema, ScalarType};
use keyform_core::{AttributeValue, Attributes, ErrorCode, Item, Operation, Output};

use keyform_language::bind::{self, DUE, INTENT_KEY, INTENT_SORT, LEASE_MILLIS, Parent};
use keyform_language::bookkeeping::CASCADES;
use keyform_language::plan;
use keyform_language::schema::EntityId;

use super::{RunError, Runner};

/// How long after a pass an index is looked at again.
pub(super) const LATE_MILLIS: i64 = 10_000;
/// Intents that one call of [`Runner::resume_cascades`] takes up.
const RESUMED_MAX: usize = 100;

/// What a call of [`Runner::resume_cascades`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resumed {
    /// Intents after which nothing is left to do.
    pub finished: usize,
    /// Intents that wait: another is at work, or an index is looked at again later.
    pub waiting: usize,
    /// Items that were removed.
    pub removed: u64,
}

/// A cascade that is being carried out.
pub(super) struct Work<'a> {
    pub(super) root: &'a Parent,
    /// Only what is found through indexes: the rest is done.
    pub(super) late: bool,
    /// Each transaction makes sure that the parent is gone.
    pub(super) guarded: bool,
    /// Until when others leave it alone.
    due_millis: i64,
    pub(super) removed: u64,
    /// The items whose dependents are being removed.
    pub(super) above: Vec<(String, Attributes)>,
}

/// How a cascade ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// Nothing is left.
    Done,
    /// An index is looked at again later.
    Later,
    /// The key is taken by a new item, or was never free.
    Reappeared,
}

/// Why a removal stops.
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
    /// Whether a delete of the model cascades, so that it needs a table of intents.
    #[must_use]
    pub fn cascades(&self) -> bool {
        self.checked.plans.writes.iter().flatten().any(plan::WritePlan::cascades)
    }

    /// Makes the table of intents, if it is not there; says whether it did.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn create_cascade_table(&self) -> Result<bool, RunError> {
        match self.send(Operation::CreateTable(cascade_table())).await {
            Ok(_) => self.wait_until_active(CASCADES).await.map(|()| true),
            // Perhaps somebody else is making it right now.
            Err(error) if error.code() == ErrorCode::ResourceInUse => {
                self.wait_until_active(CASCADES).await.map(|()| false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Takes up the cascades that somebody has left half-way, and looks again where an index may have lagged behind. To be called at the start
    /// and every few seconds; any number of processes may do so at once. One call takes up a hundred intents at most.
    ///
    /// # Errors
    ///
    /// If the store fails; what is left is taken up by the next call.
    pub async fn resume_cascades(&self) -> Result<Resumed, RunError> {
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

    /// The tables of entities whose deletes cascade, by their names in the store.
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

    /// The intents of a table.
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
            let page = match self.send(Operation::Query(query.clone())).await {
                Ok(Output::Page(page)) => page,
                Ok(_) => break,
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
        let now = self.surroundings.now_millis();
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

    /// Makes an intent one's own for a while; `false` if another was faster.
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

    /// Sets when an intent is due, on a condition; says whether it held.
    async fn put_off(&self, parent: &Parent, due_millis: i64, condition: Condition) -> Result<bool, RunError> {
        let due = AttributeValue::from(due_millis);
        let set = SetAction { path: Path::attribute(DUE), value: SetValue::Operand(UpdateOperand::Value(due.into())) };
        let update = UpdateItem {
            table: CASCADES.to_owned(),
            key: parent.intent_key(&self.checked.model),
            update: Some(Update { set: vec![set], ..Update::default() }),
            condition: Some(condition),
            ..UpdateItem::default()
        };
        match self.send(Operation::UpdateItem(update)).await {
            Ok(_) => Ok(true),
            Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the item is there, be it a new one.
    pub(super) async fn is_there(&self, parent: &Parent) -> Result<bool, RunError> {
        let item = self.current(parent.table.clone(), parent.key.clone()).await?;
        Ok(item.is_some_and(|item| !self.is_over(parent.entity, &item)))
    }

    /// After a write: removes what refers to the items it has deleted. The write is applied whatever becomes of this: what fails here is left to
    /// [`Runner::resume_cascades`].
    pub(super) async fn remove_dependents(&self, parents: &[Parent]) {
        for parent in parents.iter().filter(|parent| parent.cascades) {
            let until = self.surroundings.now_millis() + LEASE_MILLIS;
            if let Ok((ended, _)) = self.carry_out(parent, false, until).await {
                // An intent that stays is looked at once more, and finds nothing.
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

    /// Deletes the intent, or puts it off; says whether it is gone.
    async fn conclude(&self, parent: &Parent, ended: Ended) -> Result<bool, RunError> {
        let model = &self.checked.model;
        if ended == Ended::Later && !self.store.indexes_keep_up() {
            let due = Some(self.surroundings.now_millis() + LATE_MILLIS);
            let put = PutItem {
                table: CASCADES.to_owned(),
                item: parent.intent(model, due, true),
                condition: Some(Condition::AttributeExists(Path::attribute(INTENT_KEY))),
                ..PutItem::default()
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

    /// Says that somebody is still at work, before others take it up.
    pub(super) async fn renew(&self, work: &mut Work<'_>) -> Result<(), RunError> {
        let now = self.surroundings.now_millis();
        if now + LEASE_MILLIS / 2 < work.due_millis {
            return Ok(());
        }
        work.due_millis = now + LEASE_MILLIS;
        let is_there = Condition::AttributeExists(Path::attribute(INTENT_KEY));
        self.put_off(work.root, work.due_millis, is_there).await.map(drop)
    }
}

/// The request that makes the table of intents.
#[must_use]
pub fn cascade_table() -> CreateTable {
    CreateTable {
        attributes: [(INTENT_KEY.to_owned(), ScalarType::S), (INTENT_SORT.to_owned(), ScalarType::S)].into(),
        key: KeySchema { partition: vec![INTENT_KEY.to_owned()], sort: vec![INTENT_SORT.to_owned()] },
        ..CreateTable::named(CASCADES)
    }
}
