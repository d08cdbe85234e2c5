//! The one door into a store: an operation goes in, an output or an error comes out. A store that can, says when it has changed.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::operation::SequenceNumber;
use crate::{Error, Operation, Output};

/// A future in a box, so that [`Execute`] can be a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Something that runs operations: the embedded engine, or a DynamoDB endpoint somewhere else.
pub trait Execute: Send + Sync {
    /// Runs one operation to its end; a write is durable when the future is ready.
    ///
    /// # Errors
    /// The service's errors, with the service's texts.
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>>;

    /// How to learn of changes without asking again and again; nothing where asking is all one can do.
    fn watch(&self) -> Option<&dyn Watch> {
        None
    }

    /// Whether a Query of a global index finds what was written before it. DynamoDB promises that only of the table's own key.
    fn indexes_keep_up(&self) -> bool {
        false
    }
}

/// A store that several share runs what each of them asks for.
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

/// A store that says when it has changed.
pub trait Watch: Send + Sync {
    /// The place in all streams of the store that everything readable now comes before, and every later change after.
    fn latest(&self) -> SequenceNumber;

    /// Ready once there may be changes after that place.
    fn changed(&self, since: SequenceNumber) -> BoxFuture<'_, ()>;
}
