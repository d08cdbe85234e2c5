//! Translation of a SELECT: one query for each partition that the WHERE clause fixes, or else a scan.

use std::collections::BTreeSet;

use keyform_core::capacity::ReturnConsumedCapacity;
use keyform_core::error::{partiql, read};
use keyform_core::expression::{Comparator, Condition, KeyCondition, KeyPredicate, KeyTest, Projection};
use keyform_core::operation::{Query, Scan, Select};
use keyform_core::statement::{OrderBy, SelectStatement};
use keyform_core::{Attributes, Error, Value};

use super::pins::{Alternative, Pinned, mentions, pinned, sort_test};
use super::schema::{Schema, check_key_type, check_partition_size, check_sort_size, is_empty};
use super::shape::{self, Shape};
use super::span::{Span, sorted_bytes};
use super::write::{Target, all, target};
use crate::catalog::{Index, KeyAttribute, KeyLayout};

/// Reads of a SELECT, and the shape of its result.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectPlan {
    /// Reads in order of execution.
    pub reads: Vec<Read>,
    /// Shape of the returned items; `None` to return them as read.
    pub shape: Option<Shape>,
}

/// One read of a SELECT.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// Reads one partition.
    Query(Query),
    /// Reads the whole table or index.
    Scan(Scan),
}

/// Options of a SELECT from the request.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Requests a strongly consistent read.
    pub consistent: bool,
    /// Requested detail of the consumed capacity.
    pub return_capacity: ReturnConsumedCapacity,
}

/// Partition, with the part of it that is read.
struct KeyedRead {
    partition: Value,
    sort: Option<KeyTest>,
    filter: Option<Condition>,
}

/// Translates a SELECT.
///
/// # Errors
/// When the index does not exist or lacks the requested attributes, when a key is compared with a value of another
/// type, or when the requested order is not supported.
pub fn select(schema: &Schema<'_>, statement: &SelectStatement, options: ReadOptions) -> Result<SelectPlan, Error> {
    let index = statement.index.as_deref().map(|name| schema.index(name)).transpose()?;
    if options.consistent && index.is_some_and(|index| !index.is_local()) {
        return Err(partiql::consistent_global_index());
    }
    let key = index.map_or(schema.key, |index| &index.key);
    let (partition, sort) = key_attributes(key)?;
    let pinned = statement.condition.as_ref().and_then(|condition| pinned(condition, &partition.name));
    check_order_terms(&statement.order, statement.condition.is_some(), key)?;
    let keyed = pinned.as_ref().map(|pinned| keyed_reads(pinned, partition, sort)).transpose()?;
    check_order(&statement.order, pinned.as_ref(), partition)?;
    check_index(index, statement, pinned.as_ref())?;
    let columns = statement.columns.as_deref();
    let frame = Frame { statement, options, projected: index.is_some() && columns.is_none() };
    let reads = match keyed {
        Some(keyed) => frame.queries(keyed, partition, sort),
        None => vec![Read::Scan(frame.scan())],
    };
    Ok(SelectPlan { reads, shape: columns.and_then(Shape::of) })
}

/// Returns the key of the one item that a SELECT in a batch or a transaction reads.
///
/// # Errors
/// When the WHERE clause contains anything but equality conditions on the table's key attributes.
pub fn single(schema: &Schema<'_>, statement: &SelectStatement, operation: &str) -> Result<Attributes, Error> {
    let needs_key = || partiql::select_needs_key(operation);
    if let Some(name) = &statement.index {
        schema.index(name)?;
        return Err(needs_key());
    }
    let condition = statement.condition.as_ref().filter(|_| statement.order.is_empty()).ok_or_else(needs_key)?;
    match target(schema, condition) {
        Ok(Target { key, condition: None }) => Ok(key),
        Err(error) if error != partiql::key_required() => Err(error),
        _ => Err(needs_key()),
    }
}

fn key_attributes(key: &KeyLayout) -> Result<(&KeyAttribute, Option<&KeyAttribute>), Error> {
    let partition = key.partition.first().ok_or_else(partiql::multi_attribute_index)?;
    Ok((partition, key.sort.first()))
}

fn check_order_terms(order: &[OrderBy], has_condition: bool, key: &KeyLayout) -> Result<(), Error> {
    if !order.is_empty() && !has_condition {
        return Err(partiql::order_without_where());
    }
    match order.iter().find(|term| !key.contains(&term.attribute)) {
        Some(term) => Err(partiql::order_by_other_attribute(&term.attribute)),
        None => Ok(()),
    }
}

fn check_order(order: &[OrderBy], pinned: Option<&Pinned<'_>>, partition: &KeyAttribute) -> Result<(), Error> {
    if order.is_empty() {
        return Ok(());
    }
    let pinned = pinned.ok_or_else(partiql::order_without_partition)?;
    let names_partition = order.iter().any(|term| term.attribute == partition.name);
    let first = pinned.alternatives.first().map(|alternative| alternative.partition);
    let several = pinned.alternatives.iter().any(|alternative| Some(alternative.partition) != first);
    if several && !names_partition { Err(partiql::order_over_partitions()) } else { Ok(()) }
}

/// Checks the attributes of an index: a global index has only those it projects, and no index can filter by attributes
/// that it lacks when the partition is fixed.
fn check_index(index: Option<&Index>, statement: &SelectStatement, pinned: Option<&Pinned<'_>>) -> Result<(), Error> {
    let Some(index) = index else { return Ok(()) };
    let lacking = |names: Vec<&str>| -> Vec<String> {
        names.into_iter().filter(|name| !index.projected.contains(name)).map(str::to_owned).collect()
    };
    let columns = statement.columns.iter().flatten().map(|column| column.root()).collect();
    let columns = if index.is_local() { Vec::new() } else { lacking(columns) };
    if !columns.is_empty() {
        return Err(read::global_index_lacks(&index.name, &columns.join(", ")));
    }
    let keyed = pinned.filter(|pinned| !pinned.from_or).and(statement.condition.as_ref());
    let mut filtered = lacking(keyed.map_or_else(Vec::new, Condition::roots));
    filtered.dedup();
    if filtered.is_empty() {
        Ok(())
    } else {
        Err(read::index_lacks_filter_attributes(&index.name, &filtered.join(", ")))
    }
}

fn keyed_reads(
    pinned: &Pinned<'_>,
    partition: &KeyAttribute,
    sort: Option<&KeyAttribute>,
) -> Result<Vec<KeyedRead>, Error> {
    for alternative in &pinned.alternatives {
        check_types(alternative, partition, sort)?;
    }
    if let [only] = pinned.alternatives.as_slice() {
        check_sizes(only, sort)?;
    }
    let reads: Vec<KeyedRead> = pinned.alternatives.iter().map(|alternative| keyed_read(alternative, sort)).collect();
    let mut seen = BTreeSet::new();
    if reads.iter().all(|read| seen.insert(sorted_bytes(&read.partition))) {
        Ok(reads)
    } else if pinned.alternatives.iter().any(|alternative| is_unchecked(alternative, sort)) {
        Ok(merged(&pinned.alternatives))
    } else if overlap(&reads) {
        Err(partiql::overlapping_conditions())
    } else {
        Ok(reads)
    }
}

fn check_types(
    alternative: &Alternative<'_>,
    partition: &KeyAttribute,
    sort: Option<&KeyAttribute>,
) -> Result<(), Error> {
    check_key_type(partition, alternative.partition)?;
    let Some(sort) = sort else { return Ok(()) };
    let tests = alternative.rest.iter().filter_map(|part| sort_test(part, &sort.name));
    for test in tests {
        values(&test).into_iter().try_for_each(|value| check_key_type(sort, value))?;
    }
    Ok(())
}

fn check_sizes(alternative: &Alternative<'_>, sort: Option<&KeyAttribute>) -> Result<(), Error> {
    check_partition_size(alternative.partition)?;
    let Some(sort) = sort else { return Ok(()) };
    let tests = alternative.rest.iter().filter_map(|part| sort_test(part, &sort.name));
    for test in tests {
        values(&test).into_iter().try_for_each(check_sort_size)?;
    }
    Ok(())
}

fn values(test: &KeyTest) -> Vec<&Value> {
    match test {
        KeyTest::Compare(_, value) | KeyTest::BeginsWith(value) => vec![value],
        KeyTest::Between(low, high) => vec![low, high],
    }
}

/// Returns whether the range of the sort key is unknown, because its tests are negated or more than one.
fn is_unchecked(alternative: &Alternative<'_>, sort: Option<&KeyAttribute>) -> bool {
    let Some(sort) = sort else { return false };
    let about_sort: Vec<_> = alternative.rest.iter().filter(|part| mentions(part, &sort.name)).collect();
    about_sort.len() > 1 || about_sort.iter().any(|part| sort_test(part, &sort.name).is_none())
}

/// Merges the alternatives of each partition into one read, with their remaining conditions as the filter.
fn merged(alternatives: &[Alternative<'_>]) -> Vec<KeyedRead> {
    let mut reads: Vec<(&Value, Vec<Option<Condition>>)> = Vec::new();
    for alternative in alternatives {
        let filter = all(alternative.rest.iter().map(|part| (*part).clone()).collect());
        match reads.iter_mut().find(|(partition, _)| *partition == alternative.partition) {
            Some((_, filters)) => filters.push(filter),
            None => reads.push((alternative.partition, vec![filter])),
        }
    }
    let read = |(partition, filters): (&Value, Vec<Option<Condition>>)| KeyedRead {
        partition: partition.clone(),
        sort: None,
        filter: any(filters),
    };
    reads.into_iter().map(read).collect()
}

/// Combines conditions with OR; `None` means a condition that always holds.
fn any(filters: Vec<Option<Condition>>) -> Option<Condition> {
    let mut filters = filters.into_iter().collect::<Option<Vec<_>>>()?;
    if filters.len() == 1 { filters.pop() } else { Some(Condition::Or(filters)) }
}

/// Uses the first test of the sort key that a Query supports, preferring equality, and filters by the rest.
fn keyed_read(alternative: &Alternative<'_>, sort: Option<&KeyAttribute>) -> KeyedRead {
    let test = |part: &Condition| sort.and_then(|sort| sort_test(part, &sort.name)).filter(is_usable);
    let is_equality = |part: &Condition| matches!(test(part), Some(KeyTest::Compare(Comparator::Equal, _)));
    let rest = &alternative.rest;
    let equality = rest.iter().position(|part| is_equality(part));
    let place = equality.or_else(|| rest.iter().position(|part| test(part).is_some()));
    let filter = rest.iter().enumerate().filter(|(other, _)| Some(*other) != place).map(|(_, part)| (*part).clone());
    KeyedRead {
        partition: alternative.partition.clone(),
        sort: place.and_then(|place| test(rest[place])),
        filter: all(filter.collect()),
    }
}

/// Returns whether a Query can evaluate the test; empty values are not valid in key conditions.
fn is_usable(test: &KeyTest) -> bool {
    !values(test).into_iter().any(is_empty)
}

/// Returns whether two reads of one partition can return the same item.
fn overlap(reads: &[KeyedRead]) -> bool {
    let span = |read: &KeyedRead| read.sort.as_ref().map_or_else(Span::default, Span::of);
    let spans: Vec<(&Value, Span)> = reads.iter().map(|read| (&read.partition, span(read))).collect();
    spans.iter().enumerate().any(|(place, (partition, span))| {
        spans[place + 1..].iter().any(|(other, other_span)| partition == other && span.meets(other_span))
    })
}

/// Parameters shared by all reads of a statement.
struct Frame<'a> {
    statement: &'a SelectStatement,
    options: ReadOptions,
    projected: bool,
}

impl Frame<'_> {
    fn queries(&self, mut reads: Vec<KeyedRead>, partition: &KeyAttribute, sort: Option<&KeyAttribute>) -> Vec<Read> {
        self.sort_partitions(&mut reads, partition);
        reads.retain(|read| !is_empty(&read.partition));
        reads.into_iter().map(|read| Read::Query(self.query(read, partition, sort))).collect()
    }

    /// Sorts the partitions by key if the statement has an ORDER BY.
    fn sort_partitions(&self, reads: &mut [KeyedRead], partition: &KeyAttribute) {
        if self.statement.order.is_empty() {
            return;
        }
        reads.sort_by_cached_key(|read| sorted_bytes(&read.partition));
        if self.statement.order.iter().any(|term| term.attribute == partition.name && term.descending) {
            reads.reverse();
        }
    }

    fn query(&self, read: KeyedRead, partition: &KeyAttribute, sort: Option<&KeyAttribute>) -> Query {
        let pin = KeyTest::Compare(Comparator::Equal, read.partition);
        let mut predicates = vec![KeyPredicate { attribute: partition.name.clone(), test: pin }];
        if let (Some(sort), Some(test)) = (sort, read.sort) {
            predicates.push(KeyPredicate { attribute: sort.name.clone(), test });
        }
        Query {
            table: self.statement.table.clone(),
            index: self.statement.index.clone(),
            key: KeyCondition { predicates },
            filter: read.filter,
            projection: self.projection(),
            select: self.selected(),
            limit: None,
            consistent: self.options.consistent,
            reverse: self.reverse(sort),
            start: None,
            return_capacity: self.options.return_capacity,
        }
    }

    fn scan(&self) -> Scan {
        Scan {
            table: self.statement.table.clone(),
            index: self.statement.index.clone(),
            filter: self.statement.condition.clone(),
            projection: self.projection(),
            select: self.selected(),
            limit: None,
            consistent: self.options.consistent,
            segment: None,
            start: None,
            return_capacity: self.options.return_capacity,
        }
    }

    fn projection(&self) -> Option<Projection> {
        self.statement.columns.as_deref().map(shape::projection)
    }

    fn selected(&self) -> Option<Select> {
        self.projected.then_some(Select::AllProjectedAttributes)
    }

    /// Returns the direction of the sort key. ORDER BY with only the partition key reads each partition in reverse.
    fn reverse(&self, sort: Option<&KeyAttribute>) -> bool {
        let order = &self.statement.order;
        let by_sort = order.iter().find(|term| sort.is_some_and(|sort| term.attribute == sort.name));
        by_sort.map_or(!order.is_empty(), |term| term.descending)
    }
}
