//! A store behind an endpoint, for a server whose threads have runtimes of their own: requests to the store go through one runtime that
//! outlives them, so that a connection never ends with the thread that happened to open it.

use keyform::aws::Remote;
use keyform::execute::BoxFuture;
use keyform::{Error, Execute, Operation, Output};
use tokio::runtime::{Handle, Runtime};
use tokio::task::JoinSet;

use crate::config::Config;
use crate::failure::Failure;
use crate::place;

/// A store behind an endpoint.
pub(crate) struct Elsewhere {
    remote: Remote,
    runtime: Handle,
}

impl Elsewhere {
    /// Connects as the settings say.
    pub(crate) fn connect(runtime: &Runtime, config: &Config) -> Result<Self, Failure> {
        Ok(Self { remote: runtime.block_on(place::remote(config))?, runtime: runtime.handle().clone() })
    }
}

impl Execute for Elsewhere {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        let broken = || Err(Error::internal("the request to the store broke off"));
        let (remote, writes) = (self.remote.clone(), operation.writes());
        let work = async move { remote.execute(operation).await };
        if writes {
            // A write that was begun goes on without its caller, so that its SDK settles whether it was applied.
            let work = self.runtime.spawn(work);
            return Box::pin(async move { work.await.unwrap_or_else(|_| broken()) });
        }
        // A read ends with its caller: nothing waits for a frozen store on behalf of callers that have left.
        let mut reading = JoinSet::new();
        reading.spawn_on(work, &self.runtime);
        Box::pin(async move { reading.join_next().await.and_then(Result::ok).unwrap_or_else(broken) })
    }
}
