//! One model that is served: its runner, and its tables made before the first call.

use keyform_language::Checked;
use keyform_language::schema::Model;
use keyform_language::surface::Pattern;
use keyform_runtime::run::{Resumed, RunError, Runner};
use tokio::sync::OnceCell;

use super::flow::Flow;

/// Whether the tables of a model are made for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// Those that are not there are made before the first call, and indexes they lack are added.
    Made,
    /// They are there, or calls fail.
    Expected,
}

/// A model that is served.
#[derive(Debug)]
pub struct Served {
    runner: Runner,
    flows: Vec<Flow>,
    tables: Tables,
    made: OnceCell<()>,
    answers: OnceCell<()>,
}

impl Served {
    /// Serves what a runner runs.
    #[must_use]
    pub fn new(runner: Runner, tables: Tables) -> Self {
        Self { runner, flows: Vec::new(), tables, made: OnceCell::new(), answers: OnceCell::new() }
    }

    /// The same, with the flows of an application.
    ///
    /// # Panics
    /// If a flow has the name of a pattern, or of another flow.
    #[must_use]
    pub fn with_flows(mut self, flows: Vec<Flow>) -> Self {
        for flow in flows {
            let taken = Pattern::find(self.model(), flow.name()).is_some() || self.flow(flow.name()).is_some();
            assert!(!taken, "`{}` has two patterns or flows `{}`", self.name(), flow.name());
            self.flows.push(flow);
        }
        self
    }

    /// The name of the model.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.model().name
    }

    pub(super) fn checked(&self) -> &Checked {
        self.runner.checked()
    }

    /// Its flows.
    pub(super) fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// The flow of that name.
    pub(super) fn flow(&self, name: &str) -> Option<&Flow> {
        self.flows.iter().find(|flow| flow.name() == name)
    }

    pub(super) fn model(&self) -> &Model {
        &self.checked().model
    }

    /// The runner, once its tables are there.
    pub(super) async fn runner(&self) -> Result<&Runner, RunError> {
        if self.tables == Tables::Made {
            self.made.get_or_try_init(|| self.make_tables()).await?;
        }
        Ok(&self.runner)
    }

    /// The runner, once there is a table for what idempotency keys have done.
    pub(super) async fn runner_with_answers(&self) -> Result<&Runner, RunError> {
        if self.tables == Tables::Made {
            self.answers.get_or_try_init(async || self.runner.create_answer_table().await.map(drop)).await?;
        }
        self.runner().await
    }

    /// Takes up the cascades that somebody has left half-way.
    pub(super) async fn resume_cascades(&self) -> Result<Resumed, RunError> {
        self.runner.resume_cascades().await
    }

    async fn make_tables(&self) -> Result<(), RunError> {
        for table in self.runner.create_tables().await? {
            tracing::info!(model = self.name(), table, "made a table");
        }
        for index in self.runner.add_indexes().await? {
            tracing::warn!(model = self.name(), index, "added an index to a table that was there");
        }
        Ok(())
    }
}
