//! A store behind an endpoint, for a server whose threads have runtimes of their own: requests to the store go through one runtime that
//! outlives them, so that a connection never ends with the thread that happened to open it.

use keyform::aws::Remote;
use keyform::execute::BoxFuture;
use keyform::{Error, Execute, Operation, Output};
use tokio::runtime::{Handle, Runtime};

use crate::config::Config;
use crate::place;

/// A store behind an endpoint.
pub(crate) struct Elsewhere {
    remote: Remote,
    runtime: Handle,
}

impl Elsewhere {
    /// Connects as the settings say.
    pub(crate) fn connect(runtime: &Runtime, config: &Config) -> Self {
        Self { remote: runtime.block_on(place::remote(config)), runtime: runtime.handle().clone() }
    }
}

impl Execute for Elsewhere {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        let remote = self.remote.clone();
        let work = self.runtime.spawn(async move { remote.execute(operation).await });
        Box::pin(async { work.await.unwrap_or_else(|_| Err(Error::internal("the request to the store broke off"))) })
    }
}
