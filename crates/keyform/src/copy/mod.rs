//! Tables moved from one store to another: embedded, served, on DynamoDB.
//!
//! The life of a copy:
//!
//! 1. `target` looks at the table to copy to: it must be empty, and is made like the source where it is missing.
//! 2. With [`Settings::follow`], the place in the source's stream is taken before anything is read.
//! 3. `segment` reads the source in parallel parts and writes batches through `write`, which keeps the `budget` and tries again what the
//!    store did not get to. After each page the [`Checkpoint`] says how far the part is, so that a copy that was stopped goes on there.
//! 4. `follow` then brings over the changes since, in order per item, until it is told to stop. Scanned items are all written by then: no newer
//!    change is overwritten by an older item.
//! 5. `verify` counts both sides and adds up the hashes of all items: the sum is the same whatever the order.
//!
//! [`crate::files`] moves items in and out of files instead.

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

use keyform_core::Execute;
use keyform_runtime::run::Surroundings;
use tokio::sync::watch;

pub use checkpoint::Checkpoint;
pub use error::CopyError;
pub use fingerprint::{Fingerprint, Mortal, fingerprint};
pub use progress::{Phase, Progress};
pub use target::like;

use budget::Budget;
use progress::Tally;
use write::Writer;

/// Items that expire within this time are not compared: one side may already have removed them.
const EXPIRY_MARGIN_SECS: i64 = 3600;

/// How tables are copied.
#[derive(Clone, Debug)]
pub struct Settings {
    /// In how many parts the source is read at once.
    pub segments: u32,
    /// The most write units to use in a second: one for each begun kilobyte.
    pub write_units: Option<u64>,
    /// The most items to read at once; what fits a page if not stated.
    pub page_items: Option<usize>,
    /// Write into tables that are not empty.
    pub overwrite: bool,
    /// Compare both sides at the end.
    pub verify: bool,
    /// Bring over changes after the copy, until told to stop.
    pub follow: Option<Follow>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { segments: 8, write_units: None, page_items: None, overwrite: false, verify: true, follow: None }
    }
}

/// Until when changes are brought over.
#[derive(Clone, Debug)]
pub struct Follow {
    /// Stop when this is true, after everything that has happened by then.
    pub stop: watch::Receiver<bool>,
    /// Stop when nothing has changed for so long.
    pub idle_millis: Option<i64>,
}

/// What a copy of a table did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many items were copied.
    pub items: u64,
    /// How large they are.
    pub bytes: u64,
    /// How many changes were brought over after.
    pub changes: u64,
    /// What both sides are, if they were compared.
    pub verified: Option<Fingerprint>,
    /// Whether the table was made.
    pub made: bool,
}

/// A copy between two stores.
#[derive(Clone)]
pub struct Copier {
    /// Where tables are.
    pub from: Arc<dyn Execute>,
    /// Where they go.
    pub to: Arc<dyn Execute>,
    /// Time and waiting.
    pub surroundings: Arc<dyn Surroundings>,
    /// How.
    pub settings: Settings,
    /// How far it is; shared by the tables of one copy.
    pub checkpoint: Arc<Checkpoint>,
    /// Told how it goes on.
    pub progress: Arc<dyn Fn(&Progress) + Send + Sync>,
}

impl std::fmt::Debug for Copier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Copier").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Copier {
    /// Copies one table. Called again after it was stopped, with the same checkpoint, it goes on where it was.
    ///
    /// # Errors
    ///
    /// [`CopyError`]: a table is missing, not empty or of another key; a store failed; or the two sides differ in the end.
    pub async fn table(&self, from: &str, to: &str) -> Result<Report, CopyError> {
        let source = target::describe(&*self.from, from).await?.ok_or_else(|| CopyError::NoTable(from.to_owned()))?;
        self.checkpoint.begin(from, to, &source, self.settings.segments)?;
        let made = target::prepare(self, &source, to).await?;
        if self.settings.follow.is_some() && self.checkpoint.position(from).is_none() {
            let position = follow::position(self.from.clone(), &source).await?;
            self.checkpoint.update(from, |state| state.position = Some(position))?;
        }
        let tally = Arc::new(Tally::new(from, source.item_count, self.progress.clone()));
        let writer = Writer {
            store: self.to.clone(),
            table: to.to_owned(),
            surroundings: self.surroundings.clone(),
            budget: Arc::new(Budget::new(self.settings.write_units, self.surroundings.clone())),
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
        Ok(Report { items, bytes, changes, verified, made })
    }

    async fn verify(&self, from: &str, to: &str, tally: &Tally) -> Result<Fingerprint, CopyError> {
        tally.phase(Phase::Verifying);
        let segments = self.settings.segments;
        let attribute = target::expires_by(&*self.from, from).await?;
        let now_secs = self.surroundings.now_millis() / 1000;
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
