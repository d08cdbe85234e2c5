//! The state of a migration, kept in the store itself: its phase, who runs it, how far it came, and what it has counted.
//!
//! One item of the table `keyform-migrations`. Its id is the model's name and a hash of what its evolutions say, so that an evolution that
//! says something else is another migration. Every running copy of an application reads the phase again after [`REFRESH_MILLIS`]; a copy
//! that still believes an older phase is slower, and never wrong (except for the way back, which waits for all of them).

use std::collections::BTreeMap;
use std::time::Duration;

use keyform_core::expression::{Comparator, Condition, Operand, Path};
use keyform_core::operation::{CreateTable, PutItem};
use keyform_core::table::{BillingMode, KeySchema, ScalarType};
use keyform_core::{AttributeValue, Attributes, Error, ErrorCode, Execute, Operation};
use keyform_language::bookkeeping::MIGRATIONS;
use serde::Serialize;

use super::find::get;
use super::form::Form;
use super::mark::sum;
use crate::run::Surroundings;

/// How old a copy's knowledge of the phase may be.
pub const REFRESH_MILLIS: i64 = 10_000;
/// How long a lease holds without being renewed.
pub const LEASE_MILLIS: i64 = 60_000;
/// How often a new table is looked at, and the time between.
const LOOKS_MAX: u32 = 60;
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// Where a migration is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Nobody has begun. Reads and writes know both forms.
    #[default]
    Open,
    /// The old items are being carried over.
    Filling,
    /// All old items that were there have been carried over.
    Filled,
    /// The new form alone is read; what is left of the old one is being removed.
    Closing,
    /// It is over.
    Closed,
    /// Items go back to the old form; writes wait.
    RollingBack,
    /// The old form speaks for its items again.
    RolledBack,
}

impl Phase {
    /// Whether reads look for old items.
    #[must_use]
    pub fn reads_both(self) -> bool {
        !matches!(self, Self::Closing | Self::Closed)
    }

    /// The phase as it is written.
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

/// Who runs a migration, and until when nobody else may.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Lease {
    /// Who.
    pub owner: String,
    /// In milliseconds since 1970.
    pub until_millis: i64,
}

/// What a migration has counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Items read.
    pub scanned: u64,
    /// Items carried over.
    pub carried: u64,
    /// Old items in whose new place another was already.
    pub superseded: u64,
    /// Items that cannot be carried over.
    pub stuck: u64,
    /// Old items removed.
    pub removed: u64,
    /// Items that went back.
    pub reverted: u64,
    /// Write units spent.
    pub units: f64,
}

/// How far a segment of a table was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Checkpoint {
    /// To this key.
    At(Attributes),
    /// To its end.
    Done,
}

/// The state of a migration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Which migration.
    pub id: String,
    /// Where it is.
    pub phase: Phase,
    /// Who runs it.
    pub lease: Option<Lease>,
    /// Raised with each lease that is taken; a write of the state with an older one is refused.
    pub fence: i64,
    /// How far each segment came, by table and number.
    pub checkpoints: BTreeMap<String, Checkpoint>,
    /// What was counted.
    pub counts: Counts,
    /// When the first run began, in milliseconds since 1970.
    pub begun_millis: i64,
    /// When it was written last.
    pub written_millis: i64,
}

/// The id of the migration that a model's evolutions are; `None` if it has none.
#[must_use]
pub fn id(model: &str, forms: &[Form]) -> Option<String> {
    if forms.is_empty() {
        return None;
    }
    let words: Attributes =
        forms.iter().enumerate().map(|(number, form)| (number.to_string(), form.words().as_str().into())).collect();
    Some(format!("{model} {}", &sum(&words)[..16]))
}

/// The state of a migration; `None` if nobody has begun it.
///
/// # Errors
///
/// If the store fails.
pub async fn load(store: &dyn Execute, id: &str) -> Result<Option<State>, Error> {
    match get(store, MIGRATIONS, key(id)).await {
        Ok(item) => Ok(item.map(|item| State::of(id, &item))),
        Err(error) if error.code() == ErrorCode::ResourceNotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Waits until the table of states answers. A store may call a table active a moment before it can be read.
///
/// # Errors
///
/// If the store fails, or still does not know the table after a while.
pub async fn wait_until_readable(store: &dyn Execute, id: &str, surroundings: &dyn Surroundings) -> Result<(), Error> {
    let mut looks = 0;
    loop {
        match get(store, MIGRATIONS, key(id)).await {
            Err(error) if error.code() == ErrorCode::ResourceNotFound && looks < LOOKS_MAX => looks += 1,
            Err(error) => return Err(error),
            Ok(_) => return Ok(()),
        }
        surroundings.sleep(BETWEEN_LOOKS).await;
    }
}

/// Writes a state if nobody has taken the lease since it was read. Whether it was written.
///
/// # Errors
///
/// If the store fails.
pub async fn save(store: &dyn Execute, state: &State, fence_before: i64) -> Result<bool, Error> {
    let fence = Path::attribute("fence");
    let same = Condition::Compare {
        left: Operand::Path(fence.clone()),
        comparator: Comparator::Equal,
        right: Operand::Value(AttributeValue::from(fence_before).into()),
    };
    let condition =
        if fence_before == 0 { Condition::Or(vec![Condition::AttributeNotExists(fence), same]) } else { same };
    let put = PutItem {
        table: MIGRATIONS.to_owned(),
        item: state.attributes(),
        condition: Some(condition),
        ..PutItem::default()
    };
    match store.execute(Operation::PutItem(put)).await {
        Ok(_) => Ok(true),
        Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => Ok(false),
        Err(error) => Err(error),
    }
}

/// The request that makes the table of states.
#[must_use]
pub fn state_table() -> CreateTable {
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

/// A phase that this version does not know is one in which both forms are read.
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
            begun_millis: 1,
            written_millis: 2,
        };
        assert_eq!(State::of(&state.id, &state.attributes()), state);
    }
}
