//! Backfill of new indexes and of newly enabled expiry from the existing items.
//!
//! Writers maintain a new index as soon as it is in the catalog. The backfill adds the entries of older items: it
//! iterates over the keys in small chunks, locks the keys of a chunk, reads the newest items and writes their entries.
//! Because of the locks, an entry always matches the newest item, and writing it twice is harmless. A backfill that was
//! interrupted by a restart therefore starts again from the beginning (ADR 0004).

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use keyform_core::table::Status;
use keyform_core::{Error, Item};

use super::for_all;
use crate::catalog::{Expiry, Index, IndexKind, Table, load};
use crate::change::Entry;
use crate::engine::{Engine, store_failed};
use crate::expiry;
use crate::key_space::{self, IndexId, TableId};
use crate::store::Batch;

/// Maximum number of items in a chunk.
const CHUNK_ITEMS: usize = 256;
/// Approximate maximum size of a chunk.
const CHUNK_BYTES: usize = 1 << 20;

impl Engine {
    /// Backfills the indexes with status CREATING.
    pub(super) fn fill_indexes(&self) -> Result<(), Error> {
        for_all(self.tables_where(|table| table.indexes.iter().any(is_creating)), |table| {
            let creating = table.indexes.iter().filter(|index| is_creating(index));
            for_all(creating, |index| self.fill_index(&table, index.id))
        })
    }

    fn fill_index(&self, table: &Table, id: IndexId) -> Result<(), Error> {
        let visit = |table: &Table, item: &Item, _: &[u8], batch: &mut Batch| {
            let index = table.index_by_id(id).filter(|index| is_creating(index));
            let Some(index) = index else { return ControlFlow::Break(()) };
            if let Some(entry) = Entry::of(table, index, item) {
                batch.put(entry.key, entry.item.as_bytes().clone());
            }
            ControlFlow::Continue(())
        };
        if !self.visit_items(&table.name, table.id, visit)? {
            return Ok(());
        }
        self.work.add_uncounted(table.id, id);
        self.change_table(&table.name, table.id, |table| {
            let index = table.indexes.iter_mut().find(|index| index.id == id && is_creating(index));
            if let Some(IndexKind::Global { status, backfilling, .. }) = index.map(|index| &mut index.kind) {
                *status = Status::Active;
                *backfilling = false;
            }
        })
    }

    /// Adds expiry entries for the items that existed before expiry was enabled.
    pub(super) fn fill_expiries(&self) -> Result<(), Error> {
        let unfilled = |table: &Table| table.expiry.as_ref().is_some_and(|expiry| !expiry.filled);
        for_all(self.tables_where(unfilled), |table| match &table.expiry {
            Some(expiry) => self.fill_expiry(&table, expiry),
            None => Ok(()),
        })
    }

    fn fill_expiry(&self, table: &Table, expiry: &Expiry) -> Result<(), Error> {
        let visit = |table: &Table, item: &Item, key: &[u8], batch: &mut Batch| {
            if table.expiry.as_ref().is_none_or(|current| current.number != expiry.number) {
                return ControlFlow::Break(());
            }
            expiry::stage_existing(batch, table, item, key);
            ControlFlow::Continue(())
        };
        if !self.visit_items(&table.name, table.id, visit)? {
            return Ok(());
        }
        self.change_table(&table.name, table.id, |table| {
            let current = table.expiry.as_mut().filter(|current| current.number == expiry.number);
            if let Some(current) = current {
                current.filled = true;
            }
        })
    }

    /// Removes the indexes with status DELETING from their tables.
    pub(super) fn remove_indexes(&self) -> Result<(), Error> {
        for_all(self.tables_where(|table| table.indexes.iter().any(is_deleting)), |table| {
            let mut catalog = self.catalog.write();
            let Some(table) = catalog.find(&table.name).filter(|found| found.id == table.id) else { return Ok(()) };
            let mut table = Table::clone(table);
            let mut batch = Batch::new();
            for index in table.indexes.iter().filter(|index| is_deleting(index)) {
                load::stage_garbage(&mut batch, &key_space::index_prefix(table.id, index.id));
                self.work.remove_uncounted((table.id, index.id));
            }
            table.indexes.retain(|index| !is_deleting(index));
            table.drop_unused_attributes();
            let commit = self.save_table(&mut catalog, table, batch)?;
            drop(catalog);
            commit.wait().map(drop).map_err(|error| store_failed(&error))
        })
    }

    pub(crate) fn tables_where(&self, is_so: impl Fn(&Table) -> bool) -> Vec<Arc<Table>> {
        self.catalog.read().iter().filter(|table| is_so(table)).cloned().collect()
    }

    /// Applies `change` to a table if the table still exists.
    fn change_table(&self, name: &str, id: TableId, change: impl FnOnce(&mut Table)) -> Result<(), Error> {
        let mut catalog = self.catalog.write();
        let Some(table) = catalog.find(name).filter(|table| table.id == id) else { return Ok(()) };
        let mut table = Table::clone(table);
        change(&mut table);
        let commit = self.save_table(&mut catalog, table, Batch::new())?;
        drop(catalog);
        commit.wait().map(drop).map_err(|error| store_failed(&error))
    }

    /// Calls `visit` with the newest state of each item of a table, its key and the batch to add to, under the item's
    /// lock. Returns whether it reached the end.
    fn visit_items(
        &self,
        name: &str,
        id: TableId,
        visit: impl Fn(&Table, &Item, &[u8], &mut Batch) -> ControlFlow<()>,
    ) -> Result<bool, Error> {
        let mut after = key_space::index_prefix(id, IndexId::BASE);
        while !self.work.is_stopping() {
            let keys = self.next_keys(id, &after)?;
            let Some(last) = keys.last() else { return Ok(true) };
            after.clone_from(last);
            if self.visit_chunk(name, id, &keys, &visit)?.is_break() {
                return Ok(false);
            }
        }
        Ok(false)
    }

    fn next_keys(&self, id: TableId, after: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let upper = key_space::after_prefix(&key_space::index_prefix(id, IndexId::BASE));
        let upper = upper.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut keys = Vec::new();
        let mut bytes = 0;
        for entry in self.store.latest().range(Bound::Excluded(after), upper) {
            let (key, value) = entry.map_err(|error| store_failed(&error))?;
            bytes += value.len();
            keys.push(key.to_vec());
            if keys.len() == CHUNK_ITEMS || bytes > CHUNK_BYTES {
                break;
            }
        }
        Ok(keys)
    }

    fn visit_chunk(
        &self,
        name: &str,
        id: TableId,
        keys: &[Vec<u8>],
        visit: &impl Fn(&Table, &Item, &[u8], &mut Batch) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let catalog = self.catalog.read();
        let Some(table) = catalog.find(name).filter(|table| table.id == id) else { return Ok(ControlFlow::Break(())) };
        let guard = self.locks.lock_all(keys.iter().map(Vec::as_slice));
        let mut batch = Batch::new();
        for key in keys {
            let Some(item) = self.newest(key)? else { continue };
            if visit(table, &item, key, &mut batch).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let commit = self.store.commit(batch);
        drop(guard);
        drop(catalog);
        commit.wait().map_err(|error| store_failed(&error))?;
        Ok(ControlFlow::Continue(()))
    }
}

fn is_creating(index: &Index) -> bool {
    matches!(index.kind, IndexKind::Global { status: Status::Creating, .. })
}

fn is_deleting(index: &Index) -> bool {
    matches!(index.kind, IndexKind::Global { status: Status::Deleting, .. })
}
