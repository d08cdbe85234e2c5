//! Expiry (TTL): an index of items by expiry time, and the sweep that deletes expired items.

use std::ops::Bound;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use keyform_core::operation::UserIdentity;
use keyform_core::{Error, Item};

use crate::background::for_all;
use crate::catalog::{Expiry, Table};
use crate::change::{Change, expiry_secs};
use crate::engine::{Engine, store_failed};
use crate::item_key::{self, ItemKey};
use crate::key_space::{self, IndexId, TableId};
use crate::store::Batch;

/// Items deleted per commit.
const CHUNK: usize = 100;
/// Items that expired longer ago are not deleted. DynamoDB has the same limit, to protect against wrong timestamps.
const OLDEST_SECS: u64 = 5 * 365 * 24 * 60 * 60;

/// Stages the update of the item's entry in the expiry index.
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
        expiry.earliest_secs.fetch_min(secs, Ordering::AcqRel);
        let key = entry_key(change.table.id, expiry, secs, change.key.values());
        batch.put(key, change.key.store_key.clone());
    }
}

/// Stages the entry of an item that existed before expiry was enabled.
pub(crate) fn stage_existing(batch: &mut Batch, table: &Table, item: &Item, store_key: &[u8]) {
    let Some(expiry) = &table.expiry else { return };
    if let Some(secs) = expiry_secs(item, &expiry.attribute) {
        expiry.earliest_secs.fetch_min(secs, Ordering::AcqRel);
        let key_values = item_key::values_of_item(&table.key, item);
        batch.put(entry_key(table.id, expiry, secs, &key_values), store_key.to_vec());
    }
}

/// Returns the common key prefix of all entries of one expiry configuration.
pub(crate) fn prefix(table: TableId, number: u32) -> Vec<u8> {
    let mut key = key_space::index_prefix(table, IndexId::EXPIRY);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

fn entry_key(table: TableId, expiry: &Expiry, secs: u64, key_values: &[u8]) -> Vec<u8> {
    let mut key = prefix(table, expiry.number);
    key.extend_from_slice(&secs.to_be_bytes());
    key.extend_from_slice(key_values);
    key
}

/// Entry whose time has passed.
struct Due {
    entry_key: Bytes,
    store_key: Bytes,
}

impl Engine {
    /// Deletes all expired items.
    pub(crate) fn expire_items(&self) -> Result<(), Error> {
        let now_secs = self.now_ms() / 1000;
        for_all(self.tables_where(|table| table.expiry.is_some()), |table| match &table.expiry {
            Some(expiry) => self.expire_items_of(&table, expiry, now_secs),
            None => Ok(()),
        })
    }

    /// Scans only from the earliest expiry that a writer recorded up to the last second that has fully passed.
    fn expire_items_of(&self, table: &Table, expiry: &Expiry, now_secs: u64) -> Result<(), Error> {
        if expiry.earliest_secs.load(Ordering::Acquire) >= now_secs {
            return Ok(());
        }
        let earliest_secs = expiry.earliest_secs.swap(u64::MAX, Ordering::AcqRel);
        // A writer records an earlier expiry while it holds the catalog's read lock, before it commits. Taking the
        // write lock once waits for those writers; later ones record theirs again after the swap above.
        drop(self.catalog.write());
        let done =
            self.expire_between(table, expiry, earliest_secs.max(now_secs.saturating_sub(OLDEST_SECS)), now_secs);
        let next = match done {
            Ok(true) => self.next_end(table, expiry, now_secs),
            Ok(false) => Ok(Some(earliest_secs)),
            Err(error) => Err(error),
        };
        // If items remain or could not be read, the next sweep scans the same range again.
        let next_secs = next.as_ref().map_or(Some(earliest_secs), |next_secs| *next_secs);
        expiry.earliest_secs.fetch_min(next_secs.unwrap_or(u64::MAX), Ordering::AcqRel);
        next.map(drop)
    }

    /// Deletes the items that expire between two seconds; returns whether none was skipped because of a transaction.
    fn expire_between(&self, table: &Table, expiry: &Expiry, from_secs: u64, to_secs: u64) -> Result<bool, Error> {
        let prefix = prefix(table.id, expiry.number);
        let bound = |secs: u64| [prefix.as_slice(), &secs.to_be_bytes()].concat();
        let (mut lower, upper) = (bound(from_secs), bound(to_secs));
        let mut all = true;
        while !self.work.is_stopping() {
            let due = self.due(&lower, &upper)?;
            let Some(last) = due.last() else { return Ok(all) };
            lower = [last.entry_key.as_ref(), &[0]].concat();
            all &= self.expire(&table.name, expiry, &due)?;
        }
        Ok(false)
    }

    /// Returns the next entries from `lower` on. An item expires when the second in its attribute has passed.
    fn due(&self, lower: &[u8], upper: &[u8]) -> Result<Vec<Due>, Error> {
        let snapshot = self.store.latest();
        let entries = snapshot.range(Bound::Included(lower), Bound::Excluded(upper)).take(CHUNK);
        let due = entries.map(|entry| entry.map(|(entry_key, store_key)| Due { entry_key, store_key }));
        due.collect::<Result<_, _>>().map_err(|error| store_failed(&error))
    }

    /// Returns the first second from `from_secs` on in which an item expires.
    fn next_end(&self, table: &Table, expiry: &Expiry, from_secs: u64) -> Result<Option<u64>, Error> {
        let prefix = prefix(table.id, expiry.number);
        let lower = [prefix.as_slice(), &from_secs.to_be_bytes()].concat();
        let upper = key_space::after_prefix(&prefix);
        let upper = upper.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let first = self.store.latest().range(Bound::Included(&lower), upper).next().transpose();
        let first = first.map_err(|error| store_failed(&error))?;
        Ok(first.and_then(|(key, _)| key.get(prefix.len()..)?.first_chunk().map(|secs| u64::from_be_bytes(*secs))))
    }

    /// Deletes the items of `due`; returns whether none of them was part of a transaction in flight.
    fn expire(&self, name: &str, expiry: &Expiry, due: &[Due]) -> Result<bool, Error> {
        let catalog = self.catalog.read();
        let is_same = |table: &&std::sync::Arc<Table>| {
            table.expiry.as_ref().is_some_and(|current| current.number == expiry.number)
        };
        let Some(table) = catalog.find(name).filter(is_same) else { return Ok(true) };
        let guard = self.locks.lock_all(due.iter().map(|due| due.store_key.as_ref()));
        let mut batch = Batch::new();
        let free: Vec<&Due> = due.iter().filter(|due| !self.in_flight.contains(&due.store_key)).collect();
        // Read everything before staging anything: staging updates the statistics and cannot be undone.
        let items = free.iter().map(|due| self.newest(&due.store_key)).collect::<Result<Vec<_>, _>>()?;
        for (due, item) in free.iter().zip(&items) {
            self.stage_expired(&mut batch, table, expiry, due, item.as_ref());
        }
        let commit = self.commit_changes(batch, [table.as_ref()]);
        drop(guard);
        drop(catalog);
        commit.wait().map_err(|error| store_failed(&error))?;
        Ok(free.len() == due.len())
    }

    /// Stages the deletion of an item if it still expires at the time of the entry; otherwise deletes the stale entry.
    fn stage_expired(&self, batch: &mut Batch, table: &Table, expiry: &Expiry, due: &Due, newest: Option<&Item>) {
        let item = newest.filter(|item| {
            let secs = expiry_secs(item, &expiry.attribute);
            let key_values = item_key::values_of_item(&table.key, item);
            secs.is_some_and(|secs| entry_key(table.id, expiry, secs, &key_values) == due.entry_key)
        });
        let Some(item) = item else {
            return batch.delete(due.entry_key.clone());
        };
        let change = Change {
            table,
            key: &ItemKey::of_stored(table, item),
            old: Some(item),
            new: None,
            identity: Some(UserIdentity::TimeToLive),
            at_ms: self.now_ms(),
        };
        change.stage(batch);
    }
}
