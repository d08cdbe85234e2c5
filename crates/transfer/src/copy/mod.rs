//! Copies tables between stores: embedded, served, or DynamoDB (ADR 0019).
//!
//! Life of a copy:
//!
//! 1. `target` checks the target table. It must be empty, and is created like the source if it is missing.
//! 2. With [`CopySettings::follow`], the source's stream position is recorded before the first read.
//! 3. `segment` scans the source in parallel segments and writes batches through `write`, which respects the `budget`
//!    and retries unprocessed writes. After each page it updates the [`Checkpoint`], from which an interrupted copy
//!    resumes.
//! 4. `follow` then applies the changes since, in order per item, until it is stopped. All scanned items are written by
//!    then, so an old item never overwrites a newer change.
//! 5. `verify` compares the item counts and the order-independent sums of the item hashes of both sides.
//!
//! [`crate::files`] exports to and imports from files.

pub(crate) mod budget;
mod checkpoint;
mod error;
mod fingerprint;
mod follow;
mod progress;
pub(crate) mod segment;
pub(crate) mod target;
pub(crate) mod write;

use std::sync::Arc;

use keyform_core::{Execute, World};
use tokio::sync::watch;

pub use checkpoint::Checkpoint;
pub use error::CopyError;
pub use fingerprint::{Fingerprint, Mortal, fingerprint};
pub use progress::{Phase, Progress};
pub(crate) use segment::page;
pub(crate) use target::{describe, like};

use budget::Budget;
use progress::Tally;
use write::Writer;

/// Items that expire within this time are not compared, because one side may already have removed them.
const EXPIRY_MARGIN_SECS: i64 = 3600;

/// Settings of a copy.
#[derive(Clone, Debug)]
pub struct CopySettings {
    /// Number of parallel scan segments.
    pub segments: u32,
    /// Maximum write units per second; one unit per started kilobyte.
    pub write_units: Option<u64>,
    /// Maximum items per page; by default as many as fit.
    pub page_items: Option<usize>,
    /// Allows writing into tables that are not empty.
    pub overwrite: bool,
    /// Compares both sides at the end.
    pub verify: bool,
    /// Applies later changes of the source until stopped.
    pub follow: Option<Follow>,
}

impl Default for CopySettings {
    fn default() -> Self {
        Self { segments: 8, write_units: None, page_items: None, overwrite: false, verify: true, follow: None }
    }
}

/// Conditions for ending the follow phase.
#[derive(Clone, Debug)]
pub struct Follow {
    /// Set to true to stop after applying everything written so far.
    pub stop: watch::Receiver<bool>,
    /// Stops after this many milliseconds without a change.
    pub idle_millis: Option<i64>,
}

/// Result of copying a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyReport {
    /// Number of copied items.
    pub items: u64,
    /// Total size of the copied items.
    pub bytes: u64,
    /// Number of changes applied after the scan.
    pub changes: u64,
    /// Fingerprint of both sides, if they were compared.
    pub verified: Option<Fingerprint>,
    /// Set if the target table was created.
    pub made: bool,
}

/// Copy between two stores.
#[derive(Clone)]
pub struct Copier {
    /// Store to copy from.
    pub from: Arc<dyn Execute>,
    /// Store to copy to.
    pub to: Arc<dyn Execute>,
    /// Clock and timer.
    pub world: Arc<dyn World>,
    /// Segments, budget, verification and follow mode.
    pub settings: CopySettings,
    /// Progress; shared by the tables of one copy.
    pub checkpoint: Arc<Checkpoint>,
    /// Progress callback.
    pub progress: Arc<dyn Fn(&Progress) + Send + Sync>,
}

impl std::fmt::Debug for Copier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Copier").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Copier {
    /// Copies one table. With the same checkpoint, a call after an interruption resumes the copy.
    ///
    /// # Errors
    ///
    /// [`CopyError`]: a table is missing, not empty or has another key; a store failed; or the two sides differ at the
    /// end.
    pub async fn table(&self, from: &str, to: &str) -> Result<CopyReport, CopyError> {
        let source = target::describe(&*self.from, from).await?.ok_or_else(|| CopyError::NoTable(from.to_owned()))?;
        self.checkpoint.begin(from, to, &source, self.settings.segments)?;
        let made = target::prepare(self, &source, to).await?;
        if self.settings.follow.is_some() && self.checkpoint.position(from).is_none() {
            let position = follow::position(self, &source).await?;
            self.checkpoint.update(from, |state| state.position = Some(position))?;
        }
        let tally = Arc::new(Tally::new(from, source.item_count, self.progress.clone()));
        let writer = Writer {
            store: self.to.clone(),
            table: to.to_owned(),
            world: self.world.clone(),
            budget: Arc::new(Budget::new(self.settings.write_units, self.world.clone())),
        };
        segment::all(self, from, &writer, &tally).await?;
        let changes = match &self.settings.follow {
            Some(until) => follow::follow(self, from, &writer, until, &tally).await?,
            None => 0,
        };
        let verified = match self.settings.verify {
            true => Some(self.verify(from, to, &tally).await?),
            false => None,
        };
        target::expiry(self, from, to).await?;
        let (items, bytes) = self.checkpoint.copied(from);
        self.checkpoint.update(from, |state| state.done = true)?;
        Ok(CopyReport { items, bytes, changes, verified, made })
    }

    async fn verify(&self, from: &str, to: &str, tally: &Tally) -> Result<Fingerprint, CopyError> {
        tally.phase(Phase::Verifying);
        let segments = self.settings.segments;
        let attribute = target::expires_by(&*self.from, from).await?;
        let now_secs = self.world.now_millis() / 1000;
        let mortal = attribute.map(|attribute| Mortal { attribute, until_secs: now_secs + EXPIRY_MARGIN_SECS });
        let (source, target) = tokio::join!(
            fingerprint(self.from.clone(), from, segments, mortal.clone()),
            fingerprint(self.to.clone(), to, segments, mortal)
        );
        let (source, target) = (source?, target?);
        if source != target {
            return Err(CopyError::Differs { from: from.to_owned(), to: to.to_owned(), source, target });
        }
        Ok(source)
    }
}
