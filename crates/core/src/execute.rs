//! The interface of a store: an operation goes in, an output or an error comes out. A store may
//! also notify about changes.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::operation::{Request, SequenceNumber};
use crate::{Error, Operation, Output};

/// Boxed future, so that [`Execute`] is object-safe.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs operations: the embedded engine, or a client of a remote DynamoDB endpoint.
pub trait Execute: Send + Sync {
    /// Runs one operation to completion. A write is durable when the future resolves.
    ///
    /// # Errors
    /// DynamoDB's errors, with DynamoDB's messages.
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>>;

    /// Returns the change notifier, or `None` if changes can only be found by polling.
    fn watch(&self) -> Option<&dyn Watch> {
        None
    }

    /// Returns whether a Query of a global index finds all earlier writes. DynamoDB guarantees this for the table's
    /// own key only. If it does not, a cascading delete must look for dependents again later (ADR 0020).
    fn indexes_keep_up(&self) -> bool {
        false
    }
}

/// Typed requests, on every store.
pub trait ExecuteExt: Execute {
    /// Runs one request to completion and returns its response. A write is durable when the future resolves.
    ///
    /// ```
    /// use keyform_core::execute::{Execute, ExecuteExt};
    /// use keyform_core::operation::ListTables;
    ///
    /// async fn count(store: &dyn Execute) -> Result<usize, keyform_core::Error> {
    ///     Ok(store.call(ListTables::default()).await?.tables.len())
    /// }
    /// ```
    ///
    /// # Errors
    /// DynamoDB's errors, with DynamoDB's messages.
    fn call<R: Request>(&self, request: R) -> impl Future<Output = Result<R::Output, Error>> + Send + '_ {
        let answer = self.execute(request.into());
        async move { R::from_output(answer.await?) }
    }
}

impl<E: Execute + ?Sized> ExecuteExt for E {}

/// Delegates to the shared store.
impl<E: Execute + ?Sized> Execute for Arc<E> {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        self.as_ref().execute(operation)
    }

    fn watch(&self) -> Option<&dyn Watch> {
        self.as_ref().watch()
    }

    fn indexes_keep_up(&self) -> bool {
        self.as_ref().indexes_keep_up()
    }
}

/// A store that notifies about changes.
pub trait Watch: Send + Sync {
    /// Returns the current position in all streams of the store: every change readable now is at or before it, every
    /// later change after it.
    fn latest(&self) -> SequenceNumber;

    /// Resolves once there may be changes after `since`. It may resolve without one, so callers must check.
    fn changed(&self, since: SequenceNumber) -> BoxFuture<'_, ()>;
}
