//! Applications: a model with the code around it (ADR 0026).
//!
//! 1. A [`Host`] is the environment: a store, the keys that sign tokens, and whether tables are created automatically.
//! 2. An [`Application`] has flows (procedures that clients can call), periodic jobs, code for the model's handlers,
//!    and sample data.
//! 3. [`Application::served`] is the part that a server serves; [`Application::start`] runs its jobs and handlers.

mod running;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use keyform_core::World;
use keyform_core::execute::BoxFuture;
use keyform_flow::{Attempts, Flow, FlowError, Host, Job, Tables, Throttle};
use keyform_live::handle::{EntityChange, HandleError, Handlers};
use keyform_runtime::run::{Caller, Runner};
use keyform_server::Served;

use crate::{Calls, FromAttributes};

pub use running::RunningApplication;

/// Converts the caller of a flow to the model's typed claims: `discord.as_caller(claims(&call.caller)?)`.
///
/// # Errors
/// [`FlowError::Forbidden`] if the caller is anonymous or lacks a claim.
pub fn claims<C: FromAttributes>(caller: &Caller) -> Result<C, FlowError> {
    match caller {
        Caller::Claims(claims) => C::from_attributes(claims.clone()).map_err(|_| FlowError::Forbidden),
        Caller::System => Err(FlowError::Forbidden),
    }
}

type MakeSample = dyn Fn() -> BoxFuture<'static, Result<Vec<String>, String>> + Send + Sync;

/// Model with the code around it.
///
/// ```
/// use std::time::Duration;
///
/// use keyform::application::Application;
/// use keyform::flow::{Host, Job};
/// use keyform::{CallError, Database};
///
/// keyform::model!("tests/behaviours/library.kf");
///
/// /// The library, with a job that counts nothing.
/// fn library(host: &Host) -> Result<Application, CallError> {
///     let library = Library::on(host.store(), host.options())?;
///     let idle = Job::every(Duration::from_secs(60), "idle", || async { Ok::<_, CallError>("did nothing".to_owned()) });
///     Ok(Application::new(host, library.calls()).job(idle))
/// }
///
/// # fn main() -> Result<(), CallError> {
/// let host = Host::on(Database::in_memory()).variable("stage", "test");
/// assert_eq!(library(&host)?.name(), "library");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Application {
    runner: Runner,
    tables: Tables,
    flows: Vec<Flow>,
    throttle: Throttle,
    limits: BTreeMap<&'static str, Attempts>,
    guesses: BTreeMap<&'static str, (&'static str, Attempts)>,
    jobs: Vec<Job>,
    handlers: Handlers,
    sample: Option<Arc<MakeSample>>,
}

impl Application {
    /// Creates an application from the model's typed code: `discord.calls()`.
    #[must_use]
    pub fn new(host: &Host, calls: &Calls) -> Self {
        let runner = calls.runner().clone();
        let handlers = Handlers::new(runner.clone());
        Self {
            runner,
            tables: host.tables(),
            flows: Vec::new(),
            throttle: host.throttle().clone(),
            limits: BTreeMap::new(),
            guesses: BTreeMap::new(),
            jobs: Vec::new(),
            handlers,
            sample: None,
        }
    }

    /// Returns the clock, timer and randomness of its model.
    pub(super) fn world(&self) -> &Arc<dyn World> {
        self.runner.world()
    }

    /// Adds a procedure that clients can call.
    #[must_use]
    pub fn flow(mut self, flow: Flow) -> Self {
        self.flows.push(flow);
        self
    }

    /// Rate-limits a pattern whose arguments could be used to guess a secret, such as an invite code. The account is
    /// the caller's.
    #[must_use]
    pub fn limit(mut self, pattern: &'static str, attempts: Attempts) -> Self {
        self.limits.insert(pattern, attempts);
        self
    }

    /// Rate-limits the guesses of a secret in an argument of a pattern by all clients together, per beginning of the
    /// secret, so that an attacker with many addresses is limited too. The pattern has another [`Application::limit`].
    #[must_use]
    pub fn limit_guesses(mut self, pattern: &'static str, argument: &'static str, attempts: Attempts) -> Self {
        self.guesses.insert(pattern, (argument, attempts));
        self
    }

    /// Adds a periodic job.
    #[must_use]
    pub fn job(mut self, job: Job) -> Self {
        self.jobs.push(job);
        self
    }

    /// Adds the code for a handler of the model: see [`Handlers::on`].
    #[must_use]
    pub fn handler<F, W>(mut self, name: &str, code: F) -> Self
    where
        F: Fn(EntityChange) -> W + Send + Sync + 'static,
        W: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.handlers = self.handlers.on(name, code);
        self
    }

    /// Adds sample data for new users. `make` writes the data if it is missing and returns lines that describe what to
    /// try. The lines use the address `http://127.0.0.1:8000`; the program that displays them substitutes the actual
    /// one.
    #[must_use]
    pub fn sample<F, W, E>(mut self, make: F) -> Self
    where
        F: Fn() -> W + Send + Sync + 'static,
        W: Future<Output = Result<Vec<String>, E>> + Send + 'static,
        E: fmt::Display,
    {
        let make = move || -> BoxFuture<'static, Result<Vec<String>, String>> {
            let work = make();
            Box::pin(async { work.await.map_err(|error| error.to_string()) })
        };
        self.sample = Some(Arc::new(make));
        self
    }

    /// Returns the name of the model.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.runner.checked().model.name
    }

    /// Returns the runner of the model's patterns.
    #[must_use]
    pub fn runner(&self) -> &Runner {
        &self.runner
    }

    /// Returns the periodic jobs.
    #[must_use]
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// Returns the flow with this name.
    #[must_use]
    pub fn find_flow(&self, name: &str) -> Option<&Flow> {
        self.flows.iter().find(|flow| flow.name() == name)
    }

    /// Returns the part for a server: the model's patterns and the flows.
    #[must_use]
    pub fn served(&self) -> Served {
        let served = Served::new(self.runner.clone(), self.tables).with_flows(self.flows.clone());
        served.with_limits(self.throttle.clone(), self.limits.clone()).with_guesses(self.guesses.clone())
    }

    /// Creates the tables if the host is configured to, and runs jobs and handlers until the result is stopped or
    /// dropped.
    ///
    /// # Errors
    /// A handler has no code, or the store fails.
    pub async fn start(&self) -> Result<RunningApplication, HandleError> {
        RunningApplication::start(self).await
    }

    /// Writes the sample data and returns lines that describe what to try; empty without sample data.
    ///
    /// # Errors
    /// The reason why the data cannot be written.
    pub async fn make_sample(&self) -> Result<Vec<String>, String> {
        self.make_tables().await.map_err(|error| error.to_string())?;
        match &self.sample {
            Some(make) => make().await,
            None => Ok(Vec::new()),
        }
    }

    /// Checks that every handler of the model has code.
    pub(crate) fn check_handlers(&self) -> Result<(), HandleError> {
        self.handlers.check()
    }

    async fn make_tables(&self) -> Result<(), keyform_runtime::run::RunError> {
        if self.tables == Tables::Made {
            self.runner.create_tables().await?;
        }
        Ok(())
    }
}

impl fmt::Debug for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Application").field("name", &self.name()).finish_non_exhaustive()
    }
}
