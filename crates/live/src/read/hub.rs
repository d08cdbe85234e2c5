//! Reads the feed of one table and distributes its changes to topics.
//!
//! ```text
//! groups   [pk]         CHANNEL#1 ─► messages(1) ─► three subscribers
//!                       CHANNEL#2 ─► messages(2), pinned(2)
//!          [pk, sk]     USER#7, PROFILE ─► userById(7)
//!          [gsi1pk]     …
//! ```
//!
//! A change is looked up once per group, by the item before and after it: the cost does not depend on the number of
//! subscriptions to other keys.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use keyform_core::operation::SequenceNumber;
use keyform_core::{Attributes, Error, Execute, Item, World};
use keyform_language::schema::EntityId;
use keyform_runtime::run::Reach;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use super::event::{Delivery, Ended, LiveItem};
use super::subscriber::Subscriber;
use super::topic::{Followed, Topic};
use crate::feed::{Batch, Feed, FeedError, Position};

/// Limit of the delay after a failure of the store.
const RETRY_MAX: Duration = Duration::from_secs(5);
/// Consecutive failures after which new subscribers are rejected; the hub keeps retrying.
const FAILED_READS_MAX: u32 = 3;
/// Interval at which idle subscribers get a new token, so that theirs is not trimmed.
const REFRESH: Duration = Duration::from_secs(300);
/// Interval at which a hub checks whether it is still needed.
const LOOK: Duration = Duration::from_secs(15);

/// Reader of one table's feed.
pub(super) struct Hub {
    store: Arc<dyn Execute>,
    world: Arc<dyn World>,
    table: String,
    state: Mutex<State>,
    /// Position of the feed. Written under the lock of `state`; hubs of old tables read it without that lock.
    position: Mutex<Arc<Position>>,
    progress: watch::Sender<Progress>,
    /// Moment at which the feed was last read to its end, and whether it has been waiting to be woken since.
    caught_up: Mutex<(Duration, bool)>,
    /// Round that a caller of `pass` waits for.
    wanted_round: AtomicU64,
    kick: Notify,
}

/// Progress of the hub.
#[derive(Clone, Debug, Default)]
struct Progress {
    passed: Option<SequenceNumber>,
    rounds: u64,
    failure: Option<String>,
    /// Consecutive failures of the store.
    failed_reads: u32,
    failed_read: Option<Error>,
}

struct State {
    topics: BTreeMap<u64, Followed>,
    by_identity: HashMap<String, u64>,
    next_topic: u64,
    groups: HashMap<Vec<String>, HashMap<Bytes, BTreeSet<u64>>>,
    everything: BTreeSet<u64>,
    /// Topics whose items have two forms, by model and evolving entities.
    evolving: HashMap<Evolving, BTreeSet<u64>>,
    /// Subscribers whose guards depend on an item, by its key.
    guards: HashMap<Bytes, Vec<Weak<Subscriber>>>,
    /// Moment at which all subscribers got a new token.
    refreshed: Duration,
    /// Topics with expiring items, by the last second of the first such item.
    due: BTreeSet<(i64, u64)>,
    scheduled: HashMap<u64, i64>,
}

/// Key of topics that share the same conversion: address of the model, and the evolving entities.
type Evolving = (usize, Vec<EntityId>);

/// Callback for a subscriber whose guard depends on a changed item.
pub(super) type Suspect = dyn Fn(Arc<Subscriber>) + Send + Sync;

impl Hub {
    pub(super) fn new(store: Arc<dyn Execute>, world: Arc<dyn World>, table: String, feed: &Feed) -> Self {
        let now = world.monotonic();
        let progress = Progress { passed: feed.passed(), ..Progress::default() };
        let state = State {
            topics: BTreeMap::new(),
            by_identity: HashMap::new(),
            next_topic: 0,
            groups: HashMap::new(),
            everything: BTreeSet::new(),
            evolving: HashMap::new(),
            guards: HashMap::new(),
            refreshed: now,
            due: BTreeSet::new(),
            scheduled: HashMap::new(),
        };
        Self {
            store,
            world,
            table,
            state: Mutex::new(state),
            position: Mutex::new(feed.position().clone()),
            progress: watch::channel(progress).0,
            caught_up: Mutex::new((now, false)),
            wanted_round: AtomicU64::new(0),
            kick: Notify::new(),
        }
    }

    /// Reads the feed until it ends or `is_needed` returns false.
    pub(super) async fn run(&self, mut feed: Feed, suspect: &Suspect, is_needed: impl Fn() -> bool) {
        let mut failures = 0;
        while is_needed() {
            let begun = self.world.monotonic();
            match feed.read().await {
                Ok(batch) => {
                    self.note_success(failures);
                    failures = 0;
                    self.apply(&batch, suspect);
                    if batch.caught_up {
                        *self.caught_up.lock() = (begun, false);
                    }
                    self.note(&feed, batch.caught_up);
                    if batch.caught_up && !self.is_awaited() {
                        self.rest(&feed).await;
                    }
                }
                Err(FeedError::Store(error)) => {
                    failures += 1;
                    self.note_failure(failures, error);
                    let pause = Duration::from_millis(100) * 2_u32.saturating_pow(failures.min(6));
                    self.world.sleep(pause.min(RETRY_MAX)).await;
                }
                Err(error) => return self.fail(&error),
            }
            self.expire();
            self.refresh();
        }
        self.fail(&FeedError::Ended);
    }

    /// Logs the first failure, and rejects waiting subscribers if failures persist.
    fn note_failure(&self, failures: u32, error: Error) {
        if failures == 1 {
            tracing::warn!(table = self.table, error = error.message(), "cannot read a feed; retrying");
        }
        self.progress.send_modify(|progress| {
            progress.failed_reads = failures;
            progress.failed_read = Some(error);
        });
    }

    fn note_success(&self, failures: u32) {
        if failures > 0 {
            tracing::warn!(table = self.table, failures, "a feed is readable again");
            self.progress.send_modify(|progress| progress.failed_reads = 0);
        }
    }

    fn note(&self, feed: &Feed, caught_up: bool) {
        if caught_up {
            self.progress.send_modify(|progress| {
                progress.passed = feed.passed();
                progress.rounds += 1;
            });
        }
    }

    fn is_awaited(&self) -> bool {
        self.progress.borrow().rounds < self.wanted_round.load(Ordering::Acquire)
    }

    async fn rest(&self, feed: &Feed) {
        let next = self.state.lock().next_expiry_ms();
        // A store that wakes on every change has nothing unread while the hub waits.
        self.caught_up.lock().1 = self.store.watch().is_some();
        let pause = next.map_or(LOOK, Duration::from_millis).clamp(Duration::from_millis(1), LOOK);
        tokio::select! {
            () = feed.wait() => {}
            () = self.kick.notified() => {}
            () = self.world.sleep(pause) => {}
        }
        let mut caught_up = self.caught_up.lock();
        if caught_up.1 {
            *caught_up = (self.world.monotonic(), false);
        }
    }

    /// Returns the time since the feed was last read to its end.
    pub(super) fn behind(&self) -> Duration {
        let (at, waits) = *self.caught_up.lock();
        if waits { Duration::ZERO } else { self.world.monotonic().saturating_sub(at) }
    }

    fn fail(&self, error: &FeedError) {
        let why = error.to_string();
        let topics = std::mem::take(&mut self.state.lock().topics);
        for subscriber in topics.values().flat_map(|followed| &followed.subscribers) {
            subscriber.end(Ended::Feed(why.clone()));
        }
        self.progress.send_modify(|progress| progress.failure = Some(why));
    }

    fn apply(&self, batch: &Batch, suspect: &Suspect) {
        let mut state = self.state.lock();
        let mut told: BTreeMap<u64, Vec<_>> = BTreeMap::new();
        for change in &batch.changes {
            state.suspects(&change.record.keys).into_iter().for_each(suspect);
            for id in state.concerned(&self.table, change.record.old.as_ref(), change.record.new.as_ref()) {
                let Some(followed) = state.topics.get_mut(&id) else { continue };
                match followed.changes(&self.table, change) {
                    Ok(changes) if changes.is_empty() => {}
                    Ok(changes) => {
                        told.entry(id).or_default().extend(changes);
                        state.schedule(id);
                    }
                    Err(error) => followed.fail(&error),
                }
            }
        }
        *self.position.lock() = batch.position.clone();
        for (id, changes) in told {
            if let Some(followed) = state.topics.get_mut(&id) {
                followed.deliver(changes, &batch.position);
            }
        }
    }

    fn expire(&self) {
        let mut state = self.state.lock();
        let position = self.position();
        while let Some(id) = state.first_expired() {
            if let Some(followed) = state.topics.get_mut(&id) {
                let changes = followed.expired();
                followed.deliver(changes, &position);
            }
            state.schedule(id);
        }
    }

    /// Periodically sends a new token to everyone.
    fn refresh(&self) {
        let mut state = self.state.lock();
        let now = self.world.monotonic();
        if now.saturating_sub(state.refreshed) < REFRESH {
            return;
        }
        state.refreshed = now;
        let position = self.position();
        for followed in state.topics.values_mut().filter(|followed| followed.is_home()) {
            followed.deliver(Vec::new(), &position);
        }
    }

    /// Returns the position of the feed.
    pub(super) fn position(&self) -> Arc<Position> {
        self.position.lock().clone()
    }

    /// Adds a subscriber to the existing equal topic, or to this one.
    pub(super) fn join(&self, topic: Topic, subscriber: impl FnOnce(Arc<Topic>) -> Subscriber) -> Arc<Subscriber> {
        let mut state = self.state.lock();
        let identity = topic.identity();
        let id = match state.by_identity.get(&identity) {
            Some(id) => *id,
            None => state.add(identity, Arc::new(topic), None),
        };
        let followed = state.topics.get_mut(&id).expect("a topic that is found by its identity is there");
        let subscriber = Arc::new(subscriber(followed.topic.clone()));
        followed.subscribers.push(subscriber.clone());
        subscriber
    }

    /// Adds a subscriber of another hub's topic, whose items are in this table too, in their old form.
    pub(super) fn join_also(&self, home: &Arc<Self>, subscriber: &Arc<Subscriber>) {
        let mut state = self.state.lock();
        let identity = subscriber.topic.identity();
        let id = match state.by_identity.get(&identity) {
            Some(id) => *id,
            None => state.add(identity, subscriber.topic.clone(), Some(home.clone())),
        };
        if let Some(followed) = state.topics.get_mut(&id) {
            followed.subscribers.push(subscriber.clone());
        }
    }

    pub(super) fn leave(&self, subscriber: &Arc<Subscriber>) {
        subscriber.leave();
        let mut state = self.state.lock();
        let identity = subscriber.topic.identity();
        let Some(id) = state.by_identity.get(&identity).copied() else { return };
        let Some(followed) = state.topics.get_mut(&id) else { return };
        followed.subscribers.retain(|known| !Arc::ptr_eq(known, subscriber));
        if followed.subscribers.is_empty() {
            state.remove(&identity, id);
        }
    }

    /// Registers that a subscriber's guards depend on an item.
    pub(super) fn guard(&self, key: &Attributes, subscriber: &Arc<Subscriber>) {
        let mut state = self.state.lock();
        let watchers = state.guards.entry(Item::from(key).as_bytes().clone()).or_default();
        watchers.retain(|known| known.strong_count() > 0);
        if !watchers.iter().any(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(subscriber))) {
            watchers.push(Arc::downgrade(subscriber));
        }
    }

    /// Waits until the hub has read everything that happened before this call.
    ///
    /// # Errors
    /// Returns an error if the feed has ended, or the store cannot read it.
    pub(super) async fn pass(&self) -> Result<(), FeedError> {
        let mut progress = self.progress.subscribe();
        let (passed, rounds) = match self.store.watch() {
            Some(watch) => (Some(watch.latest()), 0),
            // The round in progress may have started before this call.
            None => (None, progress.borrow().rounds + 2),
        };
        self.wanted_round.fetch_max(rounds, Ordering::AcqRel);
        self.kick.notify_one();
        let is_past = |progress: &Progress| progress.passed >= passed && progress.rounds >= rounds;
        let is_over = |progress: &Progress| {
            progress.failure.is_some() || progress.failed_reads >= FAILED_READS_MAX || is_past(progress)
        };
        match progress.wait_for(is_over).await {
            Ok(progress) if progress.failure.is_none() && is_past(&progress) => Ok(()),
            Ok(progress) if progress.failure.is_none() => {
                Err(progress.failed_read.clone().map_or(FeedError::Ended, FeedError::Store))
            }
            Ok(_) | Err(_) => Err(FeedError::Ended),
        }
    }

    /// Returns the deliveries held back for a subscriber, and the position after them. The lock makes the two
    /// consistent.
    pub(super) fn settle(&self, subscriber: &Subscriber) -> (Vec<Arc<Delivery>>, Arc<Position>) {
        let _state = self.state.lock();
        (subscriber.take_held(), self.position())
    }

    /// Records when the items of a topic expire.
    pub(super) fn note_items<'a>(&self, topic: &Topic, items: impl Iterator<Item = &'a LiveItem>) {
        let mut items = items.filter(|item| item.expires.is_some()).peekable();
        if items.peek().is_none() {
            return;
        }
        let mut state = self.state.lock();
        let id = state.by_identity.get(&topic.identity()).copied();
        if let Some(followed) = id.and_then(|id| state.topics.get_mut(&id)) {
            items.for_each(|item| followed.note(item));
        }
        id.into_iter().for_each(|id| state.schedule(id));
        drop(state);
        self.kick.notify_one();
    }
}

impl State {
    fn add(&mut self, identity: String, topic: Arc<Topic>, home: Option<Arc<Hub>>) -> u64 {
        let id = self.next_topic;
        self.next_topic += 1;
        match &topic.live.reach {
            Reach::Nothing => {}
            Reach::Everything => drop(self.everything.insert(id)),
            Reach::Keys { attributes, values } => {
                let group = self.groups.entry(attributes.clone()).or_default();
                for values in values {
                    group.entry(key_bytes(attributes, values)).or_default().insert(id);
                }
            }
        }
        if let Some(evolving) = evolving(&topic) {
            self.evolving.entry(evolving).or_default().insert(id);
        }
        self.topics.insert(id, Followed::new(topic, home));
        self.by_identity.insert(identity, id);
        id
    }

    /// Updates the schedule of a topic's next expiry.
    fn schedule(&mut self, id: u64) {
        let next = self.topics.get(&id).and_then(Followed::first_due);
        let before = self.scheduled.get(&id).copied();
        if next == before {
            return;
        }
        if let Some(before) = before {
            self.due.remove(&(before, id));
            self.scheduled.remove(&id);
        }
        if let Some(next) = next {
            self.due.insert((next, id));
            self.scheduled.insert(id, next);
        }
    }

    /// Returns a topic with an item that has expired by now.
    fn first_expired(&self) -> Option<u64> {
        let (last, id) = *self.due.first()?;
        let is_over = self.topics.get(&id).is_none_or(|followed| last < followed.topic.now_secs());
        is_over.then_some(id)
    }

    /// Returns the milliseconds until the next expiry.
    fn next_expiry_ms(&self) -> Option<u64> {
        let (_, id) = self.due.first()?;
        self.topics.get(id).and_then(Followed::next_expiry_ms)
    }

    fn remove(&mut self, identity: &str, id: u64) {
        self.by_identity.remove(identity);
        if let Some(last) = self.scheduled.remove(&id) {
            self.due.remove(&(last, id));
        }
        let Some(followed) = self.topics.remove(&id) else { return };
        self.everything.remove(&id);
        if let Some(evolving) = evolving(&followed.topic)
            && let Some(topics) = self.evolving.get_mut(&evolving)
        {
            topics.remove(&id);
            if topics.is_empty() {
                self.evolving.remove(&evolving);
            }
        }
        let Reach::Keys { attributes, values } = &followed.topic.live.reach else { return };
        let Some(group) = self.groups.get_mut(attributes) else { return };
        for values in values {
            let key = key_bytes(attributes, values);
            if let Some(topics) = group.get_mut(&key) {
                topics.remove(&id);
                if topics.is_empty() {
                    group.remove(&key);
                }
            }
        }
        if group.is_empty() {
            self.groups.remove(attributes);
        }
    }

    /// Returns the topics that a change may affect: by the items as they are, and converted to the new form.
    fn concerned(&self, table: &str, old: Option<&Item>, new: Option<&Item>) -> BTreeSet<u64> {
        let mut found = self.everything.clone();
        self.reached(old.into_iter().chain(new), &mut found);
        for topics in self.evolving.values() {
            let Some(followed) = topics.first().and_then(|id| self.topics.get(id)) else { continue };
            match followed.topic.live.seen(table, old, new) {
                Ok(seen) => self.reached(seen.old.iter().chain(&seen.new), &mut found),
                // It is unknown which of them it affects: each reports the error to its subscribers.
                Err(_) => found.extend(topics),
            }
        }
        found
    }

    fn reached<'a>(&self, items: impl Iterator<Item = &'a Item> + Clone, found: &mut BTreeSet<u64>) {
        for (attributes, group) in &self.groups {
            for item in items.clone() {
                let part = item.filtered(|name| attributes.iter().any(|known| known == name));
                found.extend(group.get(part.as_bytes()).into_iter().flatten());
            }
        }
    }

    /// Returns the subscribers whose guards depend on an item, and holds them.
    fn suspects(&mut self, key: &Item) -> Vec<Arc<Subscriber>> {
        if self.guards.is_empty() {
            return Vec::new();
        }
        let Some(watchers) = self.guards.remove(key.as_bytes()) else { return Vec::new() };
        let suspects: Vec<Arc<Subscriber>> = watchers.iter().filter_map(Weak::upgrade).collect();
        suspects.iter().for_each(|subscriber| subscriber.hold());
        suspects
    }
}

/// Returns the key under which topics share a conversion; `None` without open evolutions.
fn evolving(topic: &Topic) -> Option<Evolving> {
    let forms = topic.live.forms();
    let model = Arc::as_ptr(topic.runner.shared_model()).cast::<()>() as usize;
    (!forms.is_empty()).then(|| (model, forms.iter().map(|form| form.entity).collect()))
}

/// Encodes the values of these attributes as an item of just them.
fn key_bytes(attributes: &[String], values: &Attributes) -> Bytes {
    let values = attributes.iter().filter_map(|name| Some((name.clone(), values.get(name)?.clone())));
    Item::from(&values.collect::<Attributes>()).as_bytes().clone()
}
