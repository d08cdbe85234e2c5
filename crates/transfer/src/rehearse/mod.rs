//! Rehearses a migration on copies: run, verification, rollback, second run and cut-over. The original tables are only
//! read.
//!
//! 1. `copies` copies the tables into memory, or within their store, where the rehearsal takes as long as the real
//!    migration.
//! 2. `beside` is a view of the store with a prefix on every table, so that the migration runs unmodified, including
//!    its own state.
//! 3. The copies are removed at the end, also after an error.

mod beside;
mod copies;
mod error;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::copy::Progress;
use keyform_check::Checked;
use keyform_core::{Execute, World};
use keyform_language::bookkeeping::MIGRATIONS;
use keyform_runtime::evolve::{Estimate, MigrateError, Migration, Pace, RolledBack, Verified, Watch};
use keyform_runtime::seal::Keyring;

pub use error::RehearseError;

use beside::Beside;
use copies::Copied;

/// Progress callback of a copy.
type Watched = Arc<dyn Fn(&Progress) + Send + Sync>;

/// Location of the copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// In memory.
    Memory {
        /// Maximum total size of the tables' items.
        bytes_max: u64,
    },
    /// In the same store; the copies are deleted at the end.
    Tables {
        /// Prefix of the copies' names.
        prefix: String,
    },
}

impl Stage {
    /// Default maximum size of tables that are copied into memory.
    pub const BYTES_MAX: u64 = 512_000_000;
}

/// Parameters of a rehearsal.
#[derive(Clone)]
pub struct Rehearse {
    /// Model with its evolution.
    pub checked: Arc<Checked>,
    /// Values of the variables in table names.
    pub variables: BTreeMap<String, String>,
    /// Keys of encrypted fields, if the model has any.
    pub keys: Option<Arc<Keyring>>,
    /// Location of the copies.
    pub stage: Stage,
    /// Maximum write units per second, for copies in the store.
    pub write_units_per_second: Option<f64>,
    /// Progress callback, for copies in the store.
    pub copying: Watched,
    /// Clock and timer of the migration.
    pub world: Arc<dyn World>,
}

impl std::fmt::Debug for Rehearse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rehearse").field("stage", &self.stage).finish_non_exhaustive()
    }
}

/// Result of a rehearsal.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsal {
    /// Number of items per table.
    pub copied: BTreeMap<String, u64>,
    /// Estimate before the run.
    pub estimate: Estimate,
    /// Write units that the run used.
    pub units: f64,
    /// Duration of the run on the copies, in milliseconds.
    pub millis: u64,
    /// Items that cannot be migrated, with the reason; only the first few.
    pub stuck: Vec<String>,
    /// Result of the verification after the run.
    pub verified: Verified,
    /// Result of the rollback on the copies.
    pub rolled_back: RolledBack,
    /// Set if the cut-over succeeded after a second run.
    pub cut_over: bool,
}

impl Rehearsal {
    /// Returns whether the migration would succeed.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.cut_over && self.stuck.is_empty() && self.verified.is_complete()
    }
}

impl Rehearse {
    /// Copies the tables of the migration and runs all its steps on the copies. The original tables are only read.
    ///
    /// # Errors
    ///
    /// The model has no evolution, the tables are too large for memory, a copy's name is taken, or the store fails.
    pub async fn run(&self, store: &Arc<dyn Execute>, watch: Watch<'_>) -> Result<Rehearsal, RehearseError> {
        let tables = self.tables(&self.migration(store.clone())?);
        match &self.stage {
            Stage::Memory { bytes_max } => {
                let (copy, copied) = copies::in_memory(&**store, &tables, *bytes_max).await?;
                self.play(copy, copied, watch).await
            }
            Stage::Tables { prefix } => {
                let beside = Arc::new(Beside { store: store.clone(), prefix: prefix.clone() });
                let all: Vec<String> = tables.iter().cloned().chain([MIGRATIONS.to_owned()]).collect();
                copies::refuse_taken(&beside, &all).await?;
                let played = self.play_beside(&beside, &tables, watch).await;
                copies::remove(&beside, &all).await?;
                played
            }
        }
    }

    fn migration(&self, store: Arc<dyn Execute>) -> Result<Migration, MigrateError> {
        let migration = Migration::new(self.checked.clone(), store, self.world.clone(), self.variables.clone())?;
        Ok(migration.with_keys(self.keys.as_ref()))
    }

    /// Returns the distinct tables with items of either form.
    fn tables(&self, migration: &Migration) -> Vec<String> {
        let mut tables: Vec<String> = Vec::new();
        for name in migration.forms().iter().flat_map(|form| [&form.old.name, &form.new.name]) {
            if !tables.contains(name) {
                tables.push(name.clone());
            }
        }
        tables
    }

    async fn play_beside(
        &self,
        beside: &Arc<Beside>,
        tables: &[String],
        watch: Watch<'_>,
    ) -> Result<Rehearsal, RehearseError> {
        let units = self.write_units_per_second.map(|units| units.max(1.0) as u64);
        let copied = copies::beside(beside, tables, units, self).await?;
        self.play(beside.clone(), copied, watch).await
    }

    /// Runs all steps of the migration on the copies.
    async fn play(&self, copy: Arc<dyn Execute>, copied: Copied, watch: Watch<'_>) -> Result<Rehearsal, RehearseError> {
        let migration = self.migration(copy)?;
        let write_units_per_second = self.write_units_per_second;
        let pace = Pace { owner: "a rehearsal".to_owned(), write_units_per_second, ..Pace::default() };
        let estimate = migration.estimate(write_units_per_second, watch).await?;
        let begun = self.world.monotonic();
        let ran = migration.run(&pace, watch).await?;
        let millis = u64::try_from(self.world.monotonic().saturating_sub(begun).as_millis()).unwrap_or(u64::MAX);
        let verified = migration.verify(watch).await?;
        let rolled_back = migration.without_waiting().roll_back(&pace, watch).await?;
        migration.run(&pace, watch).await?;
        let cut_over = match migration.cut_over(&pace, watch).await {
            Ok(_) => true,
            Err(MigrateError::Left(..)) => false,
            Err(error) => return Err(error.into()),
        };
        let units = ran.state.counts.units;
        Ok(Rehearsal { copied, estimate, units, millis, stuck: ran.stuck, verified, rolled_back, cut_over })
    }
}
