//! Operations on tables. Each changes the catalog under its write lock, commits the new record to the store, and
//! responds when the commit is durable (ADR 0004).

mod arn;
mod create;
mod delete;
mod describe;
mod limits;
mod list;
mod tags;
mod time_to_live;
mod update;

pub(crate) use arn::{stream_arn, stream_label, table_arn_prefix};

use std::sync::atomic::Ordering;

use keyform_core::Error;

use crate::catalog::{Catalog, Table, load};
use crate::engine::{Engine, store_failed};
use crate::store::{Batch, Commit};

impl Engine {
    /// Commits a table's record and adds the table to the catalog.
    ///
    /// # Errors
    /// When the store rejects the record; the catalog is then unchanged.
    pub(crate) fn save_table(&self, catalog: &mut Catalog, table: Table, mut batch: Batch) -> Result<Commit, Error> {
        load::stage_table(&mut batch, &table);
        let commit = self.accepted(batch)?;
        catalog.insert(table);
        Ok(commit)
    }

    /// Commits a change of the catalog. The store must accept it before it is applied in memory.
    pub(crate) fn accepted(&self, batch: Batch) -> Result<Commit, Error> {
        let commit = self.store.commit(batch);
        match commit.seqno() {
            Some(seqno) => {
                self.catalog_seqno.store(seqno, Ordering::Release);
                Ok(commit)
            }
            None => commit.wait().map_err(|error| store_failed(&error)).and(Err(refused())),
        }
    }
}

fn refused() -> Error {
    Error::internal("the store rejected a change of the catalog: check its health and reopen it")
}
