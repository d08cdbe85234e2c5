//! Served model with its runner and flows. Creates the model's tables before the first call.

use std::collections::BTreeMap;

use keyform_check::Checked;
use keyform_check::surface::Pattern;
use keyform_core::AttributeValue;
use keyform_flow::{Attempts, Client, Flow, Tables, Throttle, account_of, beginning};
use keyform_language::schema::Model;
use keyform_runtime::run::{Call, Resumed, RunError, Runner};
use tokio::sync::OnceCell;

use super::problem::Problem;

/// Model with its runner, flows and rate limits.
#[derive(Debug)]
pub struct Served {
    runner: Runner,
    flows: Vec<Flow>,
    throttle: Throttle,
    limits: BTreeMap<&'static str, Attempts>,
    /// Arguments that hold a guessed secret, and the limit of each beginning.
    guesses: BTreeMap<&'static str, (&'static str, Attempts)>,
    tables: Tables,
    made: OnceCell<()>,
    answers: OnceCell<()>,
}

impl Served {
    /// Serves the patterns of a runner.
    #[must_use]
    pub fn new(runner: Runner, tables: Tables) -> Self {
        Self {
            throttle: Throttle::in_world(runner.world().clone()),
            runner,
            flows: Vec::new(),
            limits: BTreeMap::new(),
            guesses: BTreeMap::new(),
            tables,
            made: OnceCell::new(),
            answers: OnceCell::new(),
        }
    }

    /// Adds the flows of an application.
    ///
    /// # Panics
    /// If a flow has the name of a pattern or of another flow.
    #[must_use]
    pub fn with_flows(mut self, flows: Vec<Flow>) -> Self {
        for flow in flows {
            let taken = Pattern::find(self.model(), flow.name()).is_some() || self.flow(flow.name()).is_some();
            assert!(!taken, "`{}` has two patterns or flows named `{}`", self.name(), flow.name());
            self.flows.push(flow);
        }
        self
    }

    /// Adds rate limits for patterns whose arguments could be used to guess a secret, such as an invite code.
    ///
    /// # Panics
    /// If the model has no pattern with one of the names.
    #[must_use]
    pub fn with_limits(mut self, throttle: Throttle, limits: BTreeMap<&'static str, Attempts>) -> Self {
        for name in limits.keys() {
            assert!(Pattern::find(self.model(), name).is_some(), "`{}` has no pattern `{name}`", self.name());
        }
        (self.throttle, self.limits) = (throttle, limits);
        self
    }

    /// Adds rate limits on the [`beginning`] of a guessed secret: for each pattern, the name of the argument and the
    /// limit. They apply in addition to those of [`Served::with_limits`].
    ///
    /// # Panics
    /// If a pattern has no other limits.
    #[must_use]
    pub fn with_guesses(mut self, guesses: BTreeMap<&'static str, (&'static str, Attempts)>) -> Self {
        for name in guesses.keys() {
            assert!(self.is_limited(name), "`{}` has no limit for `{name}`", self.name());
        }
        self.guesses = guesses;
        self
    }

    /// Counts a call of a rate-limited pattern.
    pub(super) fn attempt(&self, pattern: &str, client: Client, call: &Call) -> Result<(), Problem> {
        let Some(attempts) = self.limits.get(pattern) else { return Ok(()) };
        let account = account_of(&call.caller);
        let guess = self.guesses.get(pattern).and_then(|(argument, attempts)| {
            let AttributeValue::S(text) = call.arguments.get(*argument)? else { return None };
            Some((attempts, beginning(text)))
        });
        let mut kinds = vec![(attempts, account.as_deref())];
        kinds.extend(guess.as_ref().map(|(attempts, beginning)| (*attempts, Some(beginning.as_bytes()))));
        self.throttle.attempt_all(client, &kinds).map_err(Problem::throttled)
    }

    pub(super) fn is_limited(&self, pattern: &str) -> bool {
        self.limits.contains_key(pattern)
    }

    /// Returns the model's name, which is the first segment of its paths below `/v1`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.model().name
    }

    /// Returns the number of broken items that were read, by entity.
    pub(crate) fn broken_items(&self) -> impl Iterator<Item = (&str, u64)> {
        self.runner.broken_items()
    }

    pub(super) fn checked(&self) -> &Checked {
        self.runner.checked()
    }

    pub(super) fn flows(&self) -> &[Flow] {
        &self.flows
    }

    pub(super) fn flow(&self, name: &str) -> Option<&Flow> {
        self.flows.iter().find(|flow| flow.name() == name)
    }

    pub(super) fn model(&self) -> &Model {
        &self.checked().model
    }

    /// Returns the runner after its tables exist.
    pub(super) async fn runner(&self) -> Result<&Runner, RunError> {
        if self.tables == Tables::Made {
            self.made.get_or_try_init(|| self.make_tables()).await?;
        }
        Ok(&self.runner)
    }

    /// Returns the runner after the table for idempotency keys exists.
    pub(super) async fn runner_with_answers(&self) -> Result<&Runner, RunError> {
        if self.tables == Tables::Made {
            self.answers.get_or_try_init(async || self.runner.create_answer_table().await.map(drop)).await?;
        }
        self.runner().await
    }

    /// Returns whether the store still accepts the model.
    pub(super) async fn ensure_accepted(&self) -> Result<(), RunError> {
        self.runner.ensure_accepted().await
    }

    /// Resumes cascades that another instance started and did not finish.
    pub(super) async fn resume_cascades(&self) -> Result<Resumed, RunError> {
        self.runner.resume_cascades().await
    }

    async fn make_tables(&self) -> Result<(), RunError> {
        for table in self.runner.create_tables().await? {
            tracing::info!(model = self.name(), table, "made a table");
        }
        for index in self.runner.add_indexes().await? {
            tracing::warn!(model = self.name(), index, "added an index to an existing table");
        }
        Ok(())
    }
}
