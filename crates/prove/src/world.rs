//! In-memory store with one or two worlds that can be called, inspected and restored.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use keyform_core::execute::BoxFuture;
use keyform_core::operation::{DeleteItem, PutItem, Scan};
use keyform_core::{Attributes, Error, Execute, Operation, Output};
use keyform_engine::store::Store;
use keyform_engine::{Database, Options};
use keyform_language::bind;
use keyform_language::scalar::Scalar;
use keyform_language::schema::{EntityId, FieldId, Model, Permission, Read};
use keyform_language::{Checked, template};
use keyform_runtime::run::{Answer, Call, Caller, Found, RunError, RunSettings, Runner};

use super::vocabulary::{NOW_MILLIS, Owner, Vocabulary};

/// Items by table and key.
pub(super) type Items = BTreeMap<(String, String), Attributes>;

/// Store with one or two worlds.
pub(super) struct World {
    database: Database,
    runner: Runner,
    /// Initial contents of the store.
    seeded: Items,
    own: Items,
    /// The other caller's items in this store.
    others: Vec<Foreign>,
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

/// Part of the other world that a store contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// Items that public reads return.
    Known,
    /// All items.
    Everything,
}

/// Item of the other caller.
struct Foreign {
    place: (String, String),
    item: Attributes,
    /// A public read returns such items.
    known: bool,
    /// A public read returns such items with all their fields.
    open: bool,
    /// The item contains a claim of the other caller.
    owned: bool,
}

/// Returns the model with encryption disabled. Visibility does not depend on encryption, and items are compared as
/// stored.
fn unsealed(checked: &Checked) -> Checked {
    let mut checked = checked.clone();
    let fields = checked.model.entities.iter_mut().flat_map(|entity| &mut entity.fields);
    fields.for_each(|field| field.flags.encrypted = None);
    checked
}

impl World {
    pub(super) fn new(checked: &Checked, vocabulary: &Vocabulary<'_>, share: Share) -> Result<Self, RunError> {
        let options = Options { world: Arc::new(Still::default()), sweep_interval: None, ..Options::default() };
        let database = Database::on(Store::in_memory(), options)
            .map_err(|error| RunError::NotRunnable(format!("a store in memory does not open: {error}")))?;
        let still = Arc::new(Still::default());
        let changed = Arc::new(AtomicBool::new(false));
        let requests = Arc::new(AtomicUsize::new(0));
        let watched = Watched { database: database.clone(), changed: changed.clone(), requests: requests.clone() };
        let runner =
            Runner::new(Arc::new(unsealed(checked)), Arc::new(watched), still.clone(), RunSettings::default())?;
        block_on(runner.create_tables())?;
        let model = &runner.checked().model;
        let own = seed(model, vocabulary, Owner::Caller).into_iter().map(|(_, place, item)| (place, item)).collect();
        let others = seed(model, vocabulary, Owner::Other).into_iter().map(|(entity, place, item)| Foreign {
            place,
            item,
            known: is_known(model, entity),
            open: is_open(model, entity),
            owned: vocabulary.concepts.is_owned(entity),
        });
        let others = others.filter(|foreign| foreign.known || share == Share::Everything).collect();
        let mut world = Self { database, runner, seeded: Items::new(), own, others, still, changed, requests };
        world.seeded = world.own.clone();
        world.seeded.extend(world.others.iter().map(|foreign| (foreign.place.clone(), foreign.item.clone())));
        world.seeded.iter().for_each(|((table, _), item)| world.put(table, item));
        world.changed.store(false, Ordering::Relaxed);
        Ok(world)
    }

    pub(super) fn read(&mut self, name: &str, arguments: &Attributes, caller: &Caller) -> Result<Answer, RunError> {
        let call = self.call(arguments, caller);
        block_on(self.runner.read(name, &call))
    }

    pub(super) fn write(
        &mut self,
        name: &str,
        arguments: &Attributes,
        caller: &Caller,
    ) -> Result<Option<Found>, RunError> {
        let call = self.call(arguments, caller);
        block_on(self.runner.write(name, &call))
    }

    /// Prepares a call. Generated ids repeat in every call, so that both worlds get the same; each call has its own
    /// token.
    fn call(&self, arguments: &Attributes, caller: &Caller) -> Call {
        self.still.ids.store(0, Ordering::Relaxed);
        self.requests.store(0, Ordering::Relaxed);
        let number = self.still.calls.fetch_add(1, Ordering::Relaxed);
        Call {
            arguments: arguments.clone(),
            caller: caller.clone(),
            cursor: None,
            token: Some(format!("call-{number}")),
        }
    }

    pub(super) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    pub(super) fn seeded(&self) -> &Items {
        &self.seeded
    }

    /// Returns the other caller's items that no public read returns.
    pub(super) fn others(&self) -> Items {
        let unknown = self.others.iter().filter(|foreign| !foreign.known);
        unknown.map(|foreign| (foreign.place.clone(), foreign.item.clone())).collect()
    }

    /// Returns the other caller's items that calls must not change.
    pub(super) fn fixed(&self) -> impl Iterator<Item = (&(String, String), &Attributes)> {
        let fixed = self.others.iter().filter(|foreign| !foreign.known || foreign.owned);
        fixed.map(|foreign| (&foreign.place, &foreign.item))
    }

    /// Returns whether the result matches an item of the other caller that is not fully public, and none of the
    /// caller's own.
    pub(super) fn is_only_others(&self, found: &Found) -> bool {
        let is = |item: &Attributes| found.fields.iter().all(|(name, value)| item.get(name) == Some(value));
        let mut closed = self.others.iter().filter(|foreign| !foreign.open);
        closed.any(|foreign| is(&foreign.item)) && !self.own.values().any(is)
    }

    /// Returns the current contents of the store.
    pub(super) fn dump(&self) -> Items {
        if !self.changed.load(Ordering::Relaxed) {
            return self.seeded.clone();
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
        items
    }

    /// Restores the initial contents.
    pub(super) fn restore(&self) {
        if !self.changed.load(Ordering::Relaxed) {
            return;
        }
        let (before, now) = (&self.seeded, self.dump());
        for (place, item) in &now {
            if !before.contains_key(place) {
                self.delete(&place.0, item);
            }
        }
        for (place, item) in before {
            if now.get(place) != Some(item) {
                self.put(&place.0, item);
            }
        }
        self.changed.store(false, Ordering::Relaxed);
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

/// Creates one item of each entity for an owner.
fn seed(model: &Model, vocabulary: &Vocabulary<'_>, owner: Owner) -> Vec<(EntityId, (String, String), Attributes)> {
    let mut items = Vec::new();
    for id in model.entity_ids() {
        let entity = model.entity(id);
        let Some(table) = entity.table.map(|table| model.table(table)) else { continue };
        if let Ok(item) = bind::item(table, entity, &fields(model, vocabulary, id, owner)) {
            items.push((id, (table.physical.clone(), place(model, &table.physical, &item)), item));
        }
    }
    items
}

/// Returns whether a public read returns items of the entity.
fn is_known(model: &Model, entity: EntityId) -> bool {
    public_reads(model, entity).next().is_some()
}

/// Returns whether a public read returns items of the entity with all their fields.
fn is_open(model: &Model, entity: EntityId) -> bool {
    public_reads(model, entity)
        .any(|read| read.select.is_none() && matches!(read.result, keyform_language::schema::Result::Parts(_)))
}

fn public_reads(model: &Model, entity: EntityId) -> impl Iterator<Item = &Read> {
    let public = model.reads.iter().filter(|read| matches!(read.allow, Some(Permission::Public(_))));
    public.filter(move |read| read.result.entities().contains(&entity))
}

fn fields(model: &Model, vocabulary: &Vocabulary<'_>, id: EntityId, owner: Owner) -> Attributes {
    let entity = model.entity(id);
    let ttl = entity.table.and_then(|table| model.table(table).ttl.as_ref()).map(|ttl| ttl.value.as_str());
    let value = |number: usize| {
        let field = &entity.fields[number];
        if ttl == Some(field.name.as_str()) {
            return vocabulary.ahead(&field.kind);
        }
        vocabulary.field(id, FieldId(number), owner)
    };
    let keys = entity.key_fields();
    let is_there = |number: &usize| {
        !entity.fields[*number].optional || keys.contains(&FieldId(*number)) || vocabulary.has_optional()
    };
    let there = (0..entity.fields.len()).filter(is_there);
    there.map(|number| (entity.fields[number].name.clone(), value(number))).collect()
}

fn key(model: &Model, table: &str, item: &Attributes) -> Attributes {
    let table = model.tables.iter().find(|of| of.physical == table);
    let names = table.iter().flat_map(|table| table.key_names());
    names.filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
}

fn place(model: &Model, table: &str, item: &Attributes) -> String {
    format!("{:?}", key(model, table, item))
}

/// Fixed clock, and ids that restart with each call.
#[derive(Default)]
struct Still {
    ids: AtomicU64,
    calls: AtomicU64,
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
        format!("{:0>bytes$}", self.next())
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
