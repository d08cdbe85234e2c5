//! Expiry (TTL): an index of items by the time at which they end, and the sweep that deletes them.

use std::ops::Bound;

use bytes::Bytes;
use keyform_core::operation::UserIdentity;
use keyform_core::{Error, Item};

use crate::catalog::{Expiry, Table};
use crate::change::{Change, expiry_secs};
use crate::engine::{Engine, store_failed};
use crate::key::{self, ItemKey};
use crate::layout::{self, IndexId, TableId};
use crate::store::Batch;

/// How many items are deleted in one commit.
const CHUNK: usize = 100;
/// Items that ended longer ago are left alone, as the service does: the time is taken for a mistake.
const OLDEST_SECS: u64 = 5 * 365 * 24 * 60 * 60;

/// Moves the item's entry among the times of expiry.
pub fn stage(batch: &mut Batch, change: &Change<'_>) {
    let Some(expiry) = &change.table.expiry else { return };
    let secs = |item: Option<&Item>| item.and_then(|item| expiry_secs(item, &expiry.attribute));
    let (old, new) = (secs(change.old), secs(change.new));
    if old == new {
        return;
    }
    if let Some(secs) = old {
        batch.delete(entry_key(change.table.id, expiry, secs, change.key.values()));
    }
    if let Some(secs) = new {
        let key = entry_key(change.table.id, expiry, secs, change.key.values());
        batch.put(key, change.key.store_key.clone());
    }
}

/// Adds the entry of an item that was there before expiry was switched on.
pub(crate) fn stage_existing(batch: &mut Batch, table: &Table, item: &Item, store_key: &[u8]) {
    let Some(expiry) = &table.expiry else { return };
    if let Some(secs) = expiry_secs(item, &expiry.attribute) {
        let key_values = key::values_of_item(&table.key, item);
        batch.put(entry_key(table.id, expiry, secs, &key_values), store_key.to_vec());
    }
}

/// What all entries of an expiry start with.
pub(crate) fn prefix(table: TableId, number: u32) -> Vec<u8> {
    let mut key = layout::index_prefix(table, IndexId::EXPIRY);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

fn entry_key(table: TableId, expiry: &Expiry, secs: u64, key_values: &[u8]) -> Vec<u8> {
    let mut key = prefix(table, expiry.number);
    key.extend_from_slice(&secs.to_be_bytes());
    key.extend_from_slice(key_values);
    key
}

/// An entry whose time has come.
struct Due {
    entry_key: Bytes,
    store_key: Bytes,
}

impl Engine {
    /// Deletes all items whose time has come.
    pub(crate) fn expire_items(&self) -> Result<(), Error> {
        let now_secs = self.env.now_ms() / 1000;
        for table in self.tables_where(|table| table.expiry.is_some()) {
            let Some(expiry) = &table.expiry else { continue };
            let prefix = prefix(table.id, expiry.number);
            let bound = |secs: u64| [prefix.as_slice(), &secs.to_be_bytes()].concat();
            let mut lower = bound(now_secs.saturating_sub(OLDEST_SECS));
            let upper = bound(now_secs);
            while !self.work.is_stopping() {
                let due = self.due(&lower, &upper)?;
                let Some(last) = due.last() else { break };
                lower = [last.entry_key.as_ref(), &[0]].concat();
                self.expire(&table.name, expiry, &due)?;
            }
        }
        Ok(())
    }

    /// The next entries from `lower` on; an item ends when the second it names is over.
    fn due(&self, lower: &[u8], upper: &[u8]) -> Result<Vec<Due>, Error> {
        let snapshot = self.store.latest();
        let entries = snapshot.range(Bound::Included(lower), Bound::Excluded(upper)).take(CHUNK);
        let due = entries.map(|entry| entry.map(|(entry_key, store_key)| Due { entry_key, store_key }));
        due.collect::<Result<_, _>>().map_err(|error| store_failed(&error))
    }

    fn expire(&self, name: &str, expiry: &Expiry, due: &[Due]) -> Result<(), Error> {
        let catalog = self.catalog.read();
        let is_same = |table: &&std::sync::Arc<Table>| {
            table.expiry.as_ref().is_some_and(|current| current.number == expiry.number)
        };
        let Some(table) = catalog.find(name).filter(is_same) else { return Ok(()) };
        let guard = self.locks.lock_all(due.iter().map(|due| due.store_key.as_ref()));
        let mut batch = Batch::new();
        for due in due.iter().filter(|due| !self.in_flight.contains(&due.store_key)) {
            self.stage_expired(&mut batch, table, expiry, due)?;
        }
        let commit = self.store.commit(batch);
        drop(guard);
        drop(catalog);
        commit.wait().map(drop).map_err(|error| store_failed(&error))
    }

    /// Deletes an item if it still ends at the time of the entry; an entry without its item goes alone.
    fn stage_expired(&self, batch: &mut Batch, table: &Table, expiry: &Expiry, due: &Due) -> Result<(), Error> {
        let newest = self.newest(&due.store_key)?;
        let item = newest.as_ref().filter(|item| {
            let secs = expiry_secs(item, &expiry.attribute);
            let key_values = key::values_of_item(&table.key, item);
            secs.is_some_and(|secs| entry_key(table.id, expiry, secs, &key_values) == due.entry_key)
        });
        let Some(item) = item else {
            batch.delete(due.entry_key.clone());
            return Ok(());
        };
        let change = Change {
            table,
            key: &ItemKey::of_stored(table, item),
            old: Some(item),
            new: None,
            identity: Some(UserIdentity::TimeToLive),
            at_ms: self.env.now_ms(),
        };
        change.stage(batch);
        Ok(())
    }
}
