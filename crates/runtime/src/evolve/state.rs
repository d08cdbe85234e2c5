//! State of a migration, kept in the store itself: phase, lease, checkpoints and counters.
//!
//! The state is one item of the table `keyform-migrations`. Its id consists of the model's name and a hash of the
//! evolutions, so a changed evolution is a new migration. Every instance of the application reads the phase again
//! after `REFRESH_MILLIS`. An instance with an outdated phase is slower but never wrong, except for a rollback,
//! which therefore waits for all instances (ADR 0015).

use std::collections::BTreeMap;
use std::time::Duration;

use keyform_core::expression::{Comparator, Condition, Operand, Path};
use keyform_core::operation::{CreateTable, PutItem};
use keyform_core::table::{BillingMode, KeySchema, ScalarType};
use keyform_core::{AttributeValue, Attributes, Error, ErrorCode, Execute, ExecuteExt, World};
use keyform_language::bookkeeping::MIGRATIONS;
use serde::Serialize;

use super::find::get;
use super::form::Form;
use super::mark::sum;

/// Maximum age of an instance's knowledge of the phase.
pub(crate) const REFRESH_MILLIS: i64 = 10_000;
/// Lifetime of a lease that is not renewed.
pub(crate) const LEASE_MILLIS: i64 = 60_000;
/// Polls of a new table before giving up.
/// Ten minutes. A test whose clock only counts sleeps looks as often as it can, so few looks would end too soon there.
const LOOKS_MAX: u32 = 1_200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// Phase of a migration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Not started. Reads and writes handle both forms.
    #[default]
    Open,
    /// The backfill is running.
    Filling,
    /// The backfill has migrated every old item that existed.
    Filled,
    /// Only the new form is read; the cut-over is deleting old items.
    Closing,
    /// The cut-over is complete: old items are deleted.
    Closed,
    /// Items return to the old form; writes are refused.
    RollingBack,
    /// The old form is authoritative again.
    RolledBack,
}

impl Phase {
    /// Returns whether reads look for old items.
    #[must_use]
    pub fn reads_both(self) -> bool {
        !matches!(self, Self::Closing | Self::Closed)
    }

    /// Returns the name under which the phase is stored.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Filling => "filling",
            Self::Filled => "filled",
            Self::Closing => "closing",
            Self::Closed => "closed",
            Self::RollingBack => "rolling-back",
            Self::RolledBack => "rolled-back",
        }
    }
}

/// Exclusive right to run a migration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Lease {
    /// Process that holds the lease.
    pub owner: String,
    /// Expiry in milliseconds since 1970.
    pub until_millis: i64,
}

/// Counters of a migration.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Items read by the scans.
    pub scanned: u64,
    /// Items migrated.
    pub carried: u64,
    /// Old items that were only marked, because an item with their new key already existed.
    pub superseded: u64,
    /// Items that cannot be converted.
    pub stuck: u64,
    /// Old items deleted by the cut-over.
    pub removed: u64,
    /// Items returned to the old form by a rollback.
    pub reverted: u64,
    /// Write units consumed so far.
    pub units: f64,
}

/// Position of the backfill in a segment of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Checkpoint {
    /// Last key that was processed.
    At(Attributes),
    /// The segment is complete.
    Done,
}

/// State of a migration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Id of the migration: made of the model and its forms.
    pub id: String,
    /// Current phase.
    pub phase: Phase,
    /// Current lease, if a process runs the migration.
    pub lease: Option<Lease>,
    /// Fencing token: raised each time the lease is acquired. A write of the state with an older value is rejected.
    pub fence: i64,
    /// Checkpoints by table and segment number.
    pub checkpoints: BTreeMap<String, Checkpoint>,
    /// Counters since the first run.
    pub counts: Counts,
    /// Items that were read before the pass of the checkpoints began: an interrupted pass resumes, and its progress too.
    pub scanned_before: u64,
    /// Start of the first run, in milliseconds since 1970.
    pub begun_millis: i64,
    /// Last write of the state, in milliseconds since 1970.
    pub written_millis: i64,
}

/// Returns the id of a model's migration; `None` if the model has no evolution.
#[must_use]
pub(crate) fn id(model: &str, forms: &[Form]) -> Option<String> {
    if forms.is_empty() {
        return None;
    }
    let words: Attributes =
        forms.iter().enumerate().map(|(number, form)| (number.to_string(), form.words().as_str().into())).collect();
    Some(format!("{model} {}", &sum(&words)[..16]))
}

/// Loads the state of a migration; `None` if it was never started.
pub(crate) async fn load(store: &dyn Execute, id: &str) -> Result<Option<State>, Error> {
    match get(store, MIGRATIONS, key(id)).await {
        Ok(item) => Ok(item.map(|item| State::of(id, &item))),
        Err(error) if error.code() == ErrorCode::ResourceNotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Waits until the state table is readable. A store may report a table as active slightly before it can be read.
///
/// # Errors
///
/// Returns an error if the store fails, or still does not find the table after ten minutes.
pub(crate) async fn wait_until_readable(store: &dyn Execute, id: &str, world: &dyn World) -> Result<(), Error> {
    let mut looks = 0;
    loop {
        match get(store, MIGRATIONS, key(id)).await {
            Err(error) if error.code() == ErrorCode::ResourceNotFound && looks < LOOKS_MAX => looks += 1,
            Err(error) => return Err(error),
            Ok(_) => return Ok(()),
        }
        world.sleep(BETWEEN_LOOKS).await;
    }
}

/// Writes a state if its fence in the store is still `fence_before`; returns whether it was written.
pub(crate) async fn save(store: &dyn Execute, state: &State, fence_before: i64) -> Result<bool, Error> {
    let fence = Path::attribute("fence");
    let same = Condition::Compare {
        left: Operand::Path(fence.clone()),
        comparator: Comparator::Equal,
        right: Operand::Value(AttributeValue::from(fence_before).into()),
    };
    let condition =
        if fence_before == 0 { Condition::Or(vec![Condition::AttributeNotExists(fence), same]) } else { same };
    let put = PutItem { table: MIGRATIONS.to_owned(), item: state.attributes(), options: condition.into() };
    match store.call(put).await {
        Ok(_) => Ok(true),
        Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the request that creates the state table.
#[must_use]
pub(crate) fn state_table() -> CreateTable {
    CreateTable {
        attributes: [("id".to_owned(), ScalarType::S)].into(),
        key: KeySchema { partition: vec!["id".to_owned()], sort: Vec::new() },
        billing: BillingMode::PayPerRequest,
        ..CreateTable::named(MIGRATIONS)
    }
}

fn key(id: &str) -> Attributes {
    [("id".to_owned(), id.into())].into()
}

impl State {
    fn attributes(&self) -> Attributes {
        let count = |value: u64| AttributeValue::from(i64::try_from(value).unwrap_or(i64::MAX));
        let counts = &self.counts;
        let counted = [
            ("scanned", counts.scanned),
            ("carried", counts.carried),
            ("superseded", counts.superseded),
            ("stuck", counts.stuck),
            ("removed", counts.removed),
            ("reverted", counts.reverted),
            ("units", counts.units.ceil() as u64),
        ];
        let checkpoint = |(name, checkpoint): (&String, &Checkpoint)| {
            let value = match checkpoint {
                Checkpoint::At(key) => AttributeValue::M(key.clone()),
                Checkpoint::Done => true.into(),
            };
            (name.clone(), value)
        };
        let mut item = key(&self.id);
        item.insert("phase".to_owned(), self.phase.name().into());
        item.insert("fence".to_owned(), self.fence.into());
        item.insert("scannedBefore".to_owned(), count(self.scanned_before));
        item.insert("begunMillis".to_owned(), self.begun_millis.into());
        item.insert("writtenMillis".to_owned(), self.written_millis.into());
        item.insert(
            "counts".to_owned(),
            AttributeValue::M(counted.into_iter().map(|(name, value)| (name.to_owned(), count(value))).collect()),
        );
        item.insert("checkpoints".to_owned(), AttributeValue::M(self.checkpoints.iter().map(checkpoint).collect()));
        if let Some(lease) = &self.lease {
            let lease: Attributes = [
                ("owner".to_owned(), lease.owner.as_str().into()),
                ("untilMillis".to_owned(), lease.until_millis.into()),
            ]
            .into();
            item.insert("lease".to_owned(), AttributeValue::M(lease));
        }
        item
    }

    fn of(id: &str, item: &Attributes) -> Self {
        let map = |name: &str| match item.get(name) {
            Some(AttributeValue::M(map)) => map.clone(),
            _ => Attributes::new(),
        };
        let counts = map("counts");
        let count = |name: &str| u64::try_from(number(&counts, name)).unwrap_or(0);
        let lease = map("lease");
        let checkpoint = |(name, value): (String, AttributeValue)| {
            let checkpoint = match value {
                AttributeValue::M(key) => Checkpoint::At(key),
                _ => Checkpoint::Done,
            };
            (name, checkpoint)
        };
        Self {
            id: id.to_owned(),
            phase: phase(&words(item, "phase")),
            lease: (!lease.is_empty())
                .then(|| Lease { owner: words(&lease, "owner"), until_millis: number(&lease, "untilMillis") }),
            fence: number(item, "fence"),
            checkpoints: map("checkpoints").into_iter().map(checkpoint).collect(),
            counts: Counts {
                scanned: count("scanned"),
                carried: count("carried"),
                superseded: count("superseded"),
                stuck: count("stuck"),
                removed: count("removed"),
                reverted: count("reverted"),
                units: count("units") as f64,
            },
            scanned_before: u64::try_from(number(item, "scannedBefore")).unwrap_or(0),
            begun_millis: number(item, "begunMillis"),
            written_millis: number(item, "writtenMillis"),
        }
    }
}

fn number(item: &Attributes, name: &str) -> i64 {
    match item.get(name) {
        Some(AttributeValue::N(number)) => number.to_i64().unwrap_or(0),
        _ => 0,
    }
}

fn words(item: &Attributes, name: &str) -> String {
    match item.get(name) {
        Some(AttributeValue::S(text)) => text.clone(),
        _ => String::new(),
    }
}

/// Maps a phase that this version does not know to `Open`, in which both forms are read.
fn phase(name: &str) -> Phase {
    let all = [
        Phase::Open,
        Phase::Filling,
        Phase::Filled,
        Phase::Closing,
        Phase::Closed,
        Phase::RollingBack,
        Phase::RolledBack,
    ];
    all.into_iter().find(|phase| phase.name() == name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_reads_as_it_was_written() {
        let state = State {
            id: "chat 0123".to_owned(),
            phase: Phase::Filling,
            lease: Some(Lease { owner: "one".to_owned(), until_millis: 17 }),
            fence: 3,
            checkpoints: [
                ("chat#0".to_owned(), Checkpoint::Done),
                ("chat#1".to_owned(), Checkpoint::At([("pk".to_owned(), "a".into())].into())),
            ]
            .into(),
            counts: Counts { scanned: 5, carried: 4, units: 12.0, ..Counts::default() },
            scanned_before: 1,
            begun_millis: 1,
            written_millis: 2,
        };
        assert_eq!(State::of(&state.id, &state.attributes()), state);
    }
}
