//! Registers the code of a model's handlers and runs it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use keyform_core::execute::BoxFuture;
use keyform_core::{Error, World};
use keyform_language::schema::Target;
use keyform_runtime::run::Runner;
use tokio::task::{JoinHandle, JoinSet};

use super::change::EntityChange;
use super::ledger::{DeadLetter, Lease, Ledger};
use super::letters::redrive_wanted;
use super::supervise::Supervisor;

type Handler = Arc<dyn Fn(EntityChange) -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// Settings of handlers.
#[derive(Clone, Debug)]
pub struct HandlerSettings {
    /// Name of the table for leases, checkpoints and dead letters.
    pub table: String,
    /// Start position in a table that no handler has read yet.
    pub begin: Begin,
    /// Attempts per change before it becomes a dead letter.
    pub attempts: u32,
    /// Delay after the first failed attempt. Doubles with each further one, up to a minute.
    pub backoff: Duration,
    /// Lifetime of a lease that is not renewed. The clocks of all instances must agree to within a third of it.
    pub lease: Duration,
    /// Polling interval for stores that cannot wake readers.
    pub poll: Duration,
}

/// Start position in a table that no handler has read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Oldest available change: nothing is missed.
    Beginning,
    /// First change after the start.
    Now,
}

impl Default for HandlerSettings {
    fn default() -> Self {
        Self {
            table: "keyform-checkpoints".to_owned(),
            begin: Begin::Beginning,
            attempts: 5,
            backoff: Duration::from_millis(200),
            lease: Duration::from_secs(15),
            poll: crate::feed::POLL,
        }
    }
}

/// Reason why handlers cannot run.
#[derive(Clone, Debug, PartialEq)]
pub enum HandleError {
    /// The model names a handler that has no code.
    Missing(String),
    /// Code was registered for a handler that the model does not name.
    Unknown(String),
    /// The store failed.
    Store(Error),
}

impl fmt::Display for HandleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => {
                write!(
                    f,
                    "nothing implements the handler `{name}`: register its code with `Handlers::on` or \
                    `Application::handler`, or remove `-> handler {name}` from the model"
                )
            }
            Self::Unknown(name) => {
                write!(f, "the model has no handler `{name}`: add `on ENTITY insert -> handler {name}`")
            }
            Self::Store(error) => write!(f, "{}: {}", error.code().name(), error.message()),
        }
    }
}

impl std::error::Error for HandleError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            Self::Missing(_) | Self::Unknown(_) => None,
        }
    }
}

impl From<Error> for HandleError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

/// Result of retrying dead letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redriven {
    /// Letters that the handler accepted; they are deleted.
    pub taken: usize,
    /// Letters that failed again; they are kept.
    pub kept: usize,
}

/// Code of a model's handlers.
///
/// ```
/// use keyform_live::handle::Handlers;
/// use keyform_runtime::run::Runner;
///
/// # async fn example(runner: Runner) -> Result<(), Box<dyn std::error::Error>> {
/// let running = Handlers::new(runner)
///     .on("notify", |change| async move {
///         println!("{} {:?}", change.id, change.new);
///         Ok(())
///     })
///     .start()
///     .await?;
/// # running.stop().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Handlers {
    runner: Runner,
    settings: HandlerSettings,
    code: BTreeMap<String, Handler>,
}

/// State shared by all readers.
pub(super) struct Shared {
    pub(super) runner: Runner,
    pub(super) settings: HandlerSettings,
    pub(super) ledger: Ledger,
    /// Unique name of this instance.
    pub(super) owner: String,
    code: BTreeMap<String, Handler>,
}

impl Handlers {
    /// Creates a registry without any code.
    #[must_use]
    pub fn new(runner: Runner) -> Self {
        Self { runner, settings: HandlerSettings::default(), code: BTreeMap::new() }
    }

    /// Replaces the default settings.
    #[must_use]
    pub fn with(mut self, settings: HandlerSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Registers the code of a handler. It may be called more than once for a change; [`EntityChange::id`] identifies
    /// repetitions. An error or a panic is retried.
    #[must_use]
    pub fn on<F, W>(mut self, handler: &str, code: F) -> Self
    where
        F: Fn(EntityChange) -> W + Send + Sync + 'static,
        W: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.code.insert(handler.to_owned(), Arc::new(move |change| Box::pin(code(change))));
        self
    }

    /// Returns whether neither code is registered nor the model names a handler.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let consumers = &self.runner.checked().model.consumers;
        self.code.is_empty() && !consumers.iter().any(|consumer| matches!(consumer.target, Target::Handler(_)))
    }

    /// Runs the handlers until the result is stopped or dropped.
    ///
    /// # Errors
    /// Returns an error if code and model do not name the same handlers, or the store fails.
    pub async fn start(self) -> Result<RunningHandlers, HandleError> {
        self.check()?;
        let shared = self.shared();
        shared.ledger.ensure(shared.world()).await?;
        let mut supervisors = JoinSet::new();
        for (table, entities) in shared.runner.tables() {
            let consumers = &shared.runner.checked().model.consumers;
            let is_here = |consumer: &keyform_language::schema::Consumer| {
                matches!(consumer.target, Target::Handler(_))
                    && consumer.entity.is_some_and(|entity| entities.contains(&entity))
            };
            if consumers.iter().any(is_here) {
                supervisors.spawn(Supervisor::new(shared.clone(), table, entities).run());
            }
        }
        supervisors.spawn(redrive_wanted(shared.clone()));
        let task = tokio::spawn(async move { while supervisors.join_next().await.is_some() {} });
        Ok(RunningHandlers { shared, task })
    }

    /// Checks that code and model name the same handlers, as [`Handlers::start`] does.
    ///
    /// # Errors
    /// Returns the first handler without code, or code without a handler.
    pub fn check(&self) -> Result<(), HandleError> {
        let consumers = &self.runner.checked().model.consumers;
        let names: Vec<&String> = consumers
            .iter()
            .filter_map(|consumer| if let Target::Handler(name) = &consumer.target { Some(name) } else { None })
            .collect();
        if let Some(name) = names.iter().find(|name| !self.code.contains_key(**name)) {
            return Err(HandleError::Missing((*name).clone()));
        }
        match self.code.keys().find(|name| !names.contains(name)) {
            Some(name) => Err(HandleError::Unknown(name.clone())),
            None => Ok(()),
        }
    }

    fn shared(&self) -> Arc<Shared> {
        let ledger = self.ledger();
        let owner = self.runner.fresh_id();
        let (runner, settings, code) = (self.runner.clone(), self.settings.clone(), self.code.clone());
        Arc::new(Shared { runner, settings, ledger, owner, code })
    }

    fn ledger(&self) -> Ledger {
        Ledger {
            store: self.runner.store().clone(),
            table: self.settings.table.clone(),
            model: self.runner.checked().model.name.clone(),
        }
    }

    /// Returns the changes that a handler could not process, oldest first.
    ///
    /// # Errors
    /// Returns an error if the store fails.
    pub async fn dead_letters(&self, handler: &str) -> Result<Vec<DeadLetter>, HandleError> {
        Ok(self.ledger().letters(handler).await?)
    }

    /// Retries the dead letters of a handler once each, oldest first. Deletes those that succeed.
    ///
    /// # Errors
    /// Returns an error if the handler has no code, or the store fails.
    pub async fn redrive(&self, handler: &str) -> Result<Redriven, HandleError> {
        if !self.code.contains_key(handler) {
            return Err(HandleError::Missing(handler.to_owned()));
        }
        let shared = self.shared();
        let mut redriven = Redriven::default();
        for letter in shared.ledger.letters(handler).await? {
            let one = shared.redrive(&letter).await?;
            redriven.taken += one.taken;
            redriven.kept += one.kept;
        }
        Ok(redriven)
    }
}

impl Shared {
    pub(super) fn world(&self) -> &dyn World {
        &**self.runner.world()
    }

    pub(super) fn until_ms(&self) -> i64 {
        let lease = i64::try_from(self.settings.lease.as_millis()).unwrap_or(i64::MAX);
        self.runner.now_millis().saturating_add(lease)
    }

    /// Renews a lease; returns false if another instance holds it now.
    pub(super) async fn renew(&self, table: &str, lease: &Lease) -> bool {
        match self.ledger.renew(table, lease, self.until_ms()).await {
            Ok(is_ours) => is_ours,
            Err(error) => {
                tracing::warn!(error = error.message(), "cannot renew a lease; retrying");
                true
            }
        }
    }

    /// Calls a handler. A panic counts as an error, and so does an item that cannot be decrypted or does not
    /// fit its entity.
    pub(super) async fn call(&self, name: &str, change: EntityChange) -> Result<(), String> {
        if let Some(why) = change.unreadable {
            return Err(why);
        }
        let Some(code) = self.code.get(name) else { return Err(format!("no code for `{name}`")) };
        let task = AbortOnDrop(tokio::spawn(code(change)));
        task.await.unwrap_or_else(|error| Err(format!("the handler panicked: {error}")))
    }
}

/// Task that is aborted together with its reader, so that a shard never has two readers.
struct AbortOnDrop(JoinHandle<Result<(), String>>);

impl Future for AbortOnDrop {
    type Output = Result<Result<(), String>, tokio::task::JoinError>;

    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> std::task::Poll<Self::Output> {
        std::pin::Pin::new(&mut self.0).poll(cx)
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Running handlers. Dropping it stops them; other instances take over their shards when the leases expire.
pub struct RunningHandlers {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl RunningHandlers {
    /// Stops the handlers and releases their shards immediately.
    pub async fn stop(mut self) {
        self.task.abort();
        // The task was aborted, so its result is of no interest.
        drop((&mut self.task).await);
        for (table, _) in self.shared.runner.tables() {
            let Ok(leases) = self.shared.ledger.leases(&table).await else { continue };
            for lease in leases.iter().filter(|lease| lease.owner == self.shared.owner && !lease.is_done) {
                // A lease that cannot be released expires.
                drop(self.shared.ledger.renew(&table, lease, 0).await);
            }
        }
    }
}

impl Drop for RunningHandlers {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers").field("code", &self.code.keys()).finish_non_exhaustive()
    }
}

impl fmt::Debug for RunningHandlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningHandlers").field("owner", &self.shared.owner).finish_non_exhaustive()
    }
}
