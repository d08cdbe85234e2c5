//! A migration: all evolutions of a model on one store, with its lease and its write budget.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use keyform_core::operation::{DescribeTable, Scan, Segment};
use keyform_core::{Attributes, Error, ErrorCode, Execute, ExecuteExt, Item, World};
use keyform_language::bookkeeping::MIGRATIONS;

use crate::accept::{self, AcceptError, Candidate, NotAccepted};
use crate::seal::Keyring;
use keyform_check::Checked;

use super::form::Form;
use super::state::{self, Checkpoint, Counts, LEASE_MILLIS, Lease, Phase, REFRESH_MILLIS, State};

/// Scan segments per table, each with its own checkpoint.
pub(super) const SEGMENTS: u32 = 4;
/// Items between two checkpoints.
pub(super) const PAGE_ITEMS: usize = 100;

/// All evolutions of a model on one store.
#[derive(Clone)]
pub struct Migration {
    pub(super) checked: Arc<Checked>,
    pub(super) store: Arc<dyn Execute>,
    pub(super) world: Arc<dyn World>,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) forms: Vec<Form>,
    pub(super) id: String,
    /// Time that a rollback waits until every instance of the application has noticed the phase.
    pub(super) notice_millis: u64,
    accept_breaking: bool,
}

/// Settings of a migration run.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// Write budget in units per second; `None` for no limit.
    pub write_units_per_second: Option<f64>,
    /// Maximum number of items migrated concurrently.
    pub at_once: usize,
    /// Name of the process in the lease.
    pub owner: String,
    /// Takes the lease even if another process holds it. Only safe if that process has ended.
    pub take_over: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Self { write_units_per_second: None, at_once: 16, owner: "unknown".to_owned(), take_over: false }
    }
}

/// Progress of a migration.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Name of the current step.
    pub step: &'static str,
    /// Items read so far.
    pub done: u64,
    /// Item count as the store reports it, which may be out of date.
    pub total: u64,
    /// Counters so far.
    pub counts: Counts,
}

/// Progress callback.
pub type Watch<'a> = &'a (dyn Fn(&Progress) + Send + Sync);

/// Reason why a migration stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum MigrateError {
    /// The model has no `evolve`.
    NoEvolution,
    /// A table name contains a variable without a value.
    Variable(String),
    /// Another process holds the lease.
    Leased(Lease),
    /// Another process took over the lease.
    LeaseLost,
    /// The current phase does not permit the operation.
    Phase(Phase, &'static str),
    /// Old items remain: their number, and examples.
    Left(u64, Vec<String>),
    /// The store does not accept the model.
    NotAccepted(Box<NotAccepted>),
    /// The store failed.
    Store(Error),
}

impl fmt::Display for MigrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEvolution => f.write_str("the model has no `evolve`, so there is nothing to migrate"),
            Self::Variable(name) => {
                write!(f, "the table name {name} has a variable without a value")
            }
            Self::Leased(lease) => write!(
                f,
                "{} runs this migration; its lease ends at {} (milliseconds since 1970): wait, or take it over if that process has died",
                lease.owner, lease.until_millis
            ),
            Self::LeaseLost => f.write_str(
                "another process has taken over the migration: see `keyform migrate \
                status`",
            ),
            Self::Phase(phase, what) => write!(f, "the migration is {}: {what}", phase.name()),
            Self::Left(count, examples) => {
                write!(f, "{count} old items remain: run `keyform migrate run` again")?;
                if !examples.is_empty() {
                    write!(f, "; for example {}", examples.join(", "))?;
                }
                Ok(())
            }
            Self::NotAccepted(why) => why.fmt(f),
            Self::Store(error) => write!(f, "{}: {}", error.code().name(), error.message()),
        }
    }
}

impl std::error::Error for MigrateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotAccepted(why) => Some(why),
            Self::Store(error) => Some(error),
            Self::NoEvolution
            | Self::Variable(_)
            | Self::Leased(_)
            | Self::LeaseLost
            | Self::Phase(..)
            | Self::Left(..) => None,
        }
    }
}

impl From<Error> for MigrateError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<AcceptError> for MigrateError {
    fn from(error: AcceptError) -> Self {
        match error {
            AcceptError::NotAccepted(why) => Self::NotAccepted(why),
            AcceptError::Busy => Self::LeaseLost,
            AcceptError::Store(error) => Self::Store(error),
        }
    }
}

impl Migration {
    /// Creates the migration of a model. `variables` are the values of the variables in table names.
    ///
    /// # Errors
    ///
    /// Returns an error if the model has no evolution, or a table name contains a variable without a value.
    pub fn new(
        checked: Arc<Checked>,
        store: Arc<dyn Execute>,
        world: Arc<dyn World>,
        variables: BTreeMap<String, String>,
    ) -> Result<Self, MigrateError> {
        let forms = Form::all(&checked.model, &variables);
        let id = state::id(&checked.model.name, &forms).ok_or(MigrateError::NoEvolution)?;
        let names = forms.iter().flat_map(|form| [&form.old.name, &form.new.name]);
        if let Some(name) = names.into_iter().find(|name| name.contains('{')) {
            return Err(MigrateError::Variable(name.clone()));
        }
        let notice_millis = u64::try_from(2 * REFRESH_MILLIS).unwrap_or(0);
        Ok(Self { checked, store, world, variables, forms, id, notice_millis, accept_breaking: false })
    }

    /// Returns the same migration without the grace period of a rollback. Only safe when no instance of the
    /// application is running.
    #[must_use]
    pub fn without_waiting(&self) -> Self {
        Self { notice_millis: 0, ..self.clone() }
    }

    /// Returns the same migration for a model that the store accepts even if it breaks items beyond its `evolve`.
    #[must_use]
    pub fn accepting_breaking_model(self, accept_breaking: bool) -> Self {
        Self { accept_breaking, ..self }
    }

    /// Compares the model with the accepted one, without a change of the store.
    ///
    /// # Errors
    ///
    /// Returns [`MigrateError::NotAccepted`] if the model breaks items, and its `evolve` does not describe how.
    pub async fn review(&self) -> Result<(), MigrateError> {
        match accept::review(&*self.store, &self.candidate()).await {
            Err(AcceptError::NotAccepted(_)) if self.accept_breaking => Ok(()),
            reviewed => Ok(reviewed.map(drop)?),
        }
    }

    /// Records the model as the accepted one.
    pub(super) async fn accept(&self) -> Result<(), MigrateError> {
        Ok(accept::accept(&*self.store, &self.candidate(), self.accept_breaking).await.map(drop)?)
    }

    pub(super) fn candidate(&self) -> Candidate {
        Candidate::of(&self.checked, &self.variables)
    }

    /// Returns the same migration with the keys of encrypted fields, which are re-encrypted for their new keys.
    #[must_use]
    pub fn with_keys(mut self, keys: Option<&Arc<Keyring>>) -> Self {
        self.forms = self.forms.into_iter().map(|form| form.with_keys(keys.cloned())).collect();
        self
    }

    /// Returns the evolutions of the model.
    #[must_use]
    pub fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// Returns the state. A migration that was never started is [`Phase::Open`].
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    pub async fn status(&self) -> Result<State, MigrateError> {
        let state = state::load(&*self.store, &self.id).await?;
        Ok(state.unwrap_or_else(|| State { id: self.id.clone(), ..State::default() }))
    }

    /// Returns the tables with old items, each with its evolutions.
    pub(super) fn sources(&self) -> Vec<(String, Vec<&Form>)> {
        let mut sources: Vec<(String, Vec<&Form>)> = Vec::new();
        for form in &self.forms {
            match sources.iter_mut().find(|(name, _)| *name == form.old.name) {
                Some((_, forms)) => forms.push(form),
                None => sources.push((form.old.name.clone(), vec![form])),
            }
        }
        sources
    }

    /// Returns the item count that the store reports; zero if the table does not exist.
    pub(super) async fn item_count(&self, table: &str) -> Result<u64, Error> {
        match self.store.call(DescribeTable { table: table.to_owned() }).await {
            Ok(description) => Ok(description.item_count),
            Err(error) if error.code() == ErrorCode::ResourceNotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Reads one page of a table. A missing table counts as empty.
    pub(super) async fn page(
        &self,
        table: &str,
        segment: Option<u32>,
        start: Option<Attributes>,
    ) -> Result<(Vec<Attributes>, Option<Attributes>), Error> {
        let scan = Scan {
            limit: Some(PAGE_ITEMS),
            consistent: true,
            segment: segment.map(|number| Segment { number, total: SEGMENTS }),
            start: start.clone(),
            ..Scan::of(table)
        };
        match self.store.call(scan).await {
            Ok(page) => {
                page.ensure_progress(start.as_ref())?;
                let items = page.items.unwrap_or_default().iter().map(Item::to_attributes).collect();
                Ok((items, page.last_key.map(|key| key.to_attributes())))
            }
            Err(error) if error.code() == ErrorCode::ResourceNotFound => Ok((Vec::new(), None)),
            Err(error) => Err(error),
        }
    }

    /// Acquires the lease. Raises the fence, so that a former holder cannot write the state any more.
    pub(super) async fn take(&self, pace: &Pace) -> Result<Held<'_>, MigrateError> {
        self.make_state_table().await?;
        let mut state = self.status().await?;
        let now = self.world.now_millis();
        if let Some(lease) = &state.lease
            && lease.until_millis > now
            && lease.owner != pace.owner
            && !pace.take_over
        {
            return Err(MigrateError::Leased(lease.clone()));
        }
        let before = state.fence;
        state.fence += 1;
        if state.begun_millis == 0 {
            state.begun_millis = now;
        }
        let mut held =
            Held { migration: self, state, owner: pace.owner.clone(), renewed: now, pacing: Pacing::new(pace, now) };
        held.write(before).await?;
        Ok(held)
    }

    async fn make_state_table(&self) -> Result<(), MigrateError> {
        match self.store.call(state::state_table()).await {
            Ok(_) => {}
            Err(error) if error.code() == ErrorCode::ResourceInUse => {}
            Err(error) => return Err(error.into()),
        }
        self.wait_until_active(MIGRATIONS).await?;
        Ok(state::wait_until_readable(self.store.as_ref(), &self.id, self.world.as_ref()).await?)
    }
}

impl fmt::Debug for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Migration").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Migration whose lease this process holds.
pub(super) struct Held<'a> {
    migration: &'a Migration,
    pub(super) state: State,
    owner: String,
    renewed: i64,
    pacing: Pacing,
}

impl Held<'_> {
    /// Writes the state, which also renews the lease.
    pub(super) async fn save(&mut self) -> Result<(), MigrateError> {
        let fence = self.state.fence;
        self.write(fence).await
    }

    async fn write(&mut self, fence_before: i64) -> Result<(), MigrateError> {
        let now = self.migration.world.now_millis();
        self.state.written_millis = now;
        self.state.lease = Some(Lease { owner: self.owner.clone(), until_millis: now + LEASE_MILLIS });
        self.renewed = now;
        match state::save(&*self.migration.store, &self.state, fence_before).await? {
            true => Ok(()),
            false => Err(MigrateError::LeaseLost),
        }
    }

    /// Enters a phase, and saves the state under the fence.
    pub(super) async fn enter(&mut self, phase: Phase) -> Result<(), MigrateError> {
        self.state.phase = phase;
        self.save().await
    }

    /// Saves the state without a lease; fails if another process has taken the lease over.
    pub(super) async fn release(mut self) -> Result<State, MigrateError> {
        self.state.lease = None;
        self.state.written_millis = self.migration.world.now_millis();
        match state::save(&*self.migration.store, &self.state, self.state.fence).await? {
            true => Ok(self.state),
            false => Err(MigrateError::LeaseLost),
        }
    }

    /// Records spent units and sleeps as long as the budget requires, renewing the lease meanwhile.
    pub(super) async fn spent(&mut self, units: f64) -> Result<(), MigrateError> {
        self.state.counts.units += units;
        self.pacing.spent += units;
        loop {
            let now = self.migration.world.now_millis();
            if now - self.renewed > LEASE_MILLIS / 3 {
                self.save().await?;
            }
            let wait = self.pacing.wait_millis(now);
            if wait <= 0 {
                return Ok(());
            }
            let wait = u64::try_from(wait.min(LEASE_MILLIS / 6)).unwrap_or(0);
            self.migration.world.sleep(Duration::from_millis(wait)).await;
        }
    }

    pub(super) fn checkpoint(&self, table: &str, segment: u32) -> Option<&Checkpoint> {
        self.state.checkpoints.get(&checkpoint_name(table, segment))
    }

    pub(super) fn set_checkpoint(&mut self, table: &str, segment: u32, at: Option<Attributes>) {
        let checkpoint = at.map_or(Checkpoint::Done, Checkpoint::At);
        self.state.checkpoints.insert(checkpoint_name(table, segment), checkpoint);
    }
}

fn checkpoint_name(table: &str, segment: u32) -> String {
    format!("{table}#{segment}")
}

/// Units spent since the start.
struct Pacing {
    per_second: Option<f64>,
    since: i64,
    spent: f64,
}

impl Pacing {
    fn new(pace: &Pace, now: i64) -> Self {
        let per_second = pace.write_units_per_second.filter(|units| *units > 0.0);
        Self { per_second, since: now, spent: 0.0 }
    }

    /// Returns how long to wait until the budget covers what was spent.
    fn wait_millis(&self, now: i64) -> i64 {
        let Some(per_second) = self.per_second else { return 0 };
        let due = self.since + (self.spent / per_second * 1000.0) as i64;
        due - now
    }
}

/// Formats an item's key for messages.
pub(super) fn shown_key(key: &Attributes) -> String {
    let parts: Vec<String> = key.values().filter_map(keyform_language::template::parse::key_text).collect();
    parts.join(" / ")
}
