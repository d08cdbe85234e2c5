//! The one door into a store: an operation goes in, an output or an error comes out.

use std::future::Future;
use std::pin::Pin;

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
}
