//! Reads: filter all items, sort them, count.

use std::collections::BTreeMap;

use keyform_core::capacity::{CapacityDetail, ConsumedCapacity, ReturnConsumedCapacity};
use keyform_core::error::{item as texts, transaction};
use keyform_core::expression::{Comparator, KeyTest, Projection};
use keyform_core::operation::{
    BatchGetItem, BatchGetItemOutput, GetItem, GetItemOutput, PageOutput, Query, Scan, Select, TransactGetItems,
    TransactGetItemsOutput,
};
use keyform_core::value::size;
use keyform_core::{AttributeValue, Attributes, Item};

use super::condition::{holds, order};
use super::project::project;
use super::table::{Source, Table};
use super::{Answer, Refusal, Service};

const PAGE_BYTES: usize = 1024 * 1024;

/// Entry that a scan reads, and the returned item if it passes the filter.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// Entry in the table or index.
    pub entry: Attributes,
    /// Returned item; `None` if filtered out.
    pub item: Option<Item>,
    /// Size of the whole item if it has to be fetched.
    pub fetched_bytes: Option<usize>,
}

impl Service {
    pub(super) fn get_item(&self, request: &GetItem) -> Answer<GetItemOutput> {
        let table = self.table(&request.table)?;
        check_key(table, &request.key)?;
        let item = table.find(&request.key);
        let units = read_units(item.map_or(0, size::of_attributes), request.consistent);
        Ok(GetItemOutput {
            item: item.map(|item| shown(item, request.projection.as_ref())),
            capacity: report(&request.table, units, request.return_capacity),
        })
    }

    pub(super) fn batch_get_item(&self, request: &BatchGetItem) -> Answer<BatchGetItemOutput> {
        for (name, reads) in &request.tables {
            let table = self.table(name)?;
            for key in &reads.keys {
                check_key(table, key)?;
            }
            if (1..reads.keys.len()).any(|place| reads.keys[..place].contains(&reads.keys[place])) {
                return Err(texts::duplicate_keys().into());
            }
        }
        let mut output = BatchGetItemOutput::default();
        for (name, reads) in &request.tables {
            let table = self.table(name)?;
            let items: Vec<Option<&Attributes>> = reads.keys.iter().map(|key| table.find(key)).collect();
            let sizes = items.iter().map(|item| item.map_or(0, size::of_attributes));
            let units = sizes.map(|bytes| read_units(bytes, reads.consistent)).sum();
            let answers = items.into_iter().flatten().map(|item| shown(item, reads.projection.as_ref()));
            output.responses.insert(name.clone(), answers.collect());
            output.capacity.extend(report(name, units, request.return_capacity));
        }
        Ok(output)
    }

    pub(super) fn transact_get_items(&self, request: &TransactGetItems) -> Answer<TransactGetItemsOutput> {
        let mut output = TransactGetItemsOutput::default();
        let mut units: BTreeMap<&str, f64> = BTreeMap::new();
        for (place, get) in request.gets.iter().enumerate() {
            let table = self.table(&get.table)?;
            check_key(table, &get.key)?;
            let before = &request.gets[..place];
            if before.iter().any(|other| other.table == get.table && other.key == get.key) {
                return Err(transaction::duplicate_items().into());
            }
            let item = table.find(&get.key);
            *units.entry(&get.table).or_default() += read_units(item.map_or(0, size::of_attributes), true) * 2.0;
            output.responses.push(item.map(|item| shown(item, get.projection.as_ref())));
        }
        let reports = units.into_iter().filter_map(|(table, units)| {
            let report = report(table, units, request.return_capacity)?;
            Some(ConsumedCapacity { read: Some(units), ..report })
        });
        output.capacity = reports.collect();
        Ok(output)
    }

    /// Returns one page of a query.
    pub fn query(&self, request: &Query) -> Answer<PageOutput> {
        let table = self.table(&request.table)?;
        let source = table.source(request.index.as_deref(), request.consistent)?;
        let wanted = Wanted {
            table,
            source: &source,
            filter: request.filter.as_ref(),
            projection: request.projection.as_ref(),
            select: request.select,
        };
        let mut entries = table.entries(&source);
        entries.retain(|entry| {
            request.key.predicates.iter().all(|predicate| passes(&entry[&predicate.attribute], &predicate.test))
        });
        if let Some(start) = &request.start {
            if !request.key.predicates.iter().all(|predicate| passes(&start[&predicate.attribute], &predicate.test)) {
                return Err(Refusal::Validation);
            }
            let after = if request.reverse { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater };
            entries.retain(|entry| table.compare(&source, entry, start) == after);
        }
        if request.reverse {
            entries.reverse();
        }
        Ok(wanted.page(&entries, request))
    }

    /// Returns everything that a scan reads from a table or index, unordered, ignoring start key and limit.
    pub fn scanned(&self, request: &Scan) -> Answer<Vec<Scanned>> {
        let table = self.table(&request.table)?;
        let source = table.source(request.index.as_deref(), request.consistent)?;
        let wanted = Wanted {
            table,
            source: &source,
            filter: request.filter.as_ref(),
            projection: request.projection.as_ref(),
            select: request.select,
        };
        Ok(table.entries(&source).iter().map(|entry| wanted.scan(entry)).collect())
    }
}

/// Requirements of a Query or Scan for each entry.
struct Wanted<'a> {
    table: &'a Table,
    source: &'a Source,
    filter: Option<&'a keyform_core::expression::Condition>,
    projection: Option<&'a Projection>,
    select: Option<Select>,
}

impl Wanted<'_> {
    fn page(&self, entries: &[Attributes], request: &Query) -> PageOutput {
        let mut taken: Vec<Scanned> = Vec::new();
        let mut bytes = 0;
        let mut ended = true;
        for entry in entries {
            let size = size::of_attributes(entry);
            if !taken.is_empty() && bytes + size > PAGE_BYTES {
                ended = false;
                break;
            }
            bytes += size;
            taken.push(self.scan(entry));
            if request.limit == Some(taken.len()) {
                ended = false;
                break;
            }
        }
        let last = taken.last().filter(|_| !ended).map(|last| self.position(&last.entry));
        let items: Vec<Item> = taken.iter().filter_map(|scanned| scanned.item.clone()).collect();
        PageOutput {
            count: items.len(),
            scanned: taken.len(),
            last_key: last,
            items: (self.select != Some(Select::Count)).then_some(items),
            capacity: self.capacity(bytes, &taken, request),
        }
    }

    fn scan(&self, entry: &Attributes) -> Scanned {
        let whole = self.table.find(entry).filter(|_| self.must_fetch());
        let item = whole.unwrap_or(entry);
        let passes = self.filter.is_none_or(|filter| holds(filter, Some(item)));
        Scanned {
            entry: entry.clone(),
            item: passes.then(|| shown(item, self.projection)),
            fetched_bytes: whole.map(size::of_attributes),
        }
    }

    /// Returns whether a local index lacks requested attributes, so that the item has to be fetched from the table.
    fn must_fetch(&self) -> bool {
        let lacks = |name: &str| !self.table.has(self.source, name);
        self.source.local
            && self.select != Some(Select::Count)
            && self.source.projection != keyform_core::table::Projection::All
            && (self.select == Some(Select::AllAttributes)
                || self.projection.is_some_and(|projection| projection.paths.iter().any(|path| lacks(path.root()))))
    }

    fn position(&self, entry: &Attributes) -> Item {
        let mut key = entry.clone();
        key.retain(|name, _| self.table.is_position(self.source, name));
        Item::from(&key)
    }

    fn capacity(&self, bytes: usize, taken: &[Scanned], request: &Query) -> Option<ConsumedCapacity> {
        let own = read_units(bytes, request.consistent);
        let fetches = taken.iter().filter_map(|scanned| scanned.fetched_bytes);
        let fetched: f64 = fetches.map(|bytes| read_units(bytes, request.consistent)).sum();
        let mut detail = CapacityDetail::default();
        match &self.source.index {
            None => detail.table = own,
            Some(name) if self.source.local => {
                detail.table = fetched;
                detail.local.insert(name.clone(), own);
            }
            Some(name) => {
                detail.global.insert(name.clone(), own);
            }
        }
        let report = report(&request.table, own + fetched, request.return_capacity)?;
        Some(ConsumedCapacity { detail: report.detail.map(|_| detail), ..report })
    }
}

fn check_key(table: &Table, key: &Attributes) -> Answer<()> {
    if table.check_key(key) { Ok(()) } else { Err(Refusal::Validation) }
}

fn passes(value: &AttributeValue, test: &KeyTest) -> bool {
    match test {
        KeyTest::Compare(comparator, bound) => {
            let Some(order) = order(value, &bound.to_tree()) else { return false };
            match comparator {
                Comparator::Equal => order.is_eq(),
                Comparator::NotEqual => order.is_ne(),
                Comparator::Less => order.is_lt(),
                Comparator::LessOrEqual => order.is_le(),
                Comparator::Greater => order.is_gt(),
                Comparator::GreaterOrEqual => order.is_ge(),
            }
        }
        KeyTest::Between(low, high) => {
            order(value, &low.to_tree()).is_some_and(|order| order.is_ge())
                && order(value, &high.to_tree()).is_some_and(|order| order.is_le())
        }
        KeyTest::BeginsWith(start) => match (value, start.to_tree()) {
            (AttributeValue::S(value), AttributeValue::S(start)) => value.starts_with(&start),
            (AttributeValue::B(value), AttributeValue::B(start)) => value.starts_with(&start),
            _ => false,
        },
    }
}

fn shown(item: &Attributes, projection: Option<&Projection>) -> Item {
    match projection {
        Some(projection) => Item::from(&project(item, &projection.paths)),
        None => Item::from(item),
    }
}

/// Returns the read units for this many bytes.
pub fn read_units(bytes: usize, consistent: bool) -> f64 {
    bytes.div_ceil(4096).max(1) as f64 / if consistent { 1.0 } else { 2.0 }
}

fn report(table: &str, units: f64, wanted: ReturnConsumedCapacity) -> Option<ConsumedCapacity> {
    let detail = match wanted {
        ReturnConsumedCapacity::None => return None,
        ReturnConsumedCapacity::Total => None,
        ReturnConsumedCapacity::Indexes => Some(CapacityDetail { table: units, ..CapacityDetail::default() }),
    };
    Some(ConsumedCapacity { table: table.to_owned(), total: units, read: None, write: None, detail })
}
