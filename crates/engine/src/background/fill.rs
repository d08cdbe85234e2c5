//! New indexes and new times of expiry: a walk over the items that were there before.
//!
//! From the moment the catalog has a new index, every write maintains it. The walk adds what is missing: it goes from key to
//! key in small chunks, locks a chunk's keys, reads the newest items and writes their entries. Whatever a writer does before
//! or after a chunk, the entry is the one of the newest item; writing it twice does no harm, so a walk that was cut off by a
//! restart begins anew.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use keyform_core::table::Status;
use keyform_core::{Error, Item};

use super::for_all;
use crate::catalog::{Expiry, Index, IndexKind, Table, load};
use crate::change::Entry;
use crate::engine::{Engine, store_failed};
use crate::expiry;
use crate::layout::{self, IndexId, TableId};
use crate::store::Batch;

/// How many items a chunk has at the most.
const CHUNK_ITEMS: usize = 256;
/// How many bytes a chunk has, roughly.
const CHUNK_BYTES: usize = 1 << 20;

impl Engine {
    /// Fills the indexes that are being made.
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

    /// Gives the items that were there before expiry was switched on their times.
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

    /// Takes the indexes out that are being removed.
    pub(super) fn remove_indexes(&self) -> Result<(), Error> {
        for_all(self.tables_where(|table| table.indexes.iter().any(is_deleting)), |table| {
            let mut catalog = self.catalog.write();
            let Some(table) = catalog.find(&table.name).filter(|found| found.id == table.id) else { return Ok(()) };
            let mut table = Table::clone(table);
            let mut batch = Batch::new();
            for index in table.indexes.iter().filter(|index| is_deleting(index)) {
                load::stage_garbage(&mut batch, &layout::index_prefix(table.id, index.id));
                self.work.remove_uncounted((table.id, index.id));
            }
            table.indexes.retain(|index| !is_deleting(index));
            table.drop_unused_attributes();
            let commit = self.save_table(&mut catalog, table, batch)?;
            drop(catalog);
            commit.wait().map(drop).map_err(|error| store_failed(&error))
        })
    }

    /// The tables that are so.
    pub(crate) fn tables_where(&self, is_so: impl Fn(&Table) -> bool) -> Vec<Arc<Table>> {
        self.catalog.read().iter().filter(|table| is_so(table)).cloned().collect()
    }

    /// Changes a table, if it is still there.
    fn change_table(&self, name: &str, id: TableId, change: impl FnOnce(&mut Table)) -> Result<(), Error> {
        let mut catalog = self.catalog.write();
        let Some(table) = catalog.find(name).filter(|table| table.id == id) else { return Ok(()) };
        let mut table = Table::clone(table);
        change(&mut table);
        let commit = self.save_table(&mut catalog, table, Batch::new())?;
        drop(catalog);
        commit.wait().map(drop).map_err(|error| store_failed(&error))
    }

    /// Shows `visit` the newest state of each item of a table, under the item's lock, with its key and the batch to add to.
    /// Tells whether it came to the end.
    fn visit_items(
        &self,
        name: &str,
        id: TableId,
        visit: impl Fn(&Table, &Item, &[u8], &mut Batch) -> ControlFlow<()>,
    ) -> Result<bool, Error> {
        let mut after = layout::index_prefix(id, IndexId::BASE);
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
        let upper = layout::after_prefix(&layout::index_prefix(id, IndexId::BASE));
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
