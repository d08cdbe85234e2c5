//! Runs operations on the engine and on the naive service, and describes the first difference.

use std::collections::BTreeSet;
use std::fmt::Debug;

use keyform_core::capacity::ReturnConsumedCapacity;
use keyform_core::operation::{
    DescribeTable, ListTables, ListTablesOutput, Operation, Output, PageOutput, Query, Request, Scan, Segment,
};
use keyform_core::table::TableDescription;
use keyform_core::value::size;
use keyform_core::{AttributeValue, Attributes, Error, Item};

use crate::proof::generate::Step;
use crate::proof::naive::{Answer, Service, Table};
use crate::proof::streams;
use crate::proof::subject::Subject;

/// Description of a difference.
#[derive(Clone, Debug)]
pub struct Mismatch(pub String);

/// Result of a comparison.
pub type Outcome = Result<(), Mismatch>;

/// Limit that detects endless paging; no run has this many pages.
const PAGES_MAX: usize = 10_000;

/// Response of the naive service to an operation; `None` for steps that are not operations.
pub type Expected = Option<Answer<Option<Output>>>;

/// Executes one step with the naive service.
pub fn advance(service: &mut Service, step: &Step) -> Expected {
    match step {
        Step::Run(operation) => return Some(service.run(operation)),
        Step::Wait { ms } => service.now_ms += ms,
        Step::Sweep => service.sweep(),
        Step::QueryThrough(_) | Step::ScanThrough(..) | Step::Reopen | Step::PowerCut(_) | Step::Compare => {}
    }
    None
}

/// Executes one step with the subject and compares it with the naive service, which has already executed it.
pub fn step(subject: &mut Subject, service: &Service, step: &Step, expected: &Expected) -> Outcome {
    match step {
        Step::Run(operation) => match (subject.run(operation), expected) {
            (actual, Some(expected)) => answers_are_same(&actual, expected),
            (_, None) => Ok(()),
        },
        Step::QueryThrough(query) => query_through(subject, service, query),
        Step::ScanThrough(scan, segments) => scan_through(subject, service, scan, *segments),
        Step::Wait { ms } => {
            subject.env.advance_ms(*ms);
            Ok(())
        }
        Step::Sweep => subject.sweep().map_err(|error| Mismatch(format!("the sweep failed: {error}"))),
        Step::Reopen => {
            subject.reopen();
            Ok(())
        }
        Step::PowerCut(cut) => {
            subject.cut_power(*cut);
            Ok(())
        }
        Step::Compare => everything(subject, service),
    }
}

fn answers_are_same(actual: &Result<Output, Error>, expected: &Answer<Option<Output>>) -> Outcome {
    match (actual, expected) {
        (Ok(_), Ok(None)) => Ok(()),
        (Ok(actual), Ok(Some(expected))) => same("the answer", actual, expected),
        (Err(error), Err(refusal)) if refusal.is(error) => Ok(()),
        (actual, expected) => Err(Mismatch(format!("engine: {actual:#?}\nnaive:  {expected:#?}"))),
    }
}

fn same<T: PartialEq + Debug>(what: &str, actual: &T, expected: &T) -> Outcome {
    if actual == expected {
        return Ok(());
    }
    Err(Mismatch(format!("{what} differs\nengine: {actual:#?}\nnaive:  {expected:#?}")))
}

fn page<R: Request<Output = PageOutput>>(outcome: Result<Output, Error>) -> Result<PageOutput, Error> {
    R::from_output(outcome?)
}

fn query_through(subject: &Subject, service: &Service, query: &Query) -> Outcome {
    let mut query = query.clone();
    for _ in 0..PAGES_MAX {
        let actual = subject.run(&Operation::Query(query.clone()));
        answers_are_same(&actual, &service.query(&query).map(Output::Query).map(Some))?;
        match page::<Query>(actual).ok().and_then(|page| page.last_key) {
            Some(last) => query.start = Some(last.to_attributes()),
            None => return Ok(()),
        }
    }
    Err(Mismatch("the query has no end".to_owned()))
}

/// Content of all pages of one segment.
#[derive(Default)]
struct Read {
    items: Vec<Item>,
    count: usize,
    scanned: usize,
}

fn scan_through(subject: &Subject, service: &Service, scan: &Scan, segments: u32) -> Outcome {
    let expected = match (service.scanned(scan), page::<Scan>(subject.run(&Operation::Scan(scan.clone())))) {
        (Ok(expected), Ok(_)) => expected,
        (Err(refusal), Err(error)) if refusal.is(&error) => return Ok(()),
        (expected, actual) => return Err(Mismatch(format!("engine: {actual:#?}\nnaive:  {expected:#?}"))),
    };
    let mut read = Read::default();
    for number in 0..segments {
        let segment = (segments > 1).then_some(Segment { number, total: segments });
        scan_segment(subject, Scan { segment, ..scan.clone() }, &mut read)?;
    }
    let items: Vec<Item> = expected.iter().filter_map(|one| one.item.clone()).collect();
    same("how many were read", &read.scanned, &expected.len())?;
    same("how many were found", &read.count, &items.len())?;
    if scan.select == Some(keyform_core::operation::Select::Count) {
        return same("the items of a count", &read.items, &Vec::new());
    }
    same("the items of the scan", &sorted(read.items.clone()), &sorted(items))?;
    if scan.projection.is_none() { partitions_are_whole(service, scan, &read.items) } else { Ok(()) }
}

fn scan_segment(subject: &Subject, mut scan: Scan, read: &mut Read) -> Outcome {
    for _ in 0..PAGES_MAX {
        let page =
            page::<Scan>(subject.run(&Operation::Scan(scan.clone()))).map_err(|error| Mismatch(error.to_string()))?;
        check_page(&scan, &page)?;
        read.count += page.count;
        read.scanned += page.scanned;
        read.items.extend(page.items.unwrap_or_default());
        match page.last_key {
            Some(last) => scan.start = Some(last.to_attributes()),
            None => return Ok(()),
        }
    }
    Err(Mismatch("the scan has no end".to_owned()))
}

fn check_page(scan: &Scan, page: &PageOutput) -> Outcome {
    same(
        "whether there is capacity",
        &page.capacity.is_some(),
        &(scan.return_capacity != ReturnConsumedCapacity::None),
    )?;
    if scan.limit.is_some_and(|limit| page.scanned > limit) {
        return Err(Mismatch(format!("a page of {} items has a limit of {:?}", page.scanned, scan.limit)));
    }
    let whole = scan.filter.is_none() && scan.projection.is_none() && scan.select.is_none();
    if let (true, Some(items), Some(capacity)) = (whole, &page.items, &page.capacity) {
        let bytes: usize = items.iter().map(|item| size::of_attributes(&item.to_attributes())).sum();
        let units = bytes.div_ceil(4096).max(1) as f64 / if scan.consistent { 1.0 } else { 2.0 };
        same("the capacity of a page", &capacity.total, &units)?;
    }
    Ok(())
}

/// Checks that the items of each partition are contiguous and in order.
fn partitions_are_whole(service: &Service, scan: &Scan, items: &[Item]) -> Outcome {
    let table = &service.tables[&scan.table];
    let Ok(source) = table.source(scan.index.as_deref(), false) else { return Ok(()) };
    let partition = |item: &Attributes| -> Vec<Option<AttributeValue>> {
        source.key.partition.iter().map(|name| item.get(name).cloned()).collect()
    };
    let mut seen = Vec::new();
    let mut previous: Option<Attributes> = None;
    for item in items.iter().map(Item::to_attributes) {
        let own = partition(&item);
        match &previous {
            Some(previous) if partition(previous) == own => {
                if table.compare(&source, previous, &item).is_gt() {
                    return Err(Mismatch(format!("out of order: {previous:?} before {item:?}")));
                }
            }
            _ if seen.contains(&own) => return Err(Mismatch(format!("a partition comes twice: {own:?}"))),
            _ => seen.push(own),
        }
        previous = Some(item);
    }
    Ok(())
}

fn sorted(mut items: Vec<Item>) -> Vec<Item> {
    items.sort_by(|left, right| left.as_bytes().cmp(right.as_bytes()));
    items
}

/// Compares tables, items, indexes, counts and streams.
pub fn everything(subject: &Subject, service: &Service) -> Outcome {
    let listed = subject.run(&Operation::ListTables(ListTables::default()));
    let expected = ListTablesOutput { tables: service.tables.keys().cloned().collect(), last: None };
    same("the list of tables", &listed, &Ok(Output::ListTables(expected)))?;
    for (name, table) in &service.tables {
        let described = subject.run(&Operation::DescribeTable(DescribeTable { table: name.to_owned() }));
        let Ok(Output::DescribeTable(description)) = described else {
            return Err(Mismatch(format!("the table is not described: {described:?}")));
        };
        shape(&description, table)?;
        for index in std::iter::once(None).chain(table.indexes().into_iter().map(|source| source.index)) {
            scan_through(subject, service, &whole_scan(name, index), 1)?;
        }
        if subject.counted {
            counts(&description, table)?;
        }
        streams::compare(subject, service, name)?;
    }
    Ok(())
}

/// Compares the set of indexes and the state of the stream.
fn shape(description: &TableDescription, table: &Table) -> Outcome {
    let local = description.local_indexes.iter().map(|one| Some(one.index.name.clone()));
    let global = description.global_indexes.iter().map(|one| Some(one.index.name.clone()));
    let actual: BTreeSet<Option<String>> = local.chain(global).collect();
    let expected: BTreeSet<Option<String>> = table.indexes().into_iter().map(|source| source.index).collect();
    same("the indexes", &actual, &expected)?;
    let enabled = description.stream.as_ref().filter(|stream| stream.enabled).map(|stream| stream.view);
    same("the stream", &enabled, &table.streams.last().filter(|stream| stream.enabled).map(|stream| stream.view))
}

/// Returns all items of a table or index from the engine.
pub fn contents(database: &keyform_engine::Database, table: &str, index: Option<String>) -> Vec<Item> {
    let mut scan = whole_scan(table, index);
    let mut items = Vec::new();
    loop {
        let page = database.call_blocking(scan.clone()).unwrap();
        items.extend(page.items.unwrap_or_default());
        match page.last_key {
            Some(last) => scan.start = Some(last.to_attributes()),
            None => return sorted(items),
        }
    }
}

/// Returns a scan of a whole table or index.
pub fn whole_scan(table: &str, index: Option<String>) -> Scan {
    Scan {
        table: table.to_owned(),
        index,
        filter: None,
        projection: None,
        select: None,
        limit: None,
        consistent: false,
        segment: None,
        start: None,
        return_capacity: ReturnConsumedCapacity::None,
    }
}

fn counts(description: &TableDescription, table: &Table) -> Outcome {
    let measure =
        |entries: &[Attributes]| (entries.len() as u64, entries.iter().map(size::of_attributes).sum::<usize>() as u64);
    same("items and bytes", &(description.item_count, description.size_bytes), &measure(&table.items))?;
    for source in table.indexes().iter().filter(|source| table.source(source.index.as_deref(), false).is_ok()) {
        let local = description.local_indexes.iter().map(|one| (&one.index.name, one.item_count, one.size_bytes));
        let global = description.global_indexes.iter().map(|one| (&one.index.name, one.item_count, one.size_bytes));
        let found = local.chain(global).find(|(name, ..)| Some(*name) == source.index.as_ref());
        let actual = found.map(|(_, items, bytes)| (items, bytes));
        same(&format!("the counts of {:?}", source.index), &actual, &Some(measure(&table.entries(source))))?;
    }
    Ok(())
}
