//! Recount of unknown statistics (after an unclean shutdown, or of an index just backfilled) while writes continue.
//!
//! While all writers are locked out for a moment, the task reads the counters and takes a snapshot. It then counts the
//! snapshot and adds the difference between that count and the noted counters to the current counters.

use std::sync::Arc;

use keyform_core::{Error, Item};

use super::for_all;
use crate::catalog::{Statistics, load};
use crate::engine::{Engine, store_failed};
use crate::key_space::{self, IndexId, TableId};
use crate::read::decoded;
use crate::store::Snapshot;

impl Engine {
    pub(super) fn recount(&self) -> Result<(), Error> {
        for_all(self.work.uncounted(), |which| {
            if !self.work.is_stopping() && self.recount_one(which)? {
                self.work.remove_uncounted(which);
            }
            Ok(())
        })
    }

    /// Counts one table or index; returns whether it reached the end.
    fn recount_one(&self, (table, index): (TableId, IndexId)) -> Result<bool, Error> {
        let Some((statistics, snapshot, noted)) = self.note(table, index) else { return Ok(true) };
        let (mut items, mut bytes) = (0, 0);
        for entry in load::prefixed(&snapshot, &key_space::index_prefix(table, index)) {
            let (_, value) = entry.map_err(|error| store_failed(&error))?;
            items += 1;
            bytes += decoded(value).as_ref().map(Item::size).map_err(Clone::clone)? as i64;
            if items % 1024 == 0 && self.work.is_stopping() {
                return Ok(false);
            }
        }
        statistics.add(items - noted.0, bytes - noted.1);
        Ok(true)
    }

    fn note(&self, table: TableId, index: IndexId) -> Option<(Arc<Statistics>, Snapshot, (i64, i64))> {
        let catalog = self.catalog.read();
        let table = catalog.iter().find(|one| one.id == table)?;
        let statistics = match index {
            IndexId::BASE => &table.statistics,
            index => &table.index_by_id(index)?.statistics,
        };
        let _everything = self.locks.lock_everything();
        Some((Arc::clone(statistics), self.store.latest(), statistics.counters()))
    }
}
