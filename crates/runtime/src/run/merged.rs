//! Reads several items of an evolving entity: merges new and old items in one order.
//!
//! The old items are read first and converted; then the new ones are read, page by page. An item that moves in the
//! meantime is therefore seen at least once, and duplicates have the same new key (ADR 0015). Both lists are merged by
//! the sort key of the read, as if all items had the new form. An old and a new item with the same sort key come in
//! the order new, old.
//!
//! A cursor holds the last new and the last old item that were returned. An item keeps its position in the order when
//! it moves, so the next page is correct even if the item moved between two pages:
//!
//! ```text
//! new:  a   c       f          cursor after four items: new = c, old = e
//! old:    b   d e       g      next page: new items after c that are also after e, and old items after e
//! ```
//!
//! An item that moved a moment ago is in both lists, because an index may lag. If it was returned from the new list and
//! its twin is still ahead, the cursor names it, and the next page leaves it out.
//!
//! A Scan has no order: it returns the old items first. An item that moves between two pages of a Scan may appear
//! twice, but is never missed.

use std::cmp::Ordering;
use std::collections::{BTreeSet, VecDeque};

use keyform_core::expression::{Condition, KeyCondition, KeyTest, Operand, Path, Projection};
use keyform_core::{AttributeValue, Attributes, Item};

use crate::evolve::find::{self, candidates};
use crate::evolve::{Class, Form};
use keyform_language::bind::{self, BoundRead, PageRead, ReadRequest};
use keyform_language::document::ast::Number;
use keyform_language::plan::{ReadPlan, RequestKind};
use keyform_language::schema::{Read, Result as ReadResult, Table};

use super::cursor;
use super::found::{self, Answer, Extent, FoundItems};
use super::{Call, RunError, Runner};

/// Attribute that distinguishes such a cursor from a plain key.
const MARK: &str = "keyform:merged";
/// Page size of a read that declares none.
const PAGE_ITEMS: usize = 1000;

/// Returns whether a cursor was made while two forms were read.
pub(super) fn is_merged(start: Option<&Attributes>) -> bool {
    start.is_some_and(|start| start.contains_key(MARK))
}

impl Runner {
    /// Runs a read of entities that have two forms.
    pub(super) async fn read_both(
        &self,
        read: &Read,
        plan: &ReadPlan,
        call: &Call,
        forms: Vec<&Form>,
        start: Option<Attributes>,
    ) -> Result<Answer, RunError> {
        let bound = bind::read(&self.checked.model, read, plan, &self.inputs(call))?;
        let whole = Whole::of(bound);
        match (whole.request.clone(), plan.request) {
            (Some(ReadRequest::Get(get)), _) => {
                let item = self.get_both(&forms, get).await?;
                self.one(read, plan, item.and_then(|item| whole.kept(&item)))
            }
            (None, RequestKind::Get) => self.one(read, plan, None),
            (Some(ReadRequest::BatchGet(batch)), _) => {
                let mut items = Vec::new();
                for (table, request) in batch.tables {
                    items.extend(self.batch_both(&forms, &table, &request.keys).await?);
                }
                let kept: Vec<Item> = items.iter().filter_map(|item| whole.kept(item)).collect();
                let found = self.found_all(&plan.returns, kept.iter(), self.extent(read, plan))?;
                Ok(Answer::Page { items: found.items, cursor: None, broken: found.broken })
            }
            (Some(ReadRequest::Page(page)), _) => {
                let merge = Merge::new(self, plan, &whole, forms, page);
                let merged = merge.run(start, self.wanted(read, plan)).await?;
                self.merged_answer(read, plan, call, merged)
            }
            (None, RequestKind::BatchGet | RequestKind::Query | RequestKind::Scan) => {
                self.merged_answer(read, plan, call, Merged::default())
            }
        }
    }

    fn merged_answer(&self, read: &Read, plan: &ReadPlan, call: &Call, merged: Merged) -> Result<Answer, RunError> {
        match &read.result {
            ReadResult::Count(..) => {
                let is_counted = |item: &&Item| found::entity_of(&self.checked.model, &plan.returns, item).is_some();
                Ok(Answer::Count(merged.items.iter().filter(is_counted).count() as u64))
            }
            ReadResult::Parts(parts) => match parts.as_slice() {
                [(_, Number::Many, _)] => self.merged_page(read, plan, call, merged),
                [_] => {
                    let is_wanted = |item: &Item| found::entity_of(&self.checked.model, &plan.returns, item).is_some();
                    self.one(read, plan, merged.items.into_iter().find(is_wanted))
                }
                _ => {
                    let mut all = FoundItems::default();
                    self.add_parts(read, plan, merged.items.iter(), &mut all)?;
                    self.whole_collection(read, plan, all)
                }
            },
        }
    }

    /// Returns the first items of such a read, complete and in the new form, and the position after them if more may
    /// follow.
    pub(super) async fn items_of_both(
        &self,
        read: &Read,
        plan: &ReadPlan,
        bound: BoundRead,
        forms: &[&Form],
    ) -> Result<(Vec<Item>, Option<Attributes>), RunError> {
        let whole = Whole::of(bound);
        let kept = |items: Vec<Item>| items.iter().filter_map(|item| whole.kept(item)).collect();
        match whole.request.clone() {
            None => Ok((Vec::new(), None)),
            Some(ReadRequest::Get(get)) => Ok((kept(self.get_both(forms, get).await?.into_iter().collect()), None)),
            Some(ReadRequest::BatchGet(batch)) => {
                let mut items = Vec::new();
                for (table, request) in batch.tables {
                    items.extend(self.batch_both(forms, &table, &request.keys).await?);
                }
                Ok((kept(items), None))
            }
            Some(ReadRequest::Page(page)) => {
                let merge = Merge::new(self, plan, &whole, forms.to_vec(), page);
                let merged = merge.run(None, self.wanted(read, plan)).await?;
                Ok((merged.items, merged.cursor))
            }
        }
    }

    /// Returns the part of each item that the request returns. The reads that find the children of a deleted item may
    /// use an index that lacks fields.
    fn extent<'a>(&self, read: &'a Read, plan: &ReadPlan) -> Extent<'a> {
        let table = self.checked.model.table(plan.table);
        let copied = plan.index.and_then(|index| table.index_at(index).projection.as_ref());
        let holds = |name: &str| {
            let is_copied = copied.is_none_or(|copied| copied.iter().any(|own| own.value == name));
            is_copied || table.key_names().any(|key| key == name)
        };
        let mut fields = plan.returns.iter().flat_map(|id| &self.checked.model.entity(*id).fields);
        if read.select.is_none() && fields.any(|field| !holds(&field.name)) {
            Extent::Present
        } else {
            Extent::Of(read)
        }
    }

    /// Returns the page size; `None` for all items.
    fn wanted(&self, read: &Read, plan: &ReadPlan) -> Option<usize> {
        let is_page =
            matches!(&read.result, ReadResult::Parts(parts) if matches!(parts.as_slice(), [(_, Number::Many, _)]));
        if !is_page || read.all.is_some() {
            return None;
        }
        Some(plan.page.and_then(|page| usize::try_from(page).ok()).unwrap_or(PAGE_ITEMS))
    }

    fn merged_page(&self, read: &Read, plan: &ReadPlan, call: &Call, merged: Merged) -> Result<Answer, RunError> {
        let found = self.found_all(&plan.returns, merged.items.iter(), self.extent(read, plan))?;
        let seal =
            |last: Attributes| cursor::seal(&self.settings.cursor_key, &self.binding(read, call), &Item::from(&last));
        Ok(Answer::Page { items: found.items, cursor: merged.cursor.map(seal), broken: found.broken })
    }
}

/// Read whose request returns complete items. Filters and projection are applied after the conversion.
struct Whole {
    request: Option<ReadRequest>,
    tests: Vec<Condition>,
    projection: Option<Projection>,
}

impl Whole {
    fn of(bound: BoundRead) -> Self {
        let mut whole = Self { request: bound.request, tests: bound.after.into_iter().collect(), projection: None };
        match &mut whole.request {
            None => {}
            Some(ReadRequest::Get(get)) => whole.projection = get.projection.take(),
            Some(ReadRequest::BatchGet(batch)) => {
                for (_, request) in &mut batch.tables {
                    whole.projection = request.projection.take();
                }
            }
            Some(ReadRequest::Page(PageRead::Query(query))) => {
                whole.projection = query.projection.take();
                whole.tests.extend(query.filter.take());
                query.select = None;
            }
            Some(ReadRequest::Page(PageRead::Scan(scan))) => {
                whole.projection = scan.projection.take();
                whole.tests.extend(scan.filter.take());
                scan.select = None;
            }
        }
        whole
    }

    fn kept(&self, item: &Item) -> Option<Item> {
        let holds = self.tests.iter().all(|test| test.holds(Some(item)));
        holds.then(|| self.projection.as_ref().map_or_else(|| item.clone(), |projection| projection.apply(item)))
    }
}

#[derive(Default)]
struct Merged {
    items: Vec<Item>,
    cursor: Option<Attributes>,
}

/// New item as the store returned it.
struct Row {
    key: Attributes,
    item: Option<Attributes>,
}

struct Merge<'a> {
    runner: &'a Runner,
    plan: &'a ReadPlan,
    whole: &'a Whole,
    forms: Vec<&'a Form>,
    table: &'a Table,
    /// Next request; `None` at the end.
    next: Option<PageRead>,
    is_scan: bool,
}

impl<'a> Merge<'a> {
    fn new(runner: &'a Runner, plan: &'a ReadPlan, whole: &'a Whole, forms: Vec<&'a Form>, read: PageRead) -> Self {
        let table = runner.checked.model.table(plan.table);
        let is_scan = matches!(read, PageRead::Scan(_));
        Self { runner, plan, whole, forms, table, next: Some(read), is_scan }
    }

    async fn run(mut self, start: Option<Attributes>, wanted: Option<usize>) -> Result<Merged, RunError> {
        let (new_start, old_start, shown) = positions(start);
        // ADR 0015: old items first. An item that moves while the read runs is then seen in at least one of the two.
        let mut old = self.old_items().await?;
        if let Some(last) = &old_start {
            old.retain(|item| self.order(item, last) == Ordering::Greater);
        }
        if let Some(next) = &mut self.next {
            next.set_start(new_start.clone());
        }
        let (mut last_new, mut last_old) = (new_start, old_start.clone());
        let mut new: VecDeque<Row> = VecDeque::new();
        // An item that moved a moment ago is in both lists, and the border between two pages may lie between them.
        let mut seen: BTreeSet<Vec<u8>> = shown.iter().map(|key| Item::from(key).as_bytes().to_vec()).collect();
        let mut merged = Merged::default();
        while wanted.is_none_or(|wanted| merged.items.len() < wanted) {
            if new.is_empty()
                && let Some(next) = &mut self.next
            {
                next.set_limit(wanted.map(|wanted| wanted - merged.items.len()));
                new = self.next_rows().await?;
                continue;
            }
            let takes_old = match (new.front(), old.front()) {
                (None, None) => break,
                (Some(_), None) => false,
                (None, Some(_)) => true,
                (Some(row), Some(old)) => self.is_scan || self.sort_order(&row.key, old) == Ordering::Greater,
            };
            let item = if takes_old {
                let item = old.pop_front();
                last_old = item.as_ref().map(|item| self.position(item));
                item
            } else {
                let row = new.pop_front();
                last_new = row.as_ref().map(|row| row.key.clone());
                // The item was returned from its old key before it moved.
                let returned = |item: &Attributes| {
                    !self.is_scan && old_start.as_ref().is_some_and(|last| self.order(item, last) != Ordering::Greater)
                };
                row.and_then(|row| row.item).filter(|item| !returned(item))
            };
            if let Some(item) = item
                && seen.insert(Item::from(&self.key(&item)).as_bytes().to_vec())
            {
                merged.items.extend(self.whole.kept(&Item::from(&item)));
            }
        }
        if !new.is_empty() || !old.is_empty() || self.next.is_some() {
            let is_shown = |key: &Attributes| seen.contains(&Item::from(key).as_bytes().to_vec());
            let shown = old.iter().map(|item| self.key(item)).filter(is_shown).collect();
            merged.cursor = Some(cursor_of(last_new, last_old, shown));
        }
        Ok(merged)
    }

    /// Returns the matching old items, converted, in the order of the read.
    async fn old_items(&self) -> Result<VecDeque<Attributes>, RunError> {
        let condition = self.next.as_ref().and_then(key_condition);
        let now = self.runner.world.now_millis();
        let mut items: Vec<Attributes> = Vec::new();
        for form in &self.forms {
            let in_stream = form.in_place && self.plan.index.is_none_or(|index| form.fills(index));
            let Some(templates) = form.new.entity.key_of(self.plan.index).filter(|_| !in_stream) else { continue };
            let equal = condition.map(equalities).unwrap_or_default();
            let Some(known) = form.known_of_key(templates, &equal) else { continue };
            let found = candidates(&*self.runner.store, form, &form.lookup(&known), now).await?;
            let matching = found.into_iter().map(|found| found.new).filter(|new| {
                let in_index = templates.parts().all(|part| new.contains_key(&part.attribute));
                in_index && condition.is_none_or(|condition| matches(condition, new))
            });
            items.extend(matching.map(|new| self.projected(new)));
        }
        items.sort_by(|one, other| self.order(one, other));
        items.dedup_by(|one, other| self.key(one) == self.key(other));
        Ok(items.into())
    }

    async fn next_rows(&mut self) -> Result<VecDeque<Row>, RunError> {
        let Some(mut read) = self.next.take() else { return Ok(VecDeque::new()) };
        let page = self.runner.page_of(&read).await?;
        if let Some(last) = page.last_key {
            read.set_start(Some(last.to_attributes()));
            self.next = Some(read);
        }
        let items: Vec<Attributes> = page.items.unwrap_or_default().iter().map(Item::to_attributes).collect();
        let full = self.full(&items).await?;
        items.iter().zip(full).map(|(item, full)| self.row(item, full)).collect()
    }

    /// Reads the items from the table if the index lacks attributes that the conversion needs.
    async fn full(&self, items: &[Attributes]) -> Result<Vec<Option<Attributes>>, RunError> {
        let is_partial = self.plan.index.is_some_and(|index| self.table.index_at(index).projection.is_some());
        let form = self.forms.iter().find(|form| form.in_place);
        let Some(form) = form.filter(|_| is_partial) else { return Ok(items.iter().cloned().map(Some).collect()) };
        let keys = items.iter().map(|item| self.key(item)).collect();
        let full = find::batch_get(&*self.runner.store, &form.new.name, keys).await?;
        let of = |item: &Attributes| full.iter().find(|full| self.key(full) == self.key(item)).cloned();
        Ok(items.iter().map(of).collect())
    }

    fn row(&self, item: &Attributes, full: Option<Attributes>) -> Result<Row, RunError> {
        let key = self.position(item);
        let Some(full) = full else { return Ok(Row { key, item: None }) };
        for form in &self.forms {
            if form.in_place {
                match form.class(&full) {
                    Class::Old if self.plan.index.is_none_or(|index| form.fills(index)) => {
                        let new = self.runner.converted(form, &full)?;
                        return Ok(Row { key, item: Some(self.projected(new)) });
                    }
                    Class::Old | Class::Moved(_) => return Ok(Row { key, item: None }),
                    Class::New => return Ok(Row { key, item: Some(self.projected(full)) }),
                    Class::Other => {}
                }
            } else if form.old.name == form.new.name && matches!(form.class(&full), Class::Old | Class::Moved(_)) {
                // The old items were already read, by `old_items`.
                return Ok(Row { key, item: None });
            }
        }
        Ok(Row { key, item: Some(full) })
    }

    /// Returns the attributes of an item that the index holds.
    fn projected(&self, item: Attributes) -> Attributes {
        let Some(index) = self.plan.index.map(|index| self.table.index_at(index)) else { return item };
        let Some(names) = &index.projection else { return item };
        let keys: Vec<&str> = self.key_names().collect();
        let is_there = |name: &str| keys.contains(&name) || names.iter().any(|other| other.value == name);
        item.into_iter().filter(|(name, _)| is_there(name)).collect()
    }

    /// Returns the attributes of the table's key and of the index's.
    fn key_names(&self) -> impl Iterator<Item = &str> {
        let index = self.plan.index.map(|index| self.table.index_at(index));
        let of_index = index.into_iter().flat_map(|index| index.partition.iter().chain(&index.sort));
        self.table.key_names().chain(of_index.map(|key| key.name.as_str()))
    }

    /// Returns the keys of an item, which define its position.
    fn position(&self, item: &Attributes) -> Attributes {
        self.key_names().filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
    }

    /// Returns the primary key of an item, which identifies it.
    fn key(&self, item: &Attributes) -> Attributes {
        let names = self.table.key_names();
        names.filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
    }

    /// Compares by the sort key, in the direction of the read.
    fn sort_order(&self, one: &Attributes, other: &Attributes) -> Ordering {
        let sort: Vec<&str> = match self.plan.index.map(|index| self.table.index_at(index)) {
            Some(index) => index.sort.iter().map(|key| key.name.as_str()).collect(),
            None => self.table.sort.iter().map(|key| key.name.as_str()).collect(),
        };
        let order = sort.iter().map(|name| compare(one.get(*name), other.get(*name)));
        let order = order.fold(Ordering::Equal, Ordering::then);
        if self.plan.backwards { order.reverse() } else { order }
    }

    /// Compares by the sort key, then by the primary key.
    fn order(&self, one: &Attributes, other: &Attributes) -> Ordering {
        let keys = self.table.key_names().map(|name| compare(one.get(name), other.get(name)));
        self.sort_order(one, other).then(keys.fold(Ordering::Equal, Ordering::then))
    }
}

/// Compares values of one type as the store does.
fn compare(one: Option<&AttributeValue>, other: Option<&AttributeValue>) -> Ordering {
    match (one, other) {
        (Some(AttributeValue::S(one)), Some(AttributeValue::S(other))) => one.as_bytes().cmp(other.as_bytes()),
        (Some(AttributeValue::N(one)), Some(AttributeValue::N(other))) => one.cmp(other),
        (Some(AttributeValue::B(one)), Some(AttributeValue::B(other))) => one.cmp(other),
        (one, other) => one.is_some().cmp(&other.is_some()),
    }
}

fn key_condition(read: &PageRead) -> Option<&KeyCondition> {
    match read {
        PageRead::Query(query) => Some(&query.key),
        PageRead::Scan(_) => None,
    }
}

/// Returns the attributes that a key condition fixes to one value.
fn equalities(condition: &KeyCondition) -> Attributes {
    let fixed = condition.predicates.iter().filter_map(|predicate| match &predicate.test {
        KeyTest::Compare(keyform_core::expression::Comparator::Equal, value) => {
            Some((predicate.attribute.clone(), value.to_tree()))
        }
        _ => None,
    });
    fixed.collect()
}

/// Returns whether an item meets a key condition.
fn matches(condition: &KeyCondition, item: &Attributes) -> bool {
    let item = Item::from(item);
    condition.predicates.iter().all(|predicate| {
        let operand = || Operand::Path(Path::attribute(predicate.attribute.clone()));
        let test = match &predicate.test {
            KeyTest::Compare(comparator, value) => {
                Condition::Compare { left: operand(), comparator: *comparator, right: Operand::Value(value.clone()) }
            }
            KeyTest::Between(low, high) => Condition::Between {
                operand: operand(),
                low: Operand::Value(low.clone()),
                high: Operand::Value(high.clone()),
            },
            KeyTest::BeginsWith(value) => Condition::BeginsWith(operand(), Operand::Value(value.clone())),
        };
        test.holds(Some(&item))
    })
}

/// Splits a cursor into the positions of the new and the old items, and the old items that were already returned by
/// their new key. A plain key is a cursor from before the evolution.
fn positions(start: Option<Attributes>) -> (Option<Attributes>, Option<Attributes>, Vec<Attributes>) {
    let Some(mut start) = start else { return (None, None, Vec::new()) };
    if !start.contains_key(MARK) {
        return (Some(start.clone()), Some(start), Vec::new());
    }
    let shown = match start.remove("shown") {
        Some(AttributeValue::L(keys)) => keys,
        _ => Vec::new(),
    };
    let key = |key| if let AttributeValue::M(key) = key { Some(key) } else { None };
    let shown = shown.into_iter().filter_map(key).collect();
    let mut part = |name: &str| match start.remove(name) {
        Some(AttributeValue::M(key)) => Some(key),
        _ => None,
    };
    (part("new"), part("old"), shown)
}

fn cursor_of(new: Option<Attributes>, old: Option<Attributes>, shown: Vec<Attributes>) -> Attributes {
    let mut cursor: Attributes = [(MARK.to_owned(), true.into())].into();
    cursor.extend(new.map(|key| ("new".to_owned(), AttributeValue::M(key))));
    cursor.extend(old.map(|key| ("old".to_owned(), AttributeValue::M(key))));
    if !shown.is_empty() {
        let keys = shown.into_iter().map(AttributeValue::M).collect();
        cursor.insert("shown".to_owned(), AttributeValue::L(keys));
    }
    cursor
}
