//! Stores, clocks and models for migration tests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use keyform::execute::BoxFuture;
use keyform::runtime::run::{Answer, Call, Found, RunError, RunSettings, Runner};
use keyform::{AttributeValue, Attributes, Execute, SystemWorld, World};
use keyform_check::Checked;
use keyform_runtime::evolve::{Migration, Pace, Progress};
use keyform_scenario::{contents, stage};

pub const V1: &str = include_str!("../../../../../systems/workspaces/legacy/workspaces-v1.kf");
pub const V2: &str = include_str!("../../../../../systems/workspaces/workspaces.kf");
pub const HOME: &str = "00000000-0000-4000-8000-000000000001";

const START_MILLIS: i64 = 1_800_000_000_000;

/// Clock that advances when a task sleeps, and slightly with each read.
#[derive(Debug)]
pub struct Clock {
    millis: AtomicI64,
    /// Variable in the names of the test's tables.
    pub stage: String,
}

impl Clock {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { millis: AtomicI64::new(START_MILLIS), stage: stage() })
    }

    /// Resets to the start time, however long creating tables took, so that later writes have the same times in every
    /// run.
    pub fn rewind(&self) {
        self.millis.store(START_MILLIS, Ordering::SeqCst);
    }

    pub fn advance(&self, millis: i64) {
        self.millis.fetch_add(millis, Ordering::SeqCst);
    }
}

impl World for Clock {
    fn now_millis(&self) -> i64 {
        self.millis.fetch_add(1, Ordering::SeqCst)
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.advance(i64::try_from(time.as_millis()).unwrap_or(0));
        // A remote store creates tables in its own time, independent of this clock.
        SystemWorld.sleep((time / 100).min(Duration::from_millis(10)))
    }

    fn fill(&self, bytes: &mut [u8]) {
        SystemWorld.fill(bytes);
    }

    fn ulid(&self) -> String {
        SystemWorld.ulid()
    }

    fn jitter(&self) -> f64 {
        0.5
    }
}

pub fn variables(clock: &Clock) -> BTreeMap<String, String> {
    [("stage".to_owned(), clock.stage.clone())].into()
}

pub fn checked(text: &str) -> Arc<Checked> {
    let checked = Checked::read(text);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    Arc::new(checked)
}

pub fn runner(text: &str, store: &Arc<dyn Execute>, clock: &Arc<Clock>) -> Runner {
    let settings = RunSettings { variables: variables(clock), ..RunSettings::default() };
    Runner::new(checked(text), Arc::clone(store), Arc::clone(clock) as Arc<dyn World>, settings).unwrap()
}

pub fn migration(text: &str, store: &Arc<dyn Execute>, clock: &Arc<Clock>) -> Migration {
    let world = Arc::clone(clock) as Arc<dyn World>;
    Migration::new(checked(text), Arc::clone(store), world, variables(clock)).unwrap()
}

pub fn pace(owner: &str) -> Pace {
    Pace { owner: owner.to_owned(), ..Pace::default() }
}

pub fn quiet(_: &Progress) {}

pub fn call(arguments: &[(&str, &str)]) -> Call {
    let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    Call { arguments, ..Call::default() }
}

pub async fn read(runner: &Runner, name: &str, arguments: &[(&str, &str)]) -> Answer {
    runner.read(name, &call(arguments)).await.unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub async fn write(runner: &Runner, name: &str, arguments: &[(&str, &str)]) -> Result<Option<Found>, RunError> {
    runner.write(name, &call(arguments)).await
}

pub fn one(answer: Answer) -> Option<Attributes> {
    match answer {
        Answer::One(found) => found.map(|found| found.fields.into()),
        other => panic!("{other:?}"),
    }
}

pub fn items(answer: Answer) -> Vec<Attributes> {
    match answer {
        Answer::Page { items, .. } => items.into_iter().map(|found| found.fields.into()).collect(),
        other => panic!("{other:?}"),
    }
}

/// Returns all pages of a read.
pub async fn all(runner: &Runner, name: &str, arguments: &[(&str, &str)]) -> Vec<Attributes> {
    let mut call = call(arguments);
    let mut all = Vec::new();
    loop {
        let Answer::Page { items, cursor, .. } = runner.read(name, &call).await.unwrap() else { panic!("no page") };
        all.extend(items.into_iter().map(|found| found.fields.into()));
        match cursor {
            Some(cursor) => call.cursor = Some(cursor),
            None => return all,
        }
    }
}

pub fn text(item: &Attributes, name: &str) -> String {
    match item.get(name) {
        Some(AttributeValue::S(text)) => text.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

pub fn hash(number: usize) -> String {
    use sha2::Digest as _;
    hex::encode(sha2::Sha256::digest(number.to_string()))
}

pub fn user(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// Writes data in the old form: items, settings, members.
pub async fn legacy(store: &Arc<dyn Execute>, clock: &Arc<Clock>, count: usize) -> Runner {
    let v1 = runner(V1, store, clock);
    v1.create_tables().await.unwrap();
    clock.rewind();
    for number in 0..count {
        let title = format!("item {number}");
        write(&v1, "saveItem", &[("hash", &hash(number)), ("title", &title), ("content", "text")]).await.unwrap();
        clock.advance(1000);
    }
    for number in 0..count / 10 + 1 {
        write(&v1, "setSetting", &[("name", &format!("setting-{number}")), ("value", "on")]).await.unwrap();
        write(&v1, "addMember", &[("userId", &user(number + 10))]).await.unwrap();
    }
    v1
}

/// Returns all items of a table by key.
pub async fn dump(store: &Arc<dyn Execute>, table: &str, key: &[&str]) -> BTreeMap<String, Attributes> {
    let items = contents(&**store, table).await.into_iter();
    items.map(|item| (key.iter().map(|name| text(&item, name)).collect::<Vec<_>>().join(" "), item)).collect()
}

/// Returns all items of the workspaces table.
pub async fn workspaces_table(store: &Arc<dyn Execute>, clock: &Clock) -> BTreeMap<String, Attributes> {
    dump(store, &format!("workspaces-{}", clock.stage), &["PK", "SK"]).await
}
