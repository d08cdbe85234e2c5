//! Stores with faults.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use keyform::execute::BoxFuture;
use keyform::{Error, Execute, Operation, Output};
use keyform_core::error::{CancellationReason, transaction};

/// A store that stops answering after a number of requests, as a killed process sees it.
pub struct Mortal {
    store: Arc<dyn Execute>,
    left: AtomicI64,
}

impl Mortal {
    /// Number of requests that it answers.
    #[must_use]
    pub fn new(store: Arc<dyn Execute>, requests: i64) -> Self {
        Self { store, left: AtomicI64::new(requests) }
    }

    /// Returns whether it has stopped answering.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.left.load(Ordering::SeqCst) < 0
    }
}

impl Execute for Mortal {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        if self.left.fetch_sub(1, Ordering::SeqCst) <= 0 {
            return Box::pin(async { Err(Error::internal("killed")) });
        }
        self.store.execute(operation)
    }
}

/// A store on which every n-th transaction meets a conflict.
pub struct Contended {
    store: Arc<dyn Execute>,
    every: u64,
    seen: AtomicU64,
}

impl Contended {
    /// Every `every`-th transaction is cancelled by a conflict and changes nothing.
    #[must_use]
    pub fn new(store: Arc<dyn Execute>, every: u64) -> Self {
        Self { store, every, seen: AtomicU64::new(0) }
    }
}

impl Execute for Contended {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        let Operation::TransactWriteItems(write) = &operation else { return self.store.execute(operation) };
        if !(self.seen.fetch_add(1, Ordering::SeqCst) + 1).is_multiple_of(self.every) {
            return self.store.execute(operation);
        }
        let reasons = write.actions.iter().map(|_| conflict()).collect();
        Box::pin(async { Err(transaction::cancelled(reasons)) })
    }
}

fn conflict() -> CancellationReason {
    transaction::reason(&transaction::conflict())
}

/// A store that applies every n-th write but loses its answer.
pub struct Lossy {
    store: Arc<dyn Execute>,
    every: u64,
    seen: AtomicU64,
}

impl Lossy {
    /// The answer to every `every`-th write is lost.
    #[must_use]
    pub fn new(store: Arc<dyn Execute>, every: u64) -> Self {
        Self { store, every, seen: AtomicU64::new(0) }
    }
}

impl Execute for Lossy {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        let is_write = matches!(
            operation,
            Operation::TransactWriteItems(_)
                | Operation::PutItem(_)
                | Operation::UpdateItem(_)
                | Operation::DeleteItem(_)
        );
        if !is_write || !(self.seen.fetch_add(1, Ordering::SeqCst) + 1).is_multiple_of(self.every) {
            return self.store.execute(operation);
        }
        Box::pin(async move {
            self.store.execute(operation).await?;
            Err(Error::internal("the answer was lost"))
        })
    }
}
