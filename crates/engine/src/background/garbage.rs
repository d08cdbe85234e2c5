//! Keys that nobody needs any more: those of removed tables, indexes, shards and times of expiry.
//!
//! Whoever removes such a thing notes its prefix in the same commit. Here the keys are dropped once that commit is durable.

use keyform_core::Error;

use super::for_all;
use crate::catalog::load;
use crate::engine::{Engine, store_failed};
use crate::store::Batch;

/// Up to so many keys are deleted one by one; the store remembers a dropped prefix until all its files are rewritten.
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

    /// Puts the deletion of all keys with the prefix into the batch, unless they are too many.
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
