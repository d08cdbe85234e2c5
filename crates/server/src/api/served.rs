//! One model that is served: its runner, and its tables made before the first call.

use keyform_model::Checked;
use keyform_model::run::{RunError, Runner};
use keyform_model::schema::Model;
use tokio::sync::OnceCell;

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
    tables: Tables,
    made: OnceCell<()>,
}

impl Served {
    /// Serves what a runner runs.
    #[must_use]
    pub fn new(runner: Runner, tables: Tables) -> Self {
        Self { runner, tables, made: OnceCell::new() }
    }

    /// The name of the model.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.model().name
    }

    pub(super) fn checked(&self) -> &Checked {
        self.runner.checked()
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
