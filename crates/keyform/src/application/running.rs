//! Running jobs and handlers of an application.

use std::sync::Arc;

use keyform_core::World;
use keyform_core::world::Ticks;
use keyform_flow::Job;
use keyform_live::handle::{HandleError, RunningHandlers};
use keyform_runtime::run::RunError;
use tokio::task::JoinSet;

use super::Application;

/// Running jobs and handlers. Dropping it stops them.
pub struct RunningApplication {
    jobs: JoinSet<()>,
    handlers: Option<RunningHandlers>,
}

impl RunningApplication {
    pub(super) async fn start(application: &Application) -> Result<Self, HandleError> {
        application.make_tables().await.map_err(unmade)?;
        let handlers = application.handlers.clone();
        let handlers = if handlers.is_empty() { None } else { Some(handlers.start().await?) };
        let mut jobs = JoinSet::new();
        for job in &application.jobs {
            jobs.spawn(repeat(application.world().clone(), application.name().to_owned(), job.clone()));
        }
        Ok(Self { jobs, handlers })
    }

    /// Stops jobs and handlers. Handlers release their leases, so that other instances can continue immediately.
    pub async fn stop(mut self) {
        self.jobs.shutdown().await;
        if let Some(handlers) = self.handlers {
            handlers.stop().await;
        }
    }
}

impl std::fmt::Debug for RunningApplication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningApplication").field("jobs", &self.jobs.len()).finish_non_exhaustive()
    }
}

/// Converts a failure to create tables to a handler error.
fn unmade(error: RunError) -> HandleError {
    match error {
        RunError::Store(error) => HandleError::Store(error),
        other => HandleError::Store(keyform_core::Error::internal(other.to_string())),
    }
}

/// Runs a job periodically. A run that takes longer than the period delays the next one and causes no burst.
async fn repeat(world: Arc<dyn World>, application: String, job: Job) {
    let mut ticks = Ticks::at_once(world, job.period());
    loop {
        ticks.tick().await;
        let mut run = JoinSet::new();
        let this = job.clone();
        run.spawn(async move { this.run().await });
        match run.join_next().await {
            Some(Ok(Ok(done))) if done.is_empty() => tracing::debug!(application, job = job.name(), "nothing to do"),
            Some(Ok(Ok(done))) => tracing::info!(application, job = job.name(), "{done}"),
            Some(Ok(Err(error))) => {
                tracing::warn!(application, job = job.name(), "failed; retrying at the next run: {error}")
            }
            Some(Err(panic)) => tracing::error!(application, job = job.name(), "panicked: {panic}"),
            None => {}
        }
    }
}
