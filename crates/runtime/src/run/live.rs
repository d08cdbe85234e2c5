//! A read as those see it who follow it: of any item, whether it is part of the answer, and the answer to begin with.
//!
//! [`LiveRead::found`] says of an item as the table has it what the read would show of it: it must be in the index, in the range of the key
//! condition, and pass the filters. So a change becomes an insert, a change or a removal of the answer by asking for the item before and after.
//!
//! Expiry is kept apart: [`LiveRead::expires`] says when an item leaves the answer by itself.
//!
//! While an evolution is open, items of the old form are part of the answer in the new one: [`LiveRead::seen`] says what a change is in the
//! new form, wherever the old items are.

use std::cmp::Ordering;
use std::sync::Arc;

use keyform_core::expression::{Condition, KeyCondition, KeyTest, Operand, Path, Projection};
use keyform_core::operation::BatchGetRequest;
use keyform_core::{AttributeValue, Attributes, Execute, Item, Operation};

use crate::evolve::{Class, Form};
use keyform_language::Checked;
use keyform_language::bind::{self, BoundRead};
use keyform_language::document::ast::Number;
use keyform_language::plan::{Filter, ReadOutcome, ReadPlan};
use keyform_language::schema::{EntityId, ExprKind, Read, ReadId, Result as ReadResult};

use super::cursor;
use super::found::{self, Found};
use super::read::Pages;
use super::{Call, RunError, Runner, arguments};

/// A read with its arguments, to be followed.
#[derive(Clone, Debug)]
pub struct LiveRead {
    /// The table in the store.
    pub table: String,
    /// The attributes of the table's key.
    pub keys: Vec<String>,
    /// Which items can be part of the answer.
    pub reach: Reach,
    /// Whether it goes through a global index, whose answers may be a moment behind the table.
    pub lags: bool,
    /// Whether its filter looks at the clock.
    pub is_timed: bool,
    /// Whether it only counts.
    pub counts: bool,
    read: ReadId,
    range: Option<Condition>,
    filter: Option<Condition>,
    after: Option<Condition>,
    projection: Option<Projection>,
    index: Option<IndexView>,
    sort: Vec<String>,
    backwards: bool,
    expiry: Option<String>,
    bound: BoundRead,
    /// The open evolutions of what it returns.
    forms: Arc<[Form]>,
    runner: Runner,
}

/// A change as it is in the new form.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The item before.
    pub old: Option<Item>,
    /// The item after.
    pub new: Option<Item>,
    /// What happened in the old place of an item that moves; nothing if the change was elsewhere.
    pub passed: Option<Passed>,
}

/// What happened in the old place of an item that moves. Where it goes from one place to the other, another change tells of the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// The old item speaks no longer: the new one does.
    Carried,
    /// The old item speaks, and did not before.
    Restored,
    /// The old item has changed, and speaks as before.
    Changed,
    /// The old item is gone.
    Gone,
}

/// What an image of an item is to the evolutions.
enum Image {
    /// There is none, or none that anybody sees.
    None,
    /// As it is.
    Plain(Item),
    /// Of the old form in the same place, and this is the new one.
    Here(Item),
    /// Of the old form in another place, and this is the new one.
    Old(Item),
    /// Of the old form, and spoken for.
    Marked,
}

/// Which items can be part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Reach {
    /// None.
    Nothing,
    /// Those with these values of these attributes: a key, or the partition of one.
    Keys {
        /// The attributes.
        attributes: Vec<String>,
        /// Their values, one set or several.
        values: Vec<Attributes>,
    },
    /// Any item of the table.
    Everything,
}

/// What an index has of an item.
#[derive(Clone, Debug)]
struct IndexView {
    keys: Vec<String>,
    /// The attributes it copies; all if not stated.
    copied: Option<Vec<String>>,
}

/// The answer to begin with.
#[derive(Clone, Debug)]
pub struct LivePage {
    /// The items as the store gave them, and what the read shows of them.
    pub items: Vec<(Item, Found)>,
    /// Where the page ended, if more may follow.
    pub cursor: Option<String>,
}

impl Runner {
    /// The store it runs on.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Execute> {
        &self.store
    }

    /// The same model on another store.
    #[must_use]
    pub fn on(&self, store: Arc<dyn Execute>) -> Self {
        Self { store, ..self.clone() }
    }

    /// The model, shared.
    #[must_use]
    pub fn shared_model(&self) -> &Arc<Checked> {
        &self.checked
    }

    /// An id that nobody else has.
    #[must_use]
    pub fn fresh_id(&self) -> String {
        self.surroundings.fresh().ulid()
    }

    /// The time of its surroundings, in milliseconds since 1970.
    #[must_use]
    pub fn now_millis(&self) -> i64 {
        self.surroundings.now_millis()
    }

    fn table_name(&self, table: &keyform_language::schema::Table) -> String {
        bind::table_name(table, &self.settings.variables)
    }

    /// The name of each table in the store, with the entities it holds.
    #[must_use]
    pub fn tables(&self) -> Vec<(String, Vec<EntityId>)> {
        let model = &self.checked.model;
        let of = |table: usize| {
            let is_in = |(number, entity): (usize, &keyform_language::schema::Entity)| {
                (entity.table == Some(keyform_language::schema::TableId(table))).then_some(EntityId(number))
            };
            model.entities.iter().enumerate().filter_map(is_in).collect()
        };
        model.tables.iter().enumerate().map(|(number, table)| (self.table_name(table), of(number))).collect()
    }

    /// Which of these entities an item is of; none if it is something else: beside its entities a table holds sentinels of unique fields.
    #[must_use]
    pub fn recognise(&self, entities: &[EntityId], item: &Item) -> Option<EntityId> {
        found::entity_among(&self.checked.model, entities, item)
    }

    /// An item that was recognised, with its encrypted fields opened.
    ///
    /// # Errors
    ///
    /// An encrypted field does not open.
    pub fn opened(&self, entity: EntityId, item: &Item) -> Result<Found, RunError> {
        self.found_of(entity, item)
    }

    /// Refuses a caller who may not call a read, or calls it wrongly.
    ///
    /// # Errors
    ///
    /// [`RunError::Forbidden`], or what is wrong with the call.
    pub async fn permit_read(&self, name: &str, call: &Call) -> Result<(), RunError> {
        let (_, read) = self.find_read(name)?;
        arguments::check(&self.checked.model, &read.parameters, &call.arguments)?;
        self.permit(read.allow.as_ref(), &read.parameters, call, &[]).await
    }

    /// A read with its arguments, to be followed. It does not ask whether the caller may: see [`Runner::permit_read`].
    ///
    /// # Errors
    ///
    /// The read is unknown or wrongly called.
    pub fn live_read(&self, name: &str, call: &Call) -> Result<LiveRead, RunError> {
        let (id, read) = self.find_read(name)?;
        arguments::check(&self.checked.model, &read.parameters, &call.arguments)?;
        let ReadOutcome::Planned(plan) = &self.checked.plans.reads[id.0] else {
            return Err(RunError::NotRunnable(format!("`{}` has no plan: see `keyform check`", read.name)));
        };
        let inputs = self.inputs(call);
        let bound = bind::read(&self.checked.model, read, plan, &inputs)?;
        let mut lasting = plan.clone();
        lasting.filters.retain(|filter| !matches!(filter, Filter::NotExpired(_)));
        let matched = bind::read(&self.checked.model, read, &lasting, &inputs)?;
        Ok(self.followed(id, read, plan, bound, matched))
    }

    /// The open evolutions of what a read returns, for [`LiveRead::evolving`].
    ///
    /// # Errors
    ///
    /// The read is unknown, or the store failed.
    pub async fn live_forms(&self, name: &str) -> Result<Arc<[Form]>, RunError> {
        let (id, _) = self.find_read(name)?;
        let ReadOutcome::Planned(plan) = &self.checked.plans.reads[id.0] else { return Ok(Arc::default()) };
        Ok(self.open_forms(&plan.returns).await?.into_iter().cloned().collect())
    }

    fn followed(&self, id: ReadId, read: &Read, plan: &ReadPlan, bound: BoundRead, matched: BoundRead) -> LiveRead {
        let table = self.checked.model.table(plan.table);
        let index = plan.index.map(|index| table.index_at(index));
        let names = |keys: &[keyform_language::schema::KeyAttribute]| {
            keys.iter().map(|key| key.name.clone()).collect::<Vec<_>>()
        };
        let keys: Vec<String> = table.key_names().map(str::to_owned).collect();
        let view = index.map(|index| IndexView {
            keys: [names(&index.partition), names(&index.sort)].concat(),
            copied: index.projection.as_ref().map(|copied| copied.iter().map(|(name, _)| name.clone()).collect()),
        });
        let (reach, range, filter, projection) = parts(matched.operation, &view, &keys);
        let expiry = plan.filters.iter().find_map(|filter| match filter {
            Filter::NotExpired(attribute) => Some(attribute.clone()),
            _ => None,
        });
        LiveRead {
            table: self.table_name(table),
            keys,
            reach,
            lags: index.is_some_and(|index| !index.local),
            is_timed: read.filter.as_ref().is_some_and(looks_at_the_clock),
            counts: matches!(read.result, ReadResult::Count(..)),
            read: id,
            range,
            filter,
            after: matched.after,
            projection,
            index: view,
            sort: index.map_or_else(|| names(table.sort.as_slice()), |index| names(&index.sort)),
            backwards: plan.backwards,
            expiry,
            bound: whole(bound, index.is_none_or(|index| index.local)),
            forms: Arc::default(),
            runner: self.clone(),
        }
    }

    /// The answer to begin with: the first page, or everything where the read has no pages.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn live_page(&self, live: &LiveRead, call: &Call) -> Result<LivePage, RunError> {
        let read = self.checked.model.read(live.read);
        if !live.forms.is_empty() {
            return self.live_page_of_both(read, live, call).await;
        }
        let items = match live.bound.operation.clone() {
            None => Vec::new(),
            Some(Operation::GetItem(get)) => match self.send(Operation::GetItem(get)).await? {
                keyform_core::Output::GetItem(output) => output.item.into_iter().collect(),
                _ => Vec::new(),
            },
            Some(Operation::BatchGetItem(batch)) => self.batch_items(batch.tables).await?,
            Some(_) => return self.live_pages(read, live, call).await,
        };
        Ok(LivePage { items: self.all_shown(live, items)?, cursor: None })
    }

    /// The same while there are items of two forms.
    async fn live_page_of_both(&self, read: &Read, live: &LiveRead, call: &Call) -> Result<LivePage, RunError> {
        let ReadOutcome::Planned(plan) = &self.checked.plans.reads[live.read.0] else {
            return Err(RunError::NotChecked);
        };
        let forms: Vec<&Form> = live.forms.iter().collect();
        let (items, last) = self.items_of_both(read, plan, live.bound.clone(), &forms).await?;
        let seal =
            |last: Attributes| cursor::seal(&self.settings.cursor_key, &self.binding(read, call), &Item::from(&last));
        Ok(LivePage { items: self.all_shown(live, items)?, cursor: last.map(seal) })
    }

    fn all_shown(&self, live: &LiveRead, items: Vec<Item>) -> Result<Vec<(Item, Found)>, RunError> {
        items.into_iter().filter_map(|item| self.shown(live, item).transpose()).collect()
    }

    async fn batch_items(&self, tables: Vec<(String, BatchGetRequest)>) -> Result<Vec<Item>, RunError> {
        let mut items = Vec::new();
        for (table, request) in tables {
            self.batch_all(&table, &request, &mut items).await?;
        }
        Ok(items)
    }

    async fn live_pages(&self, read: &Read, live: &LiveRead, call: &Call) -> Result<LivePage, RunError> {
        let ReadOutcome::Planned(plan) = &self.checked.plans.reads[live.read.0] else {
            return Err(RunError::NotChecked);
        };
        let is_paged =
            matches!(&read.result, ReadResult::Parts(parts) if matches!(parts.as_slice(), [(_, Number::Many, _)]));
        let whole = !is_paged || read.all.is_some();
        let wanted = plan.page.filter(|_| !whole).and_then(|page| usize::try_from(page).ok());
        let mut items: Vec<(Item, Found)> = Vec::new();
        let mut pages = Pages::new(&live.bound);
        loop {
            pages.limit(wanted.map(|wanted| wanted - items.len()));
            let Some(page) = pages.next(self).await? else { break };
            items.extend(self.all_shown(live, page)?);
            if wanted.map_or(!whole, |wanted| items.len() >= wanted) {
                break;
            }
        }
        let cursor = pages.last().map(|last| cursor::seal(&self.settings.cursor_key, &self.binding(read, call), last));
        Ok(LivePage { items, cursor })
    }

    /// An item that the store answered, unless its time is over.
    fn shown(&self, live: &LiveRead, item: Item) -> Result<Option<(Item, Found)>, RunError> {
        let now_secs = self.surroundings.now_millis().div_euclid(1000);
        if live.expires(&item).is_some_and(|last| last < now_secs) {
            return Ok(None);
        }
        Ok(live.found(&self.checked, &item)?.map(|found| (item, found)))
    }
}

/// The request without a projection, so that keys are there, and consistent where that can be.
fn whole(mut bound: BoundRead, consistent: bool) -> BoundRead {
    match &mut bound.operation {
        Some(Operation::GetItem(get)) => (get.projection, get.consistent) = (None, true),
        Some(Operation::Query(query)) => {
            (query.projection, query.select, query.consistent) = (None, None, consistent);
        }
        Some(Operation::Scan(scan)) => (scan.projection, scan.select, scan.consistent) = (None, None, consistent),
        Some(Operation::BatchGetItem(batch)) => {
            for (_, request) in &mut batch.tables {
                (request.projection, request.consistent) = (None, true);
            }
        }
        _ => {}
    }
    bound
}

type Parts = (Reach, Option<Condition>, Option<Condition>, Option<Projection>);

/// What a request asks of items.
fn parts(operation: Option<Operation>, index: &Option<IndexView>, keys: &[String]) -> Parts {
    match operation {
        None => (Reach::Nothing, None, None, None),
        Some(Operation::GetItem(get)) => {
            (Reach::Keys { attributes: keys.to_vec(), values: vec![get.key] }, None, None, get.projection)
        }
        Some(Operation::BatchGetItem(mut batch)) => match batch.tables.pop() {
            None => (Reach::Nothing, None, None, None),
            Some((_, request)) => {
                let reach = Reach::Keys { attributes: keys.to_vec(), values: request.keys };
                (reach, None, None, request.projection)
            }
        },
        Some(Operation::Query(query)) => {
            let equal = equal(&query.key);
            // The equalities of the partition key narrow the reach; the rest of the condition is tested.
            let own: &[String] = index.as_ref().map_or(keys, |index| &index.keys);
            let attributes: Vec<String> = own.iter().filter(|name| equal.contains_key(*name)).cloned().collect();
            let reach = Reach::Keys { attributes, values: vec![equal] };
            (reach, Some(range(&query.key)), query.filter, query.projection)
        }
        Some(Operation::Scan(scan)) => (Reach::Everything, None, scan.filter, scan.projection),
        Some(_) => (Reach::Nothing, None, None, None),
    }
}

fn equal(key: &KeyCondition) -> Attributes {
    let value = |test: &KeyTest| match test {
        KeyTest::Compare(keyform_core::expression::Comparator::Equal, value) => Some(value.to_tree()),
        _ => None,
    };
    key.predicates.iter().filter_map(|part| Some((part.attribute.clone(), value(&part.test)?))).collect()
}

fn range(key: &KeyCondition) -> Condition {
    let test = |attribute: &str, test: &KeyTest| {
        let path = Operand::Path(Path::attribute(attribute));
        let value = |value: &keyform_core::Value| Operand::Value(value.clone());
        match test {
            KeyTest::Compare(comparator, right) => {
                Condition::Compare { left: path, comparator: *comparator, right: value(right) }
            }
            KeyTest::Between(low, high) => Condition::Between { operand: path, low: value(low), high: value(high) },
            KeyTest::BeginsWith(start) => Condition::BeginsWith(path, value(start)),
        }
    };
    Condition::And(key.predicates.iter().map(|part| test(&part.attribute, &part.test)).collect())
}

fn looks_at_the_clock(filter: &keyform_language::schema::Expr) -> bool {
    let mut found = false;
    filter.walk(&mut |part| {
        found |= matches!(&part.kind, ExprKind::Call { function, .. } if matches!(function.as_str(), "now" | "today"));
    });
    found
}

impl Image {
    fn item(self) -> Option<Item> {
        match self {
            Self::None | Self::Marked => None,
            Self::Plain(item) | Self::Here(item) | Self::Old(item) => Some(item),
        }
    }
}

impl LiveRead {
    /// The same read while these evolutions are open.
    #[must_use]
    pub fn evolving(self, forms: Arc<[Form]>) -> Self {
        Self { forms, ..self }
    }

    /// The open evolutions of what it returns.
    #[must_use]
    pub fn forms(&self) -> &Arc<[Form]> {
        &self.forms
    }

    /// The other tables that have items of the answer, in their old form.
    #[must_use]
    pub fn old_tables(&self) -> Vec<String> {
        let mut tables: Vec<String> = self.forms.iter().map(|form| form.old.name.clone()).collect();
        tables.sort();
        tables.dedup();
        tables.retain(|table| *table != self.table);
        tables
    }

    /// What a change of a table is in the new form.
    ///
    /// # Errors
    ///
    /// An item that stays in its place cannot be brought into the new form.
    pub fn seen(&self, table: &str, old: Option<&Item>, new: Option<&Item>) -> Result<Seen, RunError> {
        let (old, new) = (self.image(table, old)?, self.image(table, new)?);
        let passed = match (&old, &new) {
            (Image::Old(_), Image::Marked) => Some(Passed::Carried),
            (Image::Old(_), Image::Old(_)) => Some(Passed::Changed),
            (Image::Old(_), _) => Some(Passed::Gone),
            (_, Image::Old(_)) => Some(Passed::Restored),
            _ => None,
        };
        Ok(Seen { old: old.item(), new: new.item(), passed })
    }

    fn image(&self, table: &str, item: Option<&Item>) -> Result<Image, RunError> {
        let Some(item) = item else { return Ok(Image::None) };
        if !self.forms.is_empty() {
            let attributes = item.to_attributes();
            for form in self.forms.iter().filter(|form| form.old.name == table) {
                match form.class(&attributes) {
                    Class::Old => return self.image_of_old(form, &attributes),
                    Class::Moved(_) => return Ok(Image::Marked),
                    Class::New => return Ok(Image::Plain(item.clone())),
                    Class::Other => {}
                }
            }
        }
        Ok(if table == self.table { Image::Plain(item.clone()) } else { Image::None })
    }

    /// What cannot become a new item elsewhere is left out, as reads do: nobody can ask for it.
    fn image_of_old(&self, form: &Form, old: &Attributes) -> Result<Image, RunError> {
        match self.runner.converted(form, old) {
            Ok(new) if form.in_place => Ok(Image::Here(Item::from(&new))),
            Ok(new) => Ok(Image::Old(Item::from(&new))),
            Err(error) if form.in_place => Err(error),
            Err(_) => Ok(Image::None),
        }
    }

    /// What the read shows of an item as the table has it; nothing if the item is not part of the answer. Expiry is not looked at.
    ///
    /// # Errors
    ///
    /// An encrypted field does not open, as the read itself says.
    pub fn found(&self, checked: &Checked, item: &Item) -> Result<Option<Found>, RunError> {
        let Some(seen) = self.in_index(item) else { return Ok(None) };
        let holds =
            |condition: &Option<Condition>, item: &Item| condition.as_ref().is_none_or(|test| test.holds(Some(item)));
        if !self.reaches(&seen) || !holds(&self.range, &seen) || !holds(&self.filter, &seen) {
            return Ok(None);
        }
        let shown = self.projection.as_ref().map_or_else(|| seen.clone(), |projection| projection.apply(&seen));
        if !holds(&self.after, &shown) {
            return Ok(None);
        }
        let ReadOutcome::Planned(plan) = &checked.plans.reads[self.read.0] else { return Ok(None) };
        let Some(entity) = found::entity_of(&checked.model, &plan.returns, &shown) else { return Ok(None) };
        // The whole item opens what a projection shows of it.
        let mut found = self.runner.found_of(entity, item)?;
        found.fields.retain(|name, _| shown.get(name).is_some());
        Ok(Some(found))
    }

    /// The item as the index has it; nothing if it is not in there.
    fn in_index(&self, item: &Item) -> Option<Item> {
        let Some(index) = &self.index else { return Some(item.clone()) };
        if index.keys.iter().any(|name| item.get(name).is_none()) {
            return None;
        }
        let Some(copied) = &index.copied else { return Some(item.clone()) };
        let is_in = |names: &[String], name: &str| names.iter().any(|known| known == name);
        Some(item.filtered(|name| is_in(copied, name) || is_in(&index.keys, name) || is_in(&self.keys, name)))
    }

    fn reaches(&self, item: &Item) -> bool {
        match &self.reach {
            Reach::Nothing => false,
            Reach::Everything => true,
            Reach::Keys { attributes, values } => values.iter().any(|values| {
                let is_equal = |name: &String| item.get(name).map(|value| value.to_tree()).as_ref() == values.get(name);
                attributes.iter().all(is_equal)
            }),
        }
    }

    /// The last second in which an item is part of the answer, if it leaves it by itself.
    #[must_use]
    pub fn expires(&self, item: &Item) -> Option<i64> {
        match item.get(self.expiry.as_ref()?)?.to_tree() {
            AttributeValue::N(number) => number.to_i64().or(Some(i64::MAX)),
            _ => None,
        }
    }

    /// The item with only its key.
    #[must_use]
    pub fn key_of(&self, item: &Item) -> Item {
        item.filtered(|name| self.keys.iter().any(|key| key == name))
    }

    /// In which order two items stand in the answer; equal where it has none.
    #[must_use]
    pub fn compare(&self, one: &Item, other: &Item) -> Ordering {
        let by = |name: &String| match (one.get(name), other.get(name)) {
            (Some(one), Some(other)) => one.compare(&other).unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        };
        let ordering = self.sort.iter().map(by).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal);
        match (&self.reach, self.backwards) {
            (Reach::Everything, _) => Ordering::Equal,
            (_, true) => ordering.reverse(),
            (_, false) => ordering,
        }
    }

    /// A text that is the same for calls that have the same answers.
    #[must_use]
    pub fn identity(&self) -> String {
        format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {}",
            self.table,
            self.read,
            self.reach,
            self.range,
            self.filter,
            self.after,
            self.projection,
            self.forms.len()
        )
    }
}
