//! Writes: find the item, evaluate the condition, replace the item, record the difference, compute the cost.

use std::collections::BTreeMap;

use keyform_core::capacity::{CapacityDetail, ConsumedCapacity, ReturnConsumedCapacity};
use keyform_core::error::{CancellationReason, item as texts, transaction};
use keyform_core::expression::{Condition, Update};
use keyform_core::operation::{
    BatchWriteItem, BatchWriteItemOutput, DeleteItem, ItemCollectionMetrics, PutItem, ReturnItemCollectionMetrics,
    ReturnValues, TransactAction, TransactWriteItems, TransactWriteItemsOutput, UpdateItem, WriteItemOutput,
    WriteOptions, WriteRequest,
};
use keyform_core::value::size;
use keyform_core::{Attributes, Item};

use super::condition::holds;
use super::project::project;
use super::table::Table;
use super::update::{apply, create, touched};
use super::{Answer, Refusal, Service};

const TOKEN_LIFE_MS: u64 = 10 * 60 * 1000;

#[derive(Clone, Copy)]
enum Write<'a> {
    Put(&'a Attributes),
    Update(&'a Attributes, Option<&'a Update>),
    Delete(&'a Attributes),
    Check(&'a Attributes),
}

/// Consumed capacity: the table's part, and each index's with whether it is local.
#[derive(Clone, Debug, Default)]
struct Cost {
    table: f64,
    indexes: BTreeMap<(bool, String), f64>,
}

type Images = (Option<Attributes>, Option<Attributes>);

impl<'a> Write<'a> {
    fn key(&self) -> &'a Attributes {
        match self {
            Self::Put(key) | Self::Update(key, _) | Self::Delete(key) | Self::Check(key) => key,
        }
    }

    /// Checks that the write is valid for the table; the exact error message is not modelled.
    fn check(&self, table: &Table) -> Answer<()> {
        let fits = match self {
            Self::Put(item) => table.check_item(item),
            Self::Update(key, update) => {
                let paths = update.map(touched).unwrap_or_default();
                table.check_key(key) && !paths.iter().any(|path| table.definition.key.contains(path.root()))
            }
            Self::Delete(key) | Self::Check(key) => table.check_key(key),
        };
        if fits { Ok(()) } else { Err(Refusal::Validation) }
    }

    /// Returns the item before and after.
    fn decide(&self, table: &Table, condition: Option<&Condition>, tell_item: bool) -> Answer<Images> {
        let old = table.find(self.key()).cloned();
        if condition.is_some_and(|condition| !holds(condition, old.as_ref())) {
            let shown = old.as_ref().filter(|_| tell_item).map(Item::from);
            return Err(texts::condition_failed(shown).into());
        }
        let new = match self {
            Self::Put(item) => Some((*item).clone()),
            Self::Update(key, update) => {
                let after = updated(table, key, *update, old.as_ref())?;
                if old.is_none() && update.is_some_and(takes_only) { None } else { Some(after) }
            }
            Self::Delete(_) => None,
            Self::Check(_) => old.clone(),
        };
        Ok((old, new))
    }
}

/// Returns whether an update only removes.
fn takes_only(update: &Update) -> bool {
    let gives = update.set.len() + update.add.len();
    gives == 0 && update.remove.len() + update.delete.len() > 0
}

fn updated(table: &Table, key: &Attributes, update: Option<&Update>, old: Option<&Attributes>) -> Answer<Attributes> {
    let Some(update) = update else { return Ok(old.unwrap_or(key).clone()) };
    let after = match old {
        Some(old) => apply(update, old),
        None => create(update, key),
    };
    let after = after.map_err(|_| Refusal::Validation)?;
    let paths = touched(update);
    if !table.fits_indexes(&after, |name| paths.iter().any(|path| path.root() == name)) {
        return Err(Refusal::Validation);
    }
    if size::of_attributes(&after) > 400 * 1024 { Err(texts::updated_item_too_large().into()) } else { Ok(after) }
}

impl Service {
    pub(super) fn put_item(&mut self, request: &PutItem) -> Answer<WriteItemOutput> {
        let write = Write::Put(&request.item);
        self.write_item(&request.table, write, &request.options, None)
    }

    pub(super) fn update_item(&mut self, request: &UpdateItem) -> Answer<WriteItemOutput> {
        let write = Write::Update(&request.key, request.update.as_ref());
        self.write_item(&request.table, write, &request.options, request.update.as_ref())
    }

    pub(super) fn delete_item(&mut self, request: &DeleteItem) -> Answer<WriteItemOutput> {
        let write = Write::Delete(&request.key);
        self.write_item(&request.table, write, &request.options, None)
    }

    fn write_item(
        &mut self,
        name: &str,
        write: Write<'_>,
        options: &WriteOptions,
        update: Option<&Update>,
    ) -> Answer<WriteItemOutput> {
        let (images, cost) = self.write_one(name, write, options.condition.as_ref(), options.return_item_on_failure)?;
        let attributes = returned(options.return_values, update, &images);
        Ok(WriteItemOutput {
            attributes: attributes.filter(|attributes| !attributes.is_empty()).as_ref().map(Item::from),
            capacity: report(name, &cost, options.return_capacity, 1.0),
            metrics: collection_metrics(&self.tables[name], write, options.return_metrics),
        })
    }

    fn write_one(
        &mut self,
        name: &str,
        write: Write<'_>,
        condition: Option<&Condition>,
        tell_item: bool,
    ) -> Answer<(Images, Cost)> {
        let now_ms = self.now_ms;
        let table = self.table_mut(name)?;
        write.check(table)?;
        let images = write.decide(table, condition, tell_item)?;
        let cost = cost(table, &images);
        let difference = store(table, write.key(), &images, now_ms);
        table.record(difference.into_iter().collect());
        Ok((images, cost))
    }

    pub(super) fn batch_write_item(&mut self, request: &BatchWriteItem) -> Answer<BatchWriteItemOutput> {
        let mut writes: Vec<(&str, Write<'_>)> = Vec::new();
        for (name, requests) in &request.tables {
            for one in requests {
                let write = match one {
                    WriteRequest::Put(item) => Write::Put(item),
                    WriteRequest::Delete(key) => Write::Delete(key),
                };
                let table = self.table(name)?;
                write.check(table)?;
                if writes.iter().any(|(other, seen)| other == name && same_item(table, seen, &write)) {
                    return Err(texts::duplicate_keys().into());
                }
                writes.push((name, write));
            }
        }
        let now_ms = self.now_ms;
        let mut output = BatchWriteItemOutput::default();
        let mut costs: BTreeMap<&str, Cost> = BTreeMap::new();
        for (name, write) in writes {
            let table = self.table_mut(name)?;
            let images = write.decide(table, None, false)?;
            costs.entry(name).or_default().add(&cost(table, &images));
            let difference = store(table, write.key(), &images, now_ms);
            table.record(difference.into_iter().collect());
            if let Some(metrics) = collection_metrics(table, write, request.return_metrics) {
                output.metrics.entry(name.to_owned()).or_default().push(metrics);
            }
        }
        output.capacity =
            costs.iter().filter_map(|(table, cost)| report(table, cost, request.return_capacity, 1.0)).collect();
        Ok(output)
    }

    pub(super) fn transact_write_items(&mut self, request: &TransactWriteItems) -> Answer<TransactWriteItemsOutput> {
        let actions: Vec<(&str, Write<'_>, Option<&Condition>, bool)> = request.actions.iter().map(action).collect();
        for (name, ..) in &actions {
            self.table(name)?;
        }
        if !actions.iter().all(|(name, write, ..)| write.check(&self.tables[*name]).is_ok()) {
            return Err(Refusal::ValidationOfTransaction);
        }
        for (number, (name, write, ..)) in actions.iter().enumerate() {
            let table = &self.tables[*name];
            if actions[..number].iter().any(|(other, seen, ..)| other == name && same_item(table, seen, write)) {
                return Err(transaction::duplicate_items().into());
            }
        }
        if let Some(token) = &request.token
            && let Some(replayed) = self.replayed(token, request, &actions)?
        {
            return Ok(replayed);
        }
        let decisions = actions.iter();
        let decisions = decisions
            .map(|(name, write, condition, tell_item)| write.decide(&self.tables[*name], *condition, *tell_item));
        let images = self.all_or_cancelled(decisions.collect())?;
        Ok(self.write_all(request, &actions, &images))
    }

    fn all_or_cancelled<T>(&self, outcomes: Vec<Answer<T>>) -> Answer<Vec<T>> {
        if outcomes.iter().all(Result::is_ok) {
            return outcomes.into_iter().collect();
        }
        let reasons = outcomes.into_iter().map(|outcome| match outcome {
            Ok(_) => Some(CancellationReason::default()),
            Err(Refusal::Exactly(error)) => Some(transaction::reason(&error)),
            Err(_) => None,
        });
        Err(Refusal::Cancelled(reasons.collect()))
    }

    fn replayed(
        &self,
        token: &str,
        request: &TransactWriteItems,
        actions: &[(&str, Write<'_>, Option<&Condition>, bool)],
    ) -> Answer<Option<TransactWriteItemsOutput>> {
        let remembered = |(known, _, at_ms): &&(String, TransactWriteItems, u64)| {
            known == token && self.now_ms < at_ms + TOKEN_LIFE_MS
        };
        let Some((_, applied, _)) = self.applied.iter().rev().find(remembered) else { return Ok(None) };
        if applied.actions != request.actions {
            return Err(transaction::token_mismatch().into());
        }
        let mut units: BTreeMap<&str, f64> = BTreeMap::new();
        for (name, write, ..) in actions {
            let bytes = self.tables[*name].find(write.key()).map_or(0, size::of_attributes);
            *units.entry(name).or_default() += bytes.div_ceil(4096).max(1) as f64 * 2.0;
        }
        let reports = units.into_iter().filter_map(|(table, units)| {
            let cost = Cost { table: units, ..Cost::default() };
            let report = report(table, &cost, request.return_capacity, 1.0)?;
            Some(ConsumedCapacity { read: Some(units), ..report })
        });
        Ok(Some(TransactWriteItemsOutput { capacity: reports.collect(), ..Default::default() }))
    }

    fn write_all(
        &mut self,
        request: &TransactWriteItems,
        actions: &[(&str, Write<'_>, Option<&Condition>, bool)],
        images: &[Images],
    ) -> TransactWriteItemsOutput {
        let now_ms = self.now_ms;
        let mut output = TransactWriteItemsOutput::default();
        let mut costs: BTreeMap<&str, Cost> = BTreeMap::new();
        for ((name, write, ..), images) in actions.iter().zip(images) {
            let Some(table) = self.tables.get_mut(*name) else { continue };
            let unchanged = Cost { table: units(images.0.as_ref(), None), ..Cost::default() };
            let cost = if matches!(write, Write::Check(_)) { unchanged } else { cost(table, images) };
            costs.entry(name).or_default().add(&cost);
            let difference = store(table, write.key(), images, now_ms);
            table.record(difference.into_iter().collect());
            if let Some(metrics) = collection_metrics(table, *write, request.return_metrics) {
                output.metrics.entry((*name).to_owned()).or_default().push(metrics);
            }
        }
        let reports = costs.iter().filter_map(|(table, cost)| {
            let report = report(table, cost, request.return_capacity, 2.0)?;
            Some(ConsumedCapacity { write: Some(report.total), ..report })
        });
        output.capacity = reports.collect();
        if let Some(token) = &request.token {
            self.applied.push((token.clone(), request.clone(), now_ms));
        }
        output
    }
}

fn action(action: &TransactAction) -> (&str, Write<'_>, Option<&Condition>, bool) {
    match action {
        TransactAction::Put { table, item, condition, return_item_on_failure } => {
            (table, Write::Put(item), condition.as_ref(), *return_item_on_failure)
        }
        TransactAction::Update { table, key, update, condition, return_item_on_failure } => {
            (table, Write::Update(key, Some(update)), condition.as_ref(), *return_item_on_failure)
        }
        TransactAction::Delete { table, key, condition, return_item_on_failure } => {
            (table, Write::Delete(key), condition.as_ref(), *return_item_on_failure)
        }
        TransactAction::Check { table, key, condition, return_item_on_failure } => {
            (table, Write::Check(key), Some(condition), *return_item_on_failure)
        }
    }
}

fn same_item(table: &Table, one: &Write<'_>, other: &Write<'_>) -> bool {
    table.key_of(one.key()) == table.key_of(other.key())
}

fn store(table: &mut Table, key: &Attributes, images: &Images, now_ms: u64) -> Option<super::Difference> {
    let difference = table.difference(images.0.as_ref(), images.1.as_ref(), now_ms, None);
    table.replace(key, images.1.clone());
    difference
}

fn returned(wanted: ReturnValues, update: Option<&Update>, (old, new): &Images) -> Option<Attributes> {
    let paths = update.map(touched).unwrap_or_default();
    match wanted {
        ReturnValues::None => None,
        ReturnValues::AllOld => old.clone(),
        ReturnValues::AllNew => new.clone(),
        ReturnValues::UpdatedOld => old.as_ref().map(|old| project(old, &paths)),
        ReturnValues::UpdatedNew => new.as_ref().map(|new| project(new, &paths)),
    }
}

fn collection_metrics(
    table: &Table,
    write: Write<'_>,
    wanted: ReturnItemCollectionMetrics,
) -> Option<ItemCollectionMetrics> {
    if wanted == ReturnItemCollectionMetrics::None || table.definition.local_indexes.is_empty() {
        return None;
    }
    let mut key = table.key_of(write.key());
    key.retain(|name, _| table.definition.key.partition.contains(name));
    Some(ItemCollectionMetrics { key, size_gigabytes: [0.0, 1.0] })
}

fn units(old: Option<&Attributes>, new: Option<&Attributes>) -> f64 {
    let size = |item: Option<&Attributes>| item.map_or(0, size::of_attributes);
    size(old).max(size(new)).div_ceil(1024).max(1) as f64
}

fn cost(table: &Table, (old, new): &Images) -> Cost {
    let mut cost = Cost { table: units(old.as_ref(), new.as_ref()), indexes: BTreeMap::new() };
    for source in table.indexes() {
        let entry = |item: &Option<Attributes>| item.as_ref().and_then(|item| table.entry(&source, item));
        let (old, new) = (entry(old), entry(new));
        let place = |entry: &Option<Attributes>| {
            entry.as_ref().map(|entry| source.key.attributes().map(|name| entry[name].clone()).collect::<Vec<_>>())
        };
        let units = match (&old, &new) {
            _ if old == new => continue,
            (Some(_), Some(_)) if place(&old) != place(&new) => units(old.as_ref(), None) + units(None, new.as_ref()),
            _ => units(old.as_ref(), new.as_ref()),
        };
        cost.indexes.insert((source.local, source.index.unwrap_or_default()), units);
    }
    cost
}

impl Cost {
    fn add(&mut self, other: &Self) {
        self.table += other.table;
        for (index, units) in &other.indexes {
            *self.indexes.entry(index.clone()).or_default() += units;
        }
    }
}

fn report(table: &str, cost: &Cost, wanted: ReturnConsumedCapacity, factor: f64) -> Option<ConsumedCapacity> {
    let total = cost.table * factor + cost.indexes.values().sum::<f64>();
    let part = |local: bool| {
        let parts = cost.indexes.iter().filter(move |((is_local, _), _)| *is_local == local);
        parts.map(|((_, name), units)| (name.clone(), *units)).collect()
    };
    let detail = CapacityDetail { table: cost.table * factor, local: part(true), global: part(false) };
    match wanted {
        ReturnConsumedCapacity::None => None,
        ReturnConsumedCapacity::Total => {
            Some(ConsumedCapacity { table: table.to_owned(), total, read: None, write: None, detail: None })
        }
        ReturnConsumedCapacity::Indexes => {
            Some(ConsumedCapacity { table: table.to_owned(), total, read: None, write: None, detail: Some(detail) })
        }
    }
}
