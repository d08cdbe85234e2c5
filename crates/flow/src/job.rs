//! Periodic jobs of an application.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use keyform_core::execute::BoxFuture;

/// Periodic job. Every instance of a program runs it, and an interrupted run is left to the next one, so the job must
/// be idempotent.
#[derive(Clone)]
pub struct Job {
    name: &'static str,
    every: Duration,
    run: Arc<dyn Fn() -> BoxFuture<'static, Result<String, String>> + Send + Sync>,
}

impl Job {
    /// Creates a job that runs at startup and then once per period. `run` returns a summary for the log; an empty one
    /// is not logged.
    #[must_use]
    pub fn every<F, W, E>(every: Duration, name: &'static str, run: F) -> Self
    where
        F: Fn() -> W + Send + Sync + 'static,
        W: Future<Output = Result<String, E>> + Send + 'static,
        E: fmt::Display,
    {
        let run = move || -> BoxFuture<'static, Result<String, String>> {
            let work = run();
            Box::pin(async { work.await.map_err(|error| error.to_string()) })
        };
        Self { name, every, run: Arc::new(run) }
    }

    /// Returns the name, which the log lines of the job carry.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the time between two runs.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.every
    }

    /// Runs the job once and returns its summary.
    ///
    /// # Errors
    /// The reason of the failure, for the log. The next run retries.
    pub async fn run(&self) -> Result<String, String> {
        (self.run)().await
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("name", &self.name).field("every", &self.every).finish_non_exhaustive()
    }
}
