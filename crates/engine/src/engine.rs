//! The engine: what all operations share, and the way of each.

use std::sync::Arc;

use keyform_core::{Error, Operation, Output};
use parking_lot::RwLock;

use crate::catalog::Catalog;
use crate::env::Env;
use crate::lock::{InFlight, InFlightMarks, KeyLocks};
use crate::store::{Batch, Commit, Snapshot, Store, StoreError};

/// The database without its background work.
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) catalog: RwLock<Catalog>,
    pub(crate) locks: KeyLocks,
    pub(crate) in_flight: InFlight,
    pub(crate) env: Arc<dyn Env>,
    pub(crate) settings: Settings,
}

/// What the engine says of itself in ARNs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The region in ARNs.
    pub region: String,
    /// The account in ARNs.
    pub account: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self { region: "us-east-1".to_owned(), account: "000000000000".to_owned() }
    }
}

/// How far an operation has come when the engine has decided it.
pub enum Step {
    /// It is done.
    Done(Output),
    /// The answer stands, but what it rests on is not durable yet.
    Waiting(Waiting),
}

/// An answer that may be given once the commit is durable.
pub struct Waiting {
    /// What to wait for.
    pub commit: Commit,
    /// What to answer then.
    pub answer: Result<Output, Error>,
    /// The marks of a transaction, which end with it.
    pub marks: Option<InFlightMarks>,
}

impl Step {
    pub(crate) fn after(commit: Commit, output: Output) -> Self {
        Self::Waiting(Waiting { commit, answer: Ok(output), marks: None })
    }
}

impl Engine {
    /// Decides an operation. Never waits for the disk to sync; may read from it.
    ///
    /// # Errors
    /// The service's.
    pub fn begin(&self, operation: Operation) -> Result<Step, Error> {
        match operation {
            Operation::PutItem(request) => self.put_item(request),
            Operation::UpdateItem(request) => self.update_item(request),
            Operation::DeleteItem(request) => self.delete_item(request),
            Operation::BatchWriteItem(request) => self.batch_write_item(request),
            Operation::TransactWriteItems(request) => self.transact_write_items(request),
            Operation::GetItem(request) => self.get_item(&request).map(Output::GetItem).map(Step::Done),
            Operation::Query(request) => self.query(&request).map(Output::Page).map(Step::Done),
            Operation::Scan(request) => self.scan(&request).map(Output::Page).map(Step::Done),
            Operation::BatchGetItem(request) => self.batch_get_item(&request).map(Output::BatchGetItem).map(Step::Done),
            Operation::TransactGetItems(request) => {
                self.transact_get_items(&request).map(Output::TransactGetItems).map(Step::Done)
            }
            other => self.begin_other(other),
        }
    }

    /// The engine on a store.
    ///
    /// # Errors
    /// When the store's catalog cannot be read.
    pub fn open(store: Store, env: Arc<dyn Env>, settings: Settings) -> Result<Self, Error> {
        Ok(Self {
            store,
            catalog: RwLock::default(),
            locks: KeyLocks::default(),
            in_flight: InFlight::default(),
            env,
            settings,
        })
    }

    /// Makes everything durable and lets go of the store.
    ///
    /// # Errors
    /// When the last sync fails.
    pub fn close(&self) -> Result<(), StoreError> {
        self.store.close()
    }

    fn begin_other(&self, _operation: Operation) -> Result<Step, Error> {
        Err(keyform_core::error::table::resource_not_found())
    }

    /// What readers see.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.store.snapshot()
    }

    /// An answer that rests on what is in the store's order already, durable or not.
    pub(crate) fn after_all_before(&self, answer: Result<Output, Error>) -> Step {
        let commit = self.store.commit(Batch::new());
        Step::Waiting(Waiting { commit, answer, marks: None })
    }
}

/// A store's failure as the wire tells it: the cause goes to the log, the caller learns what to do.
pub fn store_failed(error: &StoreError) -> Error {
    Error::internal(format!("the store failed: {error}"))
}
