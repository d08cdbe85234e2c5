//! Remote store for a server whose threads have their own runtimes. All requests go through one runtime that outlives
//! them, so that a connection does not end with the thread that opened it.

use keyform::aws::Remote;
use keyform::execute::BoxFuture;
use keyform::{Error, Execute, Operation, Output};
use tokio::runtime::{Handle, Runtime};
use tokio::task::JoinSet;

use crate::config::Config;
use crate::failure::Failure;
use crate::open_store;

/// Remote store on a dedicated runtime.
pub(crate) struct RemoteStore {
    remote: Remote,
    runtime: Handle,
}

impl RemoteStore {
    /// Connects according to the settings.
    pub(crate) fn connect(runtime: &Runtime, config: &Config) -> Result<Self, Failure> {
        Ok(Self { remote: runtime.block_on(open_store::remote(config))?, runtime: runtime.handle().clone() })
    }
}

impl Execute for RemoteStore {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        let broken = || Err(Error::internal("the request to the store was interrupted"));
        let (remote, writes) = (self.remote.clone(), operation.writes());
        let work = async move { remote.execute(operation).await };
        if writes {
            // A started write continues without its caller, so that the SDK determines whether it was applied (ADR
            // 0017).
            let work = self.runtime.spawn(work);
            return Box::pin(async move { work.await.unwrap_or_else(|_| broken()) });
        }
        // A read is cancelled with its caller, so that a frozen store does not accumulate requests of callers that have
        // left.
        let mut reading = JoinSet::new();
        reading.spawn_on(work, &self.runtime);
        Box::pin(async move { reading.join_next().await.and_then(Result::ok).unwrap_or_else(broken) })
    }
}
