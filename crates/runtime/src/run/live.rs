//! Evaluates a read against single items, for live reads.
//!
//! [`LiveRead::found`] returns what the read shows of an item as the table has it: the item must be in the index,
//! match the key condition and pass the filters. Comparing the images before and after a change classifies the change
//! as an insert, a modification or a removal.
//!
//! Expiry is separate: [`LiveRead::expires`] returns when an item leaves the result by itself.
//!
//! While an evolution is open, the result includes items of the old form, converted: [`LiveRead::seen`] converts a
//! change to the new form, whichever table the old items are in.

use std::cmp::Ordering;
use std::sync::Arc;

use keyform_core::expression::{Condition, KeyCondition, KeyTest, Operand, Path, Projection};
use keyform_core::operation::BatchGetRequest;
use keyform_core::{AttributeValue, Attributes, Execute, Item, World};

use crate::evolve::{Class, Form};
use keyform_check::Checked;
use keyform_language::bind::{self, BoundRead, PageRead, ReadRequest};
use keyform_language::document::ast::Number;
use keyform_language::plan::{Filter, ReadOutcome, ReadPlan};
use keyform_language::schema::{EntityId, ExprKind, Read, ReadId, Result as ReadResult};

use super::cursor;
use super::found::{self, Extent, Found};
use super::read::Pages;
use super::{Call, RunError, Runner, arguments};

/// Read with bound arguments that can be evaluated against single items.
#[derive(Clone, Debug)]
pub struct LiveRead {
    /// Name of the table in the store.
    pub table: String,
    /// Attributes of the table's primary key.
    pub keys: Vec<String>,
    /// Items that can be part of the result.
    pub reach: Reach,
    /// Set if the read uses a global index, which may lag behind the table.
    pub lags: bool,
    /// Set if the filter uses `now` or `today`, so that the result changes without a write.
    pub is_timed: bool,
    /// Set if the read returns only a count.
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
    /// Open evolutions of the entities that the read returns.
    forms: Arc<[Form]>,
    runner: Runner,
}

/// Change of an item, converted to the new form.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Item before the change.
    pub old: Option<Item>,
    /// Item after the change.
    pub new: Option<Item>,
    /// Change at the old key of an item that moves; `None` for all other changes.
    pub passed: Option<Passed>,
}

/// Change at the old key of an item that moves. A move produces a second change, at the new key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// The old item was marked as moved: the new item is authoritative now.
    Carried,
    /// The old item is authoritative again.
    Restored,
    /// The old item changed and stays authoritative.
    Changed,
    /// The old item was deleted.
    Gone,
}

/// Image of an item, classified by the open evolutions.
enum Image {
    /// Absent, or not visible to any read.
    None,
    /// Not affected by an evolution.
    Plain(Item),
    /// Old form under an unchanged key, converted.
    Here(Item),
    /// Old form under the old key, converted.
    Old(Item),
    /// Old form with a mark: the new item is authoritative (ADR 0015).
    Marked,
}

/// Items that can be part of a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Reach {
    /// No item: the read sends no request for these arguments.
    Nothing,
    /// Items with these key values: a primary key, or the partition of one.
    Keys {
        /// Names of the compared attributes.
        attributes: Vec<String>,
        /// Sets of values; an item must match one of them.
        values: Vec<Attributes>,
    },
    /// Any item of the table.
    Everything,
}

/// Attributes that an index holds of an item.
#[derive(Clone, Debug)]
struct IndexView {
    keys: Vec<String>,
    /// Projected attributes; `None` for all.
    copied: Option<Vec<String>>,
}

/// First page of a live read.
#[derive(Clone, Debug)]
pub struct LivePage {
    /// Items as the store returned them, each with what the read shows of it.
    pub items: Vec<(Item, Found)>,
    /// Cursor of the next page; `None` after the last page.
    pub cursor: Option<String>,
}

impl Runner {
    /// Returns the store that the runner sends its requests to.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Execute> {
        &self.store
    }

    /// Returns a runner of the same model on another store.
    #[must_use]
    pub fn on(&self, store: Arc<dyn Execute>) -> Self {
        Self { store, ..self.clone() }
    }

    /// Returns a shared reference to the model.
    #[must_use]
    pub fn shared_model(&self) -> &Arc<Checked> {
        &self.checked
    }

    /// Generates a new ULID.
    #[must_use]
    pub fn fresh_id(&self) -> String {
        self.world.ulid()
    }

    /// Returns the clock, timer and randomness that calls use.
    #[must_use]
    pub fn world(&self) -> &Arc<dyn World> {
        &self.world
    }

    /// Returns the current time in milliseconds since 1970, as its world reports it.
    #[must_use]
    pub fn now_millis(&self) -> i64 {
        self.world.now_millis()
    }

    fn table_name(&self, table: &keyform_language::schema::Table) -> String {
        bind::table_name(table, &self.settings.variables)
    }

    /// Returns the name of each table in the store with the entities that it holds.
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

    /// Returns the entity that an item belongs to; `None` for other items, such as the sentinels of unique fields.
    #[must_use]
    pub fn recognise(&self, entities: &[EntityId], item: &Item) -> Option<EntityId> {
        found::entity_among(&self.checked.model, entities, item)
    }

    /// Converts an item of a known entity and decrypts its encrypted fields.
    ///
    /// # Errors
    ///
    /// Returns an error if an encrypted field cannot be decrypted.
    pub fn opened(&self, entity: EntityId, item: &Item) -> Result<Found, RunError> {
        self.found_of(entity, item, Extent::Whole)
    }

    /// Checks that a caller may call a read with these arguments.
    ///
    /// # Errors
    ///
    /// Returns [`RunError::Forbidden`], or the error in the arguments.
    pub async fn permit_read(&self, name: &str, call: &Call) -> Result<(), RunError> {
        let (_, read) = self.find_read(name)?;
        arguments::check(&self.checked.model, &read.parameters, &call.arguments)?;
        self.ensure_accepted().await?;
        self.permit(read.allow.as_ref(), &read.parameters, call, &[]).await.map(drop)
    }

    /// Binds the arguments of a read. Does not check permission: see [`Runner::permit_read`].
    ///
    /// # Errors
    ///
    /// Returns an error if the read is unknown, has no plan, or an argument is wrong.
    pub fn live_read(&self, name: &str, call: &Call) -> Result<LiveRead, RunError> {
        let (id, read) = self.find_read(name)?;
        arguments::check(&self.checked.model, &read.parameters, &call.arguments)?;
        let ReadOutcome::Planned(plan) = &self.checked.plans.reads[id.0] else {
            return Err(RunError::NotRunnable(format!("`{}` has no plan: run `keyform check`", read.name)));
        };
        let inputs = self.inputs(call);
        let bound = bind::read(&self.checked.model, read, plan, &inputs)?;
        let mut lasting = plan.clone();
        lasting.filters.retain(|filter| !matches!(filter, Filter::NotExpired(_)));
        let matched = bind::read(&self.checked.model, read, &lasting, &inputs)?;
        Ok(self.followed(id, read, plan, bound, matched))
    }

    /// Returns the open evolutions of the entities that a read returns, for [`LiveRead::evolving`].
    ///
    /// # Errors
    ///
    /// Returns an error if the read is unknown or the store fails.
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
            copied: index.projection.as_ref().map(|copied| copied.iter().map(|name| name.value.clone()).collect()),
        });
        let (reach, range, filter, projection) = parts(matched.request, &view, &keys);
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

    /// Reads the first page, or all items if the read is not paged.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails or an encrypted field cannot be decrypted.
    pub async fn live_page(&self, live: &LiveRead, call: &Call) -> Result<LivePage, RunError> {
        let read = self.checked.model.read(live.read);
        if !live.forms.is_empty() {
            return self.live_page_of_both(read, live, call).await;
        }
        let items = match live.bound.request.clone() {
            None => Vec::new(),
            Some(ReadRequest::Get(get)) => self.call(get).await?.item.into_iter().collect(),
            Some(ReadRequest::BatchGet(batch)) => self.batch_items(batch.tables).await?,
            Some(ReadRequest::Page(_)) => return self.live_pages(read, live, call).await,
        };
        Ok(LivePage { items: self.all_shown(live, items)?, cursor: None })
    }

    /// Reads the first page while items of two forms exist.
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

    /// Converts an item of the result; `None` if it expired or is not part of the result.
    fn shown(&self, live: &LiveRead, item: Item) -> Result<Option<(Item, Found)>, RunError> {
        let now_secs = self.world.now_millis().div_euclid(1000);
        if live.expires(&item).is_some_and(|last| last < now_secs) {
            return Ok(None);
        }
        Ok(live.found(&self.checked, &item)?.map(|found| (item, found)))
    }
}

/// Removes the projection, so that keys are present, and makes the request consistent where the service supports it.
fn whole(mut bound: BoundRead, consistent: bool) -> BoundRead {
    match &mut bound.request {
        None => {}
        Some(ReadRequest::Get(get)) => (get.projection, get.consistent) = (None, true),
        Some(ReadRequest::Page(PageRead::Query(query))) => {
            (query.projection, query.select, query.consistent) = (None, None, consistent);
        }
        Some(ReadRequest::Page(PageRead::Scan(scan))) => {
            (scan.projection, scan.select, scan.consistent) = (None, None, consistent);
        }
        Some(ReadRequest::BatchGet(batch)) => {
            for (_, request) in &mut batch.tables {
                (request.projection, request.consistent) = (None, true);
            }
        }
    }
    bound
}

type Parts = (Reach, Option<Condition>, Option<Condition>, Option<Projection>);

/// Splits a request into the parts that are tested per item.
fn parts(request: Option<ReadRequest>, index: &Option<IndexView>, keys: &[String]) -> Parts {
    match request {
        None => (Reach::Nothing, None, None, None),
        Some(ReadRequest::Get(get)) => {
            (Reach::Keys { attributes: keys.to_vec(), values: vec![get.key] }, None, None, get.projection)
        }
        Some(ReadRequest::BatchGet(mut batch)) => match batch.tables.pop() {
            None => (Reach::Nothing, None, None, None),
            Some((_, request)) => {
                let reach = Reach::Keys { attributes: keys.to_vec(), values: request.keys };
                (reach, None, None, request.projection)
            }
        },
        Some(ReadRequest::Page(PageRead::Query(query))) => {
            let equal = equal(&query.key);
            // The equalities of the partition key narrow the reach; the rest of the condition is tested.
            let own: &[String] = index.as_ref().map_or(keys, |index| &index.keys);
            let attributes: Vec<String> = own.iter().filter(|name| equal.contains_key(*name)).cloned().collect();
            let reach = Reach::Keys { attributes, values: vec![equal] };
            (reach, Some(range(&query.key)), query.filter, query.projection)
        }
        Some(ReadRequest::Page(PageRead::Scan(scan))) => (Reach::Everything, None, scan.filter, scan.projection),
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
    /// Returns the same read with these open evolutions.
    #[must_use]
    pub fn evolving(self, forms: Arc<[Form]>) -> Self {
        Self { forms, ..self }
    }

    /// Returns the open evolutions of the entities that the read returns.
    #[must_use]
    pub fn forms(&self) -> &Arc<[Form]> {
        &self.forms
    }

    /// Returns the other tables that hold items of the result in their old form.
    #[must_use]
    pub fn old_tables(&self) -> Vec<String> {
        let mut tables: Vec<String> = self.forms.iter().map(|form| form.old.name.clone()).collect();
        tables.sort();
        tables.dedup();
        tables.retain(|table| *table != self.table);
        tables
    }

    /// Converts a change of a table to the new form.
    ///
    /// # Errors
    ///
    /// Returns an error if an item that keeps its key cannot be converted.
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

    /// Converts an item of the old form. One that moves but cannot be converted is left out, as in reads: it has no
    /// new key to ask for.
    fn image_of_old(&self, form: &Form, old: &Attributes) -> Result<Image, RunError> {
        match self.runner.converted(form, old) {
            Ok(new) if form.in_place => Ok(Image::Here(Item::from(&new))),
            Ok(new) => Ok(Image::Old(Item::from(&new))),
            Err(error) if form.in_place => Err(error),
            Err(_) => Ok(Image::None),
        }
    }

    /// Returns what the read shows of an item as the table has it; `None` if the item is not part of the result.
    /// Ignores expiry.
    ///
    /// # Errors
    ///
    /// Returns an error if an encrypted field cannot be decrypted.
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
        // Decrypting needs the whole item, because its key is part of the associated data.
        let read = checked.model.read(self.read);
        match self.runner.found_of(entity, item, Extent::Of(read)) {
            // As in a list: a broken item is left out and counted.
            Err(RunError::Broken(_)) => Ok(None),
            found => found.map(Some),
        }
    }

    /// Returns the item as the index holds it; `None` if the index does not contain it.
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

    /// Returns the last second (since 1970) in which an item is part of the result, if it expires.
    #[must_use]
    pub fn expires(&self, item: &Item) -> Option<i64> {
        match item.get(self.expiry.as_ref()?)?.to_tree() {
            AttributeValue::N(number) => number.to_i64().or(Some(i64::MAX)),
            _ => None,
        }
    }

    /// Returns the primary key of an item.
    #[must_use]
    pub fn key_of(&self, item: &Item) -> Item {
        item.filtered(|name| self.keys.iter().any(|key| key == name))
    }

    /// Compares the positions of two items in the result. Returns `Equal` for reads without an order.
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

    /// Returns a string that is equal for calls with the same result.
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
