//! In-memory store with one or both tenants that can be called, inspected and restored.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use keyform_check::Checked;
use keyform_core::execute::BoxFuture;
use keyform_core::operation::{DeleteItem, PutItem, Scan};
use keyform_core::{AttributeValue, Attributes, Error, Execute, Item, Operation, Output};
use keyform_engine::store::Store;
use keyform_engine::{Database, Options};
use keyform_language::scalar::Scalar;
use keyform_language::schema::{EntityId, Field, Model};
use keyform_language::template;
use keyform_runtime::run::{Answer, Call, Found, RunError, RunSettings, Runner, fits, in_words};

use super::caller::Owner;
use super::seed::{self, Place, Seeded, key, place};
use super::vocabulary::{NOW_MILLIS, Vocabulary};

/// Rounds by which the contents of a changed tenant are later. Odd, so that its times are on the other side of now.
const CHANGE: usize = 3;

/// Items by table and key.
pub(super) type Items = BTreeMap<Place, Attributes>;

/// Store with one or two tenants.
pub(super) struct World {
    database: Database,
    runner: Runner,
    /// Initial contents of the store.
    seeded: Items,
    own: Vec<Seeded>,
    others: Vec<Seeded>,
    /// The other tenant's items as in the other stores; differs from `others` in a changed store.
    unchanged: Vec<Seeded>,
    /// Entities whose items are not confidential in the current call.
    opened: BTreeSet<EntityId>,
    tenants: Tenants,
    still: Arc<Still>,
    /// Set when a request has changed the initial contents.
    changed: Arc<AtomicBool>,
    /// Number of requests of the last call.
    requests: Arc<AtomicUsize>,
}

/// Store wrapper that counts requests and records changes.
struct Watched {
    database: Database,
    changed: Arc<AtomicBool>,
    requests: Arc<AtomicUsize>,
}

impl Execute for Watched {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        let reads = matches!(
            operation,
            Operation::GetItem(_) | Operation::BatchGetItem(_) | Operation::Query(_) | Operation::Scan(_)
        );
        self.requests.fetch_add(1, Ordering::Relaxed);
        let output = self.database.execute(operation);
        Box::pin(async move {
            let output = output.await;
            if !reads && output.is_ok() {
                self.changed.store(true, Ordering::Relaxed);
            }
            output
        })
    }

    fn indexes_keep_up(&self) -> bool {
        self.database.indexes_keep_up()
    }
}

/// Which tenants a store contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tenants {
    /// The caller's tenant, and of the other one only the entities that are opened.
    Alone,
    /// Both tenants.
    Both,
    /// Both tenants, where the other one has the same identifiers with other contents.
    Changed,
}

/// Returns the model as the trial runs it: without encryption, because items are compared as stored, and without the
/// findings about permissions, because the trial has to find leaks itself.
fn runnable(checked: &Checked) -> Checked {
    let mut checked = checked.clone();
    checked.diagnostics.retain(|finding| !finding.code.0.starts_with('P'));
    let fields = checked.model.entities.iter_mut().flat_map(|entity| &mut entity.fields);
    fields.for_each(|field| field.flags.encrypted = None);
    checked
}

impl World {
    pub(super) fn new(checked: &Checked, vocabulary: &Vocabulary<'_>, tenants: Tenants) -> Result<Self, RunError> {
        let options = Options { world: Arc::new(Still::default()), sweep_interval: None, ..Options::default() };
        let database = Database::on(Store::in_memory(), options)
            .map_err(|error| RunError::NotRunnable(format!("a store in memory does not open: {error}")))?;
        let still = Arc::new(Still::default());
        let changed = Arc::new(AtomicBool::new(false));
        let requests = Arc::new(AtomicUsize::new(0));
        let watched = Watched { database: database.clone(), changed: changed.clone(), requests: requests.clone() };
        let runner =
            Runner::new(Arc::new(runnable(checked)), Arc::new(watched), still.clone(), RunSettings::default())?;
        block_on(runner.create_tables())?;
        let model = &runner.checked().model;
        let unchanged = seed::of_tenant(model, vocabulary, Owner::Other);
        // Two names that a key does not distinguish are one item, which is then the other tenant's.
        let is_taken = |item: &Seeded| unchanged.iter().any(|other| other.place == item.place);
        let own: Vec<Seeded> =
            seed::of_tenant(model, vocabulary, Owner::Caller).into_iter().filter(|item| !is_taken(item)).collect();
        let others = match tenants {
            Tenants::Alone | Tenants::Both => unchanged.clone(),
            Tenants::Changed => {
                let changed = seed::of_tenant(model, &seed::shifted(vocabulary, CHANGE), Owner::Other);
                changed.into_iter().filter(|other| own.iter().all(|own| own.place != other.place)).collect()
            }
        };
        let (seeded, opened) = (Items::new(), BTreeSet::new());
        let mut world =
            Self { database, runner, seeded, own, others, unchanged, opened, tenants, still, changed, requests };
        world.fill();
        Ok(world)
    }

    fn fill(&mut self) {
        let is_open = |other: &&Seeded| self.opened.contains(&other.entity);
        let closed = self.others.iter().filter(|other| self.tenants != Tenants::Alone && !is_open(other));
        let items = closed.chain(self.unchanged.iter().filter(is_open)).chain(&self.own);
        let seeded: Items = items.map(|seeded| (seeded.place.clone(), seeded.item.clone())).collect();
        self.replace(&self.seeded, &seeded);
        self.seeded = seeded;
        self.changed.store(false, Ordering::Relaxed);
    }

    /// Opens entities: their items of the other tenant are not confidential, so they are in both stores.
    pub(super) fn open(&mut self, entities: &BTreeSet<EntityId>) {
        if self.opened != *entities {
            self.opened.clone_from(entities);
            self.fill();
        }
    }

    pub(super) fn model(&self) -> &Model {
        &self.runner.checked().model
    }

    pub(super) fn read(&self, name: &str, call: &Call) -> Result<Answer, RunError> {
        self.begin();
        block_on(self.runner.read(name, call))
    }

    pub(super) fn write(&self, name: &str, call: &Call) -> Result<Option<Found>, RunError> {
        self.begin();
        block_on(self.runner.write(name, call))
    }

    /// Prepares a call. Generated ids repeat in every call, so that both stores get the same.
    fn begin(&self) {
        self.still.ids.store(0, Ordering::Relaxed);
        self.requests.store(0, Ordering::Relaxed);
    }

    /// Returns the reason why a stored item does not fit its entity.
    pub(super) fn misfit(&self, table: &str, item: &Attributes) -> Option<String> {
        let item = Item::from(item);
        match self.runner.found_in(table, &item) {
            Err(RunError::Broken(broken)) => Some(broken.to_string()),
            Ok(Some(found)) => self.wrong_field(&found),
            _ => None,
        }
    }

    fn wrong_field(&self, found: &Found) -> Option<String> {
        let entity = self.model().entity(found.entity);
        let is_wrong = |field: &&Field| {
            let value = found.fields.get(&field.name).filter(|value| **value != AttributeValue::Null);
            value.is_some_and(|value| !fits(value, &field.kind))
        };
        let field = entity.fields.iter().find(is_wrong)?;
        Some(format!("`{}.{}` is not {}", entity.name, field.name, in_words(&field.kind)))
    }

    /// Returns the entity of a stored item.
    pub(super) fn entity(&self, table: &str, item: &Attributes) -> Option<EntityId> {
        self.runner.entity_in(table, &Item::from(item))
    }

    pub(super) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    pub(super) fn seeded(&self) -> &Items {
        &self.seeded
    }

    /// Returns the entities whose items are not confidential in the current call.
    pub(super) fn opened(&self) -> &BTreeSet<EntityId> {
        &self.opened
    }

    /// Returns the other tenant's items that are not opened.
    pub(super) fn closed(&self) -> impl Iterator<Item = &Seeded> {
        self.others.iter().filter(|other| !self.opened.contains(&other.entity))
    }

    /// Returns all items of the other tenant.
    pub(super) fn others(&self) -> &[Seeded] {
        &self.others
    }

    pub(super) fn own(&self) -> &[Seeded] {
        &self.own
    }

    /// Returns the item of the other tenant that the result matches, unless an own one matches too.
    pub(super) fn other_of(&self, found: &Found) -> Option<&Seeded> {
        let is = |seeded: &&Seeded| {
            let mut fields = found.fields.iter().peekable();
            fields.peek().is_some() && fields.all(|(name, value)| seeded.item.get(name) == Some(value))
        };
        let other = self.others.iter().filter(|other| other.entity == found.entity).find(is);
        other.filter(|_| !self.own.iter().filter(|own| own.entity == found.entity).any(|own| is(&own)))
    }

    /// Returns the current contents of the store. Most calls change nothing, so they copy nothing.
    pub(super) fn dump(&self) -> Cow<'_, Items> {
        if !self.changed.load(Ordering::Relaxed) {
            return Cow::Borrowed(&self.seeded);
        }
        let model = &self.runner.checked().model;
        let mut items = Items::new();
        for table in &model.tables {
            let scan = Scan { table: table.physical.clone(), consistent: true, ..scan() };
            if let Ok(page) = self.database.call_blocking(scan) {
                for item in page.items.unwrap_or_default() {
                    let item = item.to_attributes();
                    items.insert((table.physical.clone(), place(model, &table.physical, &item)), item);
                }
            }
        }
        Cow::Owned(items)
    }

    /// Restores the initial contents.
    pub(super) fn restore(&self) {
        if self.changed.load(Ordering::Relaxed) {
            self.replace(&self.dump(), &self.seeded);
            self.changed.store(false, Ordering::Relaxed);
        }
    }

    fn replace(&self, now: &Items, then: &Items) {
        for (place, item) in now.iter().filter(|(place, _)| !then.contains_key(*place)) {
            self.delete(&place.0, item);
        }
        for (place, item) in then.iter().filter(|(place, item)| now.get(*place) != Some(*item)) {
            self.put(&place.0, item);
        }
    }

    /// Deletes items directly, without a pattern.
    pub(super) fn remove(&self, gone: &[&Seeded]) {
        gone.iter().for_each(|seeded| self.delete(&seeded.place.0, &seeded.item));
        self.changed.store(true, Ordering::Relaxed);
    }

    fn put(&self, table: &str, item: &Attributes) {
        let put = PutItem { table: table.to_owned(), item: item.clone(), ..PutItem::default() };
        self.database.call_blocking(put).expect("an item of the model can be put");
    }

    fn delete(&self, table: &str, item: &Attributes) {
        let key = key(&self.runner.checked().model, table, item);
        let delete = DeleteItem { table: table.to_owned(), key, ..DeleteItem::default() };
        self.database.call_blocking(delete).expect("an item that is there can be deleted");
    }
}

fn scan() -> Scan {
    Scan {
        table: String::new(),
        index: None,
        filter: None,
        projection: None,
        select: None,
        limit: None,
        consistent: true,
        segment: None,
        start: None,
        return_capacity: Default::default(),
    }
}

/// Fixed clock, and ids that restart with each call.
#[derive(Default)]
struct Still {
    ids: AtomicU64,
}

impl Still {
    fn next(&self) -> usize {
        usize::try_from(self.ids.fetch_add(1, Ordering::Relaxed)).unwrap_or(usize::MAX) + 100
    }
}

impl keyform_core::World for Still {
    fn now_millis(&self) -> i64 {
        NOW_MILLIS
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }

    fn ulid(&self) -> String {
        template::sample::of_type(&Scalar::Ulid.into(), "fresh", self.next())
    }

    fn uuid(&self) -> String {
        template::sample::of_type(&Scalar::Uuid.into(), "fresh", self.next())
    }

    fn code(&self, length: usize) -> String {
        format!("{:0>length$}", self.next())
    }

    fn token(&self, bytes: usize) -> String {
        format!("{:0>width$x}", self.next(), width = 2 * bytes)
    }
}

/// Runs a future to completion. An in-memory store is always ready, so this never blocks for long.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        std::thread::yield_now();
    }
}
