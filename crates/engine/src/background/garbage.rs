//! Deletion of obsolete keys: those of deleted tables, indexes, stream shards and expiry entries.
//!
//! An operation that makes keys obsolete records their prefix in the same commit. This task deletes the keys after that
//! commit is durable (ADR 0004).

use keyform_core::Error;

use super::for_all;
use crate::catalog::load;
use crate::engine::{Engine, store_failed};
use crate::store::Batch;

/// Up to this number, keys are deleted one by one. Retiring a prefix costs more: the store keeps the prefix until all
/// files with such keys are rewritten.
const DELETED_KEYS_MAX: usize = 1000;

impl Engine {
    pub(super) fn collect_garbage(&self) -> Result<(), Error> {
        for_all(load::garbage(&self.store.snapshot())?, |prefix| {
            if self.work.is_stopping() {
                return Ok(());
            }
            let mut batch = Batch::new();
            if !self.delete_few(&mut batch, &prefix)? {
                batch = Batch::new();
                self.store.retire_prefix(&prefix).map_err(|error| store_failed(&error))?;
            }
            load::stage_garbage_removal(&mut batch, &prefix);
            self.store.commit(batch).wait().map(drop).map_err(|error| store_failed(&error))
        })
    }

    /// Stages the deletion of all keys with the prefix; returns false if there are too many.
    fn delete_few(&self, batch: &mut Batch, prefix: &[u8]) -> Result<bool, Error> {
        for (count, entry) in load::prefixed(&self.store.latest(), prefix).enumerate() {
            if count == DELETED_KEYS_MAX {
                return Ok(false);
            }
            batch.delete(entry.map_err(|error| store_failed(&error))?.0);
        }
        Ok(true)
    }
}
