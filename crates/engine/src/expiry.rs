//! Expiry (TTL): an index of items by the time at which they end, and the sweep that deletes them.

use std::ops::Bound;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use keyform_core::operation::UserIdentity;
use keyform_core::{Error, Item};

use crate::background::for_all;
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
        expiry.earliest_secs.fetch_min(secs, Ordering::AcqRel);
        let key = entry_key(change.table.id, expiry, secs, change.key.values());
        batch.put(key, change.key.store_key.clone());
    }
}

/// Adds the entry of an item that was there before expiry was switched on.
pub(crate) fn stage_existing(batch: &mut Batch, table: &Table, item: &Item, store_key: &[u8]) {
    let Some(expiry) = &table.expiry else { return };
    if let Some(secs) = expiry_secs(item, &expiry.attribute) {
        expiry.earliest_secs.fetch_min(secs, Ordering::AcqRel);
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
        for_all(self.tables_where(|table| table.expiry.is_some()), |table| match &table.expiry {
            Some(expiry) => self.expire_items_of(&table, expiry, now_secs),
            None => Ok(()),
        })
    }

    /// Looks only where something may be: from the earliest end that a writer noted to the second that is over.
    fn expire_items_of(&self, table: &Table, expiry: &Expiry, now_secs: u64) -> Result<(), Error> {
        if expiry.earliest_secs.load(Ordering::Acquire) >= now_secs {
            return Ok(());
        }
        let earliest_secs = expiry.earliest_secs.swap(u64::MAX, Ordering::AcqRel);
        // Writers that noted an earlier end have committed it when this lock is had; later ones note it anew.
        drop(self.catalog.write());
        let done =
            self.expire_between(table, expiry, earliest_secs.max(now_secs.saturating_sub(OLDEST_SECS)), now_secs);
        let next = match done {
            Ok(true) => self.next_end(table, expiry, now_secs),
            Ok(false) => Ok(Some(earliest_secs)),
            Err(error) => Err(error),
        };
        // Where something is left, or could not be read, the next sweep looks at all of it again.
        let next_secs = next.as_ref().map_or(Some(earliest_secs), |next_secs| *next_secs);
        expiry.earliest_secs.fetch_min(next_secs.unwrap_or(u64::MAX), Ordering::AcqRel);
        next.map(drop)
    }

    /// Deletes the items that end between two seconds; tells whether it found all of them free.
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

    /// The next entries from `lower` on; an item ends when the second it names is over.
    fn due(&self, lower: &[u8], upper: &[u8]) -> Result<Vec<Due>, Error> {
        let snapshot = self.store.latest();
        let entries = snapshot.range(Bound::Included(lower), Bound::Excluded(upper)).take(CHUNK);
        let due = entries.map(|entry| entry.map(|(entry_key, store_key)| Due { entry_key, store_key }));
        due.collect::<Result<_, _>>().map_err(|error| store_failed(&error))
    }

    /// The first second from `from_secs` on in which an item ends.
    fn next_end(&self, table: &Table, expiry: &Expiry, from_secs: u64) -> Result<Option<u64>, Error> {
        let prefix = prefix(table.id, expiry.number);
        let lower = [prefix.as_slice(), &from_secs.to_be_bytes()].concat();
        let upper = layout::after_prefix(&prefix);
        let upper = upper.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let first = self.store.latest().range(Bound::Included(&lower), upper).next().transpose();
        let first = first.map_err(|error| store_failed(&error))?;
        Ok(first.and_then(|(key, _)| key.get(prefix.len()..)?.first_chunk().map(|secs| u64::from_be_bytes(*secs))))
    }

    /// Deletes what is due; tells whether none of it was in a transaction.
    fn expire(&self, name: &str, expiry: &Expiry, due: &[Due]) -> Result<bool, Error> {
        let catalog = self.catalog.read();
        let is_same = |table: &&std::sync::Arc<Table>| {
            table.expiry.as_ref().is_some_and(|current| current.number == expiry.number)
        };
        let Some(table) = catalog.find(name).filter(is_same) else { return Ok(true) };
        let guard = self.locks.lock_all(due.iter().map(|due| due.store_key.as_ref()));
        let mut batch = Batch::new();
        let free: Vec<&Due> = due.iter().filter(|due| !self.in_flight.contains(&due.store_key)).collect();
        // Everything is read before anything is staged: what is staged counts in the statistics.
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

    /// Deletes an item if it still ends at the time of the entry; an entry without its item goes alone.
    fn stage_expired(&self, batch: &mut Batch, table: &Table, expiry: &Expiry, due: &Due, newest: Option<&Item>) {
        let item = newest.filter(|item| {
            let secs = expiry_secs(item, &expiry.attribute);
            let key_values = key::values_of_item(&table.key, item);
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
            at_ms: self.env.now_ms(),
        };
        change.stage(batch);
    }
}
