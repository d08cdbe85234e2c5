//! One changed item and everything that follows from it: the item, its index entries, its expiry entry and its stream
//! record, staged in one batch, plus the consumed capacity.

use keyform_core::capacity::{CapacityDetail, ConsumedCapacity, ReturnConsumedCapacity, write_units};
use keyform_core::operation::UserIdentity;
use keyform_core::{Item, ValueRef};

use crate::catalog::{Index, Projected, Table};
use crate::item_key::{self, ItemKey};
use crate::store::Batch;
use crate::{expiry, stream};

/// One item before and after a write.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// Table of the item.
    pub table: &'a Table,
    /// Key of the item in the store.
    pub key: &'a ItemKey,
    /// Item before the write; `None` if it did not exist.
    pub old: Option<&'a Item>,
    /// Item after the write; `None` if the write deletes it.
    pub new: Option<&'a Item>,
    /// Identity shown in the stream record when the change was not made by a caller (expiry).
    pub identity: Option<UserIdentity>,
    /// Time of the write, in milliseconds since the Unix epoch.
    pub at_ms: u64,
}

/// Write units consumed, before the factor of two for transactions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteCost {
    table: f64,
    /// Index name, whether the index is local, and units; only for indexes that changed.
    indexes: Vec<(String, bool, f64)>,
}

impl Change<'_> {
    /// Stages the change in `batch`, updates the statistics and returns the consumed capacity.
    pub fn stage(&self, batch: &mut Batch) -> WriteCost {
        self.stage_item(batch);
        let mut cost = WriteCost { table: self.table_units(), indexes: Vec::new() };
        for index in &self.table.indexes {
            let units = self.stage_index(batch, index);
            if units > 0.0 {
                cost.indexes.push((index.name.clone(), index.is_local(), units));
            }
        }
        expiry::stage(batch, self);
        stream::stage(batch, self);
        cost
    }

    fn stage_item(&self, batch: &mut Batch) {
        match self.new {
            Some(item) => batch.put(self.key.store_key.clone(), item.as_bytes().clone()),
            None if self.old.is_some() => batch.delete(self.key.store_key.clone()),
            None => {}
        }
        self.table.statistics.count(self.old.map(Item::size), self.new.map(Item::size));
    }

    fn table_units(&self) -> f64 {
        let size = |item: Option<&Item>| item.map_or(0, Item::size);
        write_units(size(self.old).max(size(self.new)))
    }

    /// Moves the item's entry in one index and returns the write units of that.
    fn stage_index(&self, batch: &mut Batch, index: &Index) -> f64 {
        let old = self.old.and_then(|item| Entry::of(self.table, index, item));
        let new = self.new.and_then(|item| Entry::of(self.table, index, item));
        if old == new {
            return 0.0;
        }
        let size = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.item.size());
        let (old_size, new_size) = (size(&old), size(&new));
        index.statistics.count(old_size, new_size);
        let moved = old.as_ref().map(|entry| &entry.key) != new.as_ref().map(|entry| &entry.key);
        if let Some(entry) = old.filter(|_| moved) {
            batch.delete(entry.key);
        }
        if let Some(entry) = new {
            batch.put(entry.key, entry.item.as_bytes().clone());
        }
        if moved {
            old_size.map_or(0.0, write_units) + new_size.map_or(0.0, write_units)
        } else {
            write_units(old_size.max(new_size).unwrap_or(0))
        }
    }
}

/// Entry of an item in an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Key of the entry in the store.
    pub key: Vec<u8>,
    /// Projected attributes of the item.
    pub item: Item,
}

impl Entry {
    /// Returns the entry of an item, or `None` when the item lacks an attribute of the index's key.
    pub fn of(table: &Table, index: &Index, item: &Item) -> Option<Self> {
        let key = item_key::of_index_entry(table, index, item)?;
        let item = match &index.projected {
            Projected::All => item.clone(),
            Projected::Only(names) => item.filtered(|name| names.contains(name)),
        };
        Some(Self { key, item })
    }
}

impl WriteCost {
    /// Returns the cost of a write that changed nothing: a failed condition or a condition check.
    pub fn of_unchanged(old: Option<&Item>) -> Self {
        Self { table: write_units(old.map_or(0, Item::size)), indexes: Vec::new() }
    }

    /// Adds the cost of another write to the same table.
    pub fn add(&mut self, other: &Self) {
        self.table += other.table;
        for (name, local, units) in &other.indexes {
            match self.indexes.iter_mut().find(|(known, ..)| known == name) {
                Some((.., sum)) => *sum += units,
                None => self.indexes.push((name.clone(), *local, *units)),
            }
        }
    }

    /// Returns the report that the caller asked for. `factor` is 2 for transactions; it does not apply to indexes.
    pub fn report(&self, table: &str, wanted: ReturnConsumedCapacity, factor: f64) -> Option<ConsumedCapacity> {
        let total = self.table * factor + self.indexes.iter().map(|(.., units)| units).sum::<f64>();
        let detail = || {
            let part = |local: bool| {
                let parts = self.indexes.iter().filter(move |index| index.1 == local);
                parts.map(|(name, _, units)| (name.clone(), *units)).collect()
            };
            CapacityDetail { table: self.table * factor, local: part(true), global: part(false) }
        };
        let detail = match wanted {
            ReturnConsumedCapacity::None => return None,
            ReturnConsumedCapacity::Total => None,
            ReturnConsumedCapacity::Indexes => Some(detail()),
        };
        Some(ConsumedCapacity { table: table.to_owned(), total, read: None, write: None, detail })
    }
}

/// Returns the second in which an item expires, or `None` when the attribute is not a number that is valid as a time.
/// Like DynamoDB, cuts off a fraction; negative numbers and those beyond 64 bits are not times.
pub fn expiry_secs(item: &Item, attribute: &str) -> Option<u64> {
    match item.get(attribute)? {
        ValueRef::N(number) => number.whole_i64().and_then(|secs| u64::try_from(secs).ok()),
        _ => None,
    }
}
