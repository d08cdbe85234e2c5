//! What a write does to one item, carried to everything that follows from it: the item itself, its entries in indexes, its
//! expiry and its stream record, all in one batch; and what that costs.

use keyform_core::capacity::{CapacityDetail, ConsumedCapacity, ReturnConsumedCapacity, write_units};
use keyform_core::operation::UserIdentity;
use keyform_core::{Item, ValueRef};

use crate::catalog::{Index, Projected, Table};
use crate::key::{self, ItemKey};
use crate::store::Batch;
use crate::{expiry, stream};

/// One item before and after a write.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// Its table.
    pub table: &'a Table,
    /// Its place.
    pub key: &'a ItemKey,
    /// The item before.
    pub old: Option<&'a Item>,
    /// The item after.
    pub new: Option<&'a Item>,
    /// Who did it, if not a caller.
    pub identity: Option<UserIdentity>,
    /// When.
    pub at_ms: u64,
}

/// What a write costs, before it is multiplied for a transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteCost {
    table: f64,
    /// Name, whether it is local, units; only indexes that were written.
    indexes: Vec<(String, bool, f64)>,
}

impl Change<'_> {
    /// Puts all of it into the batch, counts it, and tells what it costs.
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

    /// Moves the item's entry in one index; tells the write units of that.
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

/// An item as it stands in an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its place in the store.
    pub key: Vec<u8>,
    /// What the index has of it.
    pub item: Item,
}

impl Entry {
    /// The entry of an item, if it has all of the index's key attributes.
    pub fn of(table: &Table, index: &Index, item: &Item) -> Option<Self> {
        let key = key::of_index_entry(table, index, item)?;
        let item = match &index.projected {
            Projected::All => item.clone(),
            Projected::Only(names) => item.filtered(|name| names.contains(name)),
        };
        Some(Self { key, item })
    }
}

impl WriteCost {
    /// What a write that changed nothing costs: a failed condition, or a check.
    pub fn of_unchanged(old: Option<&Item>) -> Self {
        Self { table: write_units(old.map_or(0, Item::size)), indexes: Vec::new() }
    }

    /// Adds another write of the same table.
    pub fn add(&mut self, other: &Self) {
        self.table += other.table;
        for (name, local, units) in &other.indexes {
            match self.indexes.iter_mut().find(|(known, ..)| known == name) {
                Some((.., sum)) => *sum += units,
                None => self.indexes.push((name.clone(), *local, *units)),
            }
        }
    }

    /// The report a caller asked for; `factor` is two for transactions, which the indexes, filled afterwards, do not pay.
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

/// The second in which an item expires, if the attribute is a number that counts as a time. The service compares it with the
/// seconds since 1970, so a fraction is cut off; what is negative or beyond 64 bits is no time.
pub fn expiry_secs(item: &Item, attribute: &str) -> Option<u64> {
    match item.get(attribute)? {
        ValueRef::N(number) => number.whole_i64().and_then(|secs| u64::try_from(secs).ok()),
        _ => None,
    }
}
