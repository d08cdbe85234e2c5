//! A store that counts its requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use keyform::execute::BoxFuture;
use keyform::{Error, Execute, Operation, Output};

/// A store that counts its requests.
pub struct Counting {
    store: Arc<dyn Execute>,
    requests: AtomicU64,
}

impl Counting {
    /// Wraps a store, with a count of zero.
    #[must_use]
    pub fn new(store: Arc<dyn Execute>) -> Self {
        Self { store, requests: AtomicU64::new(0) }
    }

    /// Returns the number of requests since the last call.
    pub fn take(&self) -> u64 {
        self.requests.swap(0, Ordering::SeqCst)
    }
}

impl Execute for Counting {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        // A runner looks at the accepted model by the clock and not by the call.
        let looks = matches!(&operation, Operation::GetItem(get) if get.table == "keyform-models");
        self.requests.fetch_add(u64::from(!looks), Ordering::SeqCst);
        self.store.execute(operation)
    }
}
