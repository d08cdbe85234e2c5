//! What an application does again and again.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use keyform_core::execute::BoxFuture;

/// Something that is done again and again. Every copy of a program does it, and a copy that stops in the middle leaves the rest to the next time: its
/// effect must be the same whether it is done once or twice.
#[derive(Clone)]
pub struct Job {
    name: &'static str,
    every: Duration,
    run: Arc<dyn Fn() -> BoxFuture<'static, Result<String, String>> + Send + Sync>,
}

impl Job {
    /// Does `run` at the start and then once in each period. The answer says what was done, for the log; an empty one is not logged.
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

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The time from one run to the next.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.every
    }

    /// Does it once; what was done.
    ///
    /// # Errors
    /// Why it failed, for the log. The next run tries again.
    pub async fn run(&self) -> Result<String, String> {
        (self.run)().await
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("name", &self.name).field("every", &self.every).finish_non_exhaustive()
    }
}
