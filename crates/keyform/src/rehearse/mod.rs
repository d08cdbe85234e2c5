//! A migration rehearsed on a copy: the run, the comparison, the way back, the run again and the cut-over. The tables themselves are only read.
//!
//! 1. `copies` copies the tables into memory, or beside themselves in their own store, where everything takes what it will take.
//! 2. `beside` is that store with a prefix to every table, so that the migration runs as it is, its own state included.
//! 3. The copies are removed in the end, whatever came of it.

mod beside;
mod copies;
mod error;

use std::collections::BTreeMap;
use std::sync::Arc;

use keyform_core::Execute;
use keyform_language::Checked;
use keyform_language::bookkeeping::MIGRATIONS;
use keyform_runtime::evolve::{Estimate, MigrateError, Migration, Pace, RolledBack, Verified, Watch};
use keyform_runtime::seal::Keyring;

use crate::copy;
use crate::surroundings::System;

pub use error::RehearseError;

use beside::Beside;
use copies::Copied;

/// Who is told how far a copy is.
type Watched = Arc<dyn Fn(&copy::Progress) + Send + Sync>;

/// Where a migration is rehearsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// In memory.
    Memory {
        /// How large the items of the tables may be together.
        bytes_max: u64,
    },
    /// On copies in the same store, which are removed in the end.
    Tables {
        /// What the names of the copies begin with.
        prefix: String,
    },
}

impl Stage {
    /// How large tables may be that are copied into memory, if nobody says more.
    pub const BYTES_MAX: u64 = 512_000_000;
}

/// What is rehearsed, where, and how fast.
#[derive(Clone)]
pub struct Rehearse {
    /// The model with its evolution.
    pub checked: Arc<Checked>,
    /// What the variables in the names of tables stand for.
    pub variables: BTreeMap<String, String>,
    /// The keys of encrypted fields, if the model has some.
    pub keys: Option<Arc<Keyring>>,
    /// Where.
    pub stage: Stage,
    /// Write units a second at most, for copies in the store.
    pub write_units_per_second: Option<f64>,
    /// Told how far copies in the store are.
    pub copying: Watched,
}

impl std::fmt::Debug for Rehearse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rehearse").field("stage", &self.stage).finish_non_exhaustive()
    }
}

/// What came of a rehearsal.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsal {
    /// How many items each table has.
    pub copied: BTreeMap<String, u64>,
    /// What the migration was expected to take.
    pub estimate: Estimate,
    /// What it took: write units of the run.
    pub units: f64,
    /// How long the run took where it was, in milliseconds.
    pub millis: u64,
    /// Items that cannot be carried over, each with why; the first few.
    pub stuck: Vec<String>,
    /// What the comparison found after the run.
    pub verified: Verified,
    /// What the way back did, on the copy.
    pub rolled_back: RolledBack,
    /// Whether the cut-over went through after a second run.
    pub cut_over: bool,
}

impl Rehearsal {
    /// Whether the migration would go through.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.cut_over && self.stuck.is_empty() && self.verified.is_complete()
    }
}

impl Rehearse {
    /// Copies the tables of the migration and runs all of it on the copies. The store's own tables are only read.
    ///
    /// # Errors
    ///
    /// If the model has no evolution, the tables are too large for memory or a copy's name is taken, or the store fails.
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
        let migration = Migration::new(self.checked.clone(), store, Arc::new(System), self.variables.clone())?;
        Ok(migration.with_keys(self.keys.as_ref()))
    }

    /// The tables with items of either form, each once.
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
        let copied = copies::beside(beside, tables, units, &self.copying).await?;
        self.play(beside.clone(), copied, watch).await
    }

    /// All of the migration, on copies.
    async fn play(&self, copy: Arc<dyn Execute>, copied: Copied, watch: Watch<'_>) -> Result<Rehearsal, RehearseError> {
        let migration = self.migration(copy)?;
        let write_units_per_second = self.write_units_per_second;
        let pace = Pace { owner: "a rehearsal".to_owned(), write_units_per_second, ..Pace::default() };
        let estimate = migration.estimate(write_units_per_second, watch).await?;
        let begun = std::time::Instant::now();
        let ran = migration.run(&pace, watch).await?;
        let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
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
