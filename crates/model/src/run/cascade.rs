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

use keyform_core::execute::BoxFuture;
use keyform_core::expression::{
    Comparator, Condition, KeyCondition, KeyPredicate, KeyTest, Operand, Path, SetAction, SetValue, Update,
    UpdateOperand,
};
use keyform_core::operation::{
    BatchGetRequest, BatchWriteItem, CreateTable, DeleteItem, PutItem, Query, TransactAction, TransactWriteItems,
    UpdateItem, WriteRequest,
};
use keyform_core::table::{KeySchema, ScalarType};
use keyform_core::{AttributeValue, Attributes, ErrorCode, Item, Operation, Output};

use crate::bind::{self, CASCADES, DUE, INTENT_KEY, INTENT_SORT, LEASE_MILLIS, Parent};
use crate::evolve::{Class, Form};
use crate::plan::{self, Dependent, Finder};
use crate::schema::{EntityId, FieldId, Model};

use super::found::{self, Answer};
use super::outcome::failed_conditions;
use super::read::Pages;
use super::{Call, RunError, Runner};

/// How long after a pass an index is looked at again.
const LATE_MILLIS: i64 = 10_000;
/// Items that one BatchWriteItem takes.
const BATCH_ITEMS_MAX: usize = 25;
/// The actions of one transaction, one left for the parent.
const ACTIONS_MAX: usize = 99;
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
struct Work<'a> {
    root: &'a Parent,
    /// Only what is found through indexes: the rest is done.
    late: bool,
    /// Each transaction makes sure that the parent is gone.
    guarded: bool,
    /// Until when others leave it alone.
    due_millis: i64,
    removed: u64,
    /// The items whose dependents are being removed.
    above: Vec<(String, Attributes)>,
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
enum Stopped {
    Reappeared,
    Failed(RunError),
}

impl<E: Into<RunError>> From<E> for Stopped {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Items of one entity that refer to one parent.
struct Children {
    entity: EntityId,
    refers: Vec<(FieldId, AttributeValue)>,
    items: Vec<Attributes>,
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
            Ok(_) => {}
            Err(error) if error.code() == ErrorCode::ResourceInUse => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        self.wait_until_active(CASCADES).await?;
        Ok(true)
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
    async fn is_there(&self, parent: &Parent) -> Result<bool, RunError> {
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

    /// Removes everything that refers to a parent.
    fn remove_children<'a>(&'a self, work: &'a mut Work<'_>, parent: &'a Parent) -> BoxFuture<'a, Result<(), Stopped>> {
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
            self.remove_below(work, &children).await?;
            work.removed += children.items.len() as u64;
            self.remove(work, children).await?;
            self.renew(work).await?;
        }
        Ok(())
    }

    /// First what refers to the children themselves; and an intent for each of whose dependents an index may show more later.
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
            let due = Some(self.surroundings.now_millis() + LATE_MILLIS);
            intents.extend(lags.then(|| child.intent(&self.checked.model, due, true)));
        }
        for piece in intents.chunks(BATCH_ITEMS_MAX) {
            let requests = piece.iter().cloned().map(WriteRequest::Put).collect();
            let tables = vec![(CASCADES.to_owned(), requests)];
            self.apply_batch(BatchWriteItem { tables, ..BatchWriteItem::default() }).await?;
        }
        Ok(())
    }

    /// An item as one that is deleted: its key, and what others refer to.
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

    /// While the entity evolves, its old items among the children are carried over, so that the rest meets the new form only.
    async fn settle_children(
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
            let Answer::Page { items, cursor } = answer else { break };
            for found in items {
                let key = bind::key_of_fields(table, entity, &found.fields)?;
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

    /// Those of some items that are of the entity and refer to the parent, whole.
    async fn children(
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

    /// Whether a finder brings whole items, as of now as far as that matters.
    pub(super) fn is_whole(&self, entity: EntityId, finder: &Finder) -> bool {
        let table = self.checked.model.table(finder.plan.table);
        let copies_all = finder.plan.index.is_none_or(|index| table.index_at(index).projection.is_none());
        let is_plain = crate::plan::guarded_fields(self.checked.model.entity(entity)).next().is_none()
            && self.checked.plans.dependents.cascading(entity).next().is_none();
        copies_all && (!finder.lags || is_plain)
    }

    /// The whole items, read by their keys.
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

    /// Removes children whose own dependents are gone.
    async fn remove(&self, work: &Work<'_>, children: Children) -> Result<(), Stopped> {
        let now = self.surroundings.now_millis();
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

    /// Without transactions: what has conditions is deleted one by one, after a look whether the parent is still gone.
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
            let delete = DeleteItem { table, key, condition, ..DeleteItem::default() };
            match self.send(Operation::DeleteItem(delete)).await {
                Err(error) if error.code() != ErrorCode::ConditionalCheckFailed => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes some children in one transaction. One that is not as it was read is read again, and goes or is left alone.
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
            removals = self.anew(children, removals, &failed).await?;
        }
        Ok(())
    }

    /// The removals of which some actions failed, those as the items are now.
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
                let now = self.surroundings.now_millis();
                kept.push(bind::removal(model, children.entity, &item, &children.refers, now)?);
            }
        }
        Ok(kept)
    }

    /// The parent is not there again.
    fn is_gone(&self, parent: &Parent) -> TransactAction {
        let name = parent.key.keys().next().cloned().unwrap_or_default();
        TransactAction::Check {
            table: parent.table.clone(),
            key: parent.key.clone(),
            condition: Condition::AttributeNotExists(Path::attribute(name)),
            return_item_on_failure: false,
        }
    }

    /// Says that somebody is still at work, before others take it up.
    async fn renew(&self, work: &mut Work<'_>) -> Result<(), RunError> {
        let now = self.surroundings.now_millis();
        if now + LEASE_MILLIS / 2 < work.due_millis {
            return Ok(());
        }
        work.due_millis = now + LEASE_MILLIS;
        let is_there = Condition::AttributeExists(Path::attribute(INTENT_KEY));
        self.put_off(work.root, work.due_millis, is_there).await.map(drop)
    }
}

/// The call of the read that finds what refers to a parent; `None` if what it needs is not known.
pub(super) fn finder_call(model: &Model, parent: &Parent, finder: &Finder) -> Option<Call> {
    let entity = model.entity(parent.entity);
    let mut arguments = Attributes::new();
    for (parameter, given) in finder.read.parameters.iter().zip(&finder.given) {
        let value = parent.values.get(&entity.field(*given).name)?;
        arguments.insert(parameter.field_name.clone(), value.clone());
    }
    Some(Call { arguments, ..Call::default() })
}

/// What an item that refers to a parent has in its fields.
pub(super) fn shared(model: &Model, parent: &Parent, finder: &Finder) -> Vec<(FieldId, AttributeValue)> {
    let entity = model.entity(parent.entity);
    let value = |(field, of): &(FieldId, FieldId)| Some((*field, parent.values.get(&entity.field(*of).name)?.clone()));
    finder.shared.iter().filter_map(value).collect()
}

/// Whether an item has these values.
pub(super) fn refers(model: &Model, id: EntityId, wanted: &[(FieldId, AttributeValue)], item: &Attributes) -> bool {
    let entity = model.entity(id);
    wanted.iter().all(|(field, value)| item.get(&entity.field(*field).name) == Some(value))
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

/// The request that makes the table of intents.
#[must_use]
pub fn cascade_table() -> CreateTable {
    CreateTable {
        attributes: [(INTENT_KEY.to_owned(), ScalarType::S), (INTENT_SORT.to_owned(), ScalarType::S)].into(),
        key: KeySchema { partition: vec![INTENT_KEY.to_owned()], sort: vec![INTENT_SORT.to_owned()] },
        ..CreateTable::named(CASCADES)
    }
}
