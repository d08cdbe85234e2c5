//! A read with its arguments, shared by all subscribers that follow the same.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use keyform_core::Item;
use keyform_language::document::ast::Event;
use keyform_language::schema::{EntityId, Model, Target};
use keyform_runtime::evolve::Form;
use keyform_runtime::run::{Call, Found, LiveRead, Passed, RunError, Runner, Seen};
use parking_lot::Mutex;

use super::event::{Delivery, Ended, Kind, LiveChange, LiveItem, key_text};
use super::hub::Hub;
use super::subscriber::Subscriber;
use super::token;
use crate::feed::{Change, Position};

/// Limit of expired items that are remembered until the store deletes them.
const GONE_MAX: usize = 100_000;
/// Limit of moving items that are remembered until the change at their other key arrives.
const PASSING_MAX: usize = 100_000;

/// Read with its arguments.
pub(super) struct Topic {
    pub(super) runner: Runner,
    pub(super) name: String,
    pub(super) call: Call,
    pub(super) live: LiveRead,
    pub(super) binding: u64,
    /// Events that the model's `on` lines name for this read, by entity; an entity without a line has all of them.
    events: BTreeMap<EntityId, Vec<Event>>,
    /// Shared by the hubs of all tables that hold items of the result.
    passing: Mutex<Passing>,
}

/// Items that are moving between the forms. A move consists of two changes, one at each key, in any order; together
/// they amount to nothing, or to a modification (ADR 0021).
#[derive(Default)]
pub(super) struct Passing {
    /// Last shown content of items whose old key is done.
    carried: HashMap<String, Found>,
    /// Items whose old key is authoritative, perhaps again: a removal at their new key follows.
    restored: HashSet<String>,
}

/// Topic of a hub with its subscribers.
pub(super) struct Followed {
    pub(super) topic: Arc<Topic>,
    pub(super) subscribers: Vec<Arc<Subscriber>>,
    expiry: Expiry,
    /// Hub of the read's own table, if this hub's table only holds items of the old form.
    home: Option<Arc<Hub>>,
}

/// Items that leave the result by expiry.
#[derive(Default)]
struct Expiry {
    due: BTreeSet<(i64, String)>,
    items: HashMap<String, (i64, EntityId)>,
    /// Items that have expired but are still in the table.
    gone: HashSet<String>,
}

impl Topic {
    /// Binds a read to its arguments, with the open evolutions.
    pub(super) fn new(runner: &Runner, name: &str, call: Call, forms: Arc<[Form]>) -> Result<Self, RunError> {
        let live = runner.live_read(name, &call)?.evolving(forms);
        let model = &runner.checked().model.name;
        let binding = token::binding(model, name, &live.table, &call.arguments);
        let passing = Mutex::default();
        let events = events(&runner.checked().model, name);
        Ok(Self { runner: runner.clone(), name: name.to_owned(), call, live, binding, events, passing })
    }

    /// Returns whether subscribers receive a change: `on E insert -> live r(…)` delivers only inserts.
    pub(super) fn delivers(&self, change: &LiveChange) -> bool {
        self.events.get(&change.entity).is_none_or(|events| events.contains(&change.event()))
    }

    /// Returns whether another table holds items of the result too: a token does not cover their changes.
    pub(super) fn has_two_tables(&self) -> bool {
        !self.live.old_tables().is_empty()
    }

    /// Returns a string that is equal for calls that can share a topic.
    pub(super) fn identity(&self) -> String {
        let model = Arc::as_ptr(self.runner.shared_model());
        let caller = if self.live.is_timed { format!("{:?}", self.call.caller) } else { self.live.identity() };
        format!("{model:?} {} {:?} {caller} {}", self.name, self.call.arguments, self.live.forms().len())
    }

    pub(super) fn token(&self, position: &Position) -> String {
        let binding = if self.has_two_tables() { token::of_two_tables(self.binding) } else { self.binding };
        token::encode(binding, position)
    }

    pub(super) fn delivery(&self, changes: Vec<LiveChange>, position: Arc<Position>) -> Delivery {
        Delivery::new(changes, self.token(&position), position)
    }

    fn found(&self, live: &LiveRead, item: Option<&Item>) -> Result<Option<Found>, RunError> {
        item.map_or(Ok(None), |item| live.found(self.runner.checked(), item))
    }

    /// Returns the read for the current time; it only differs if its filter uses the clock.
    fn current(&self) -> std::borrow::Cow<'_, LiveRead> {
        if self.live.is_timed
            && let Ok(live) = self.runner.live_read(&self.name, &self.call)
        {
            return std::borrow::Cow::Owned(live.evolving(self.live.forms().clone()));
        }
        std::borrow::Cow::Borrowed(&self.live)
    }

    pub(super) fn now_secs(&self) -> i64 {
        self.runner.now_millis().div_euclid(1000)
    }

    /// Returns the effect of a change on the result: nothing, one change, or two if an old item now converts to a
    /// different key. `is_gone` returns whether an item has already left by expiry.
    pub(super) fn changes(
        &self,
        table: &str,
        change: &Change,
        passing: &mut Passing,
        is_gone: impl Fn(&str) -> bool,
    ) -> Result<Vec<LiveChange>, RunError> {
        let record = &change.record;
        let live = self.current();
        let seen = live.seen(table, record.old.as_ref(), record.new.as_ref())?;
        let key = |item: &Option<Item>| item.as_ref().map(|item| live.key_of(item));
        let (old_key, new_key) = (key(&seen.old), key(&seen.new));
        let parts = match (&old_key, &new_key) {
            (Some(old), Some(new)) if old != new => {
                vec![Seen { new: None, ..seen.clone() }, Seen { old: None, ..seen }]
            }
            _ => vec![seen],
        };
        let one = |part: Seen| self.change(&live, change, part, &mut *passing, &is_gone).transpose();
        parts.into_iter().filter_map(one).collect()
    }

    fn change(
        &self,
        live: &LiveRead,
        change: &Change,
        seen: Seen,
        passing: &mut Passing,
        is_gone: impl Fn(&str) -> bool,
    ) -> Result<Option<LiveChange>, RunError> {
        let record = &change.record;
        let old = self.found(live, seen.old.as_ref())?;
        let new = self.found(live, seen.new.as_ref())?;
        let Some(item) = seen.new.as_ref().or(seen.old.as_ref()).filter(|_| old.is_some() || new.is_some()) else {
            return Ok(None);
        };
        let key = key_text(&live.key_of(item));
        let old = old.filter(|_| !is_gone(&key));
        let expires = seen.new.as_ref().and_then(|item| live.expires(item));
        let new = new.filter(|_| expires.is_none_or(|last| last >= self.now_secs()));
        // A move adds one and subtracts one, so counts need no memory.
        let Some((old, new)) = (if live.counts { Some((old, new)) } else { passing.pass(&key, seen.passed, old, new) })
        else {
            return Ok(None);
        };
        let kind = self.kind(&seen, old.as_ref(), new.as_ref());
        let entity = new.as_ref().or(old.as_ref()).map(|found| found.entity);
        let (Some(kind), Some(entity)) = (kind, entity) else { return Ok(None) };
        Ok(Some(LiveChange {
            kind,
            key,
            id: Some(record.id.clone()),
            at_ms: record.at_ms,
            entity,
            expires: expires.filter(|_| new.is_some()),
            item: seen.new.filter(|_| new.is_some()),
            found: new,
            is_expiry: record.identity.is_some(),
            place: Some((change.shard.clone(), record.sequence)),
        }))
    }

    fn kind(&self, seen: &Seen, old: Option<&Found>, new: Option<&Found>) -> Option<Kind> {
        let expires = |item: &Option<Item>| item.as_ref().and_then(|item| self.live.expires(item));
        match (old, new) {
            (None, None) => None,
            (None, Some(_)) => Some(Kind::Insert),
            (Some(_), None) => Some(Kind::Remove),
            (Some(_), Some(_)) if self.live.counts => None,
            // Nothing that the read shows has changed.
            (Some(old), Some(new)) if old == new && expires(&seen.old) == expires(&seen.new) => None,
            (Some(_), Some(_)) => Some(Kind::Modify),
        }
    }

    /// Returns an item of a page.
    pub(super) fn item(&self, item: &Item, found: Found) -> LiveItem {
        LiveItem { key: key_text(&self.live.key_of(item)), found, expires: self.live.expires(item) }
    }
}

impl Passing {
    /// Returns what remains to report of a change, given the other change of the same move; `None` if nothing does.
    fn pass(&mut self, key: &str, passed: Option<Passed>, old: Option<Found>, new: Option<Found>) -> Option<Images> {
        match passed {
            Some(Passed::Carried) => {
                self.restored.remove(key);
                if let Some(old) = old.filter(|_| self.carried.len() < PASSING_MAX) {
                    self.carried.insert(key.to_owned(), old);
                }
                None
            }
            Some(Passed::Restored) => {
                if self.restored.len() < PASSING_MAX {
                    self.restored.insert(key.to_owned());
                }
                Some((old, new))
            }
            Some(Passed::Changed) => Some((old, new)),
            Some(Passed::Gone) => {
                self.restored.remove(key);
                Some((old, new))
            }
            None if self.carried.is_empty() && self.restored.is_empty() => Some((old, new)),
            None => {
                let (carried, restored) = (self.carried.remove(key), self.restored.remove(key));
                let is_removal = old.is_some() && new.is_none();
                (!(is_removal && restored)).then(|| (old.or(carried), new))
            }
        }
    }
}

/// Content that the read shows before and after a change.
type Images = (Option<Found>, Option<Found>);

impl Followed {
    pub(super) fn new(topic: Arc<Topic>, home: Option<Arc<Hub>>) -> Self {
        Self { topic, subscribers: Vec::new(), expiry: Expiry::default(), home }
    }

    pub(super) fn changes(&mut self, table: &str, change: &Change) -> Result<Vec<LiveChange>, RunError> {
        let record = &change.record;
        let mut passing = self.topic.passing.lock();
        let changes = self.topic.changes(table, change, &mut passing, |key| self.expiry.gone.contains(key))?;
        drop(passing);
        if record.new.is_none() && !self.expiry.gone.is_empty() {
            self.expiry.gone.remove(&key_text(&record.keys));
        }
        // The expiry of an item is only tracked in the read's own table.
        let is_home = self.is_home();
        for change in changes.iter().filter(|_| is_home) {
            self.expiry.note(&change.key, change.expires.filter(|_| change.found.is_some()), change.entity);
        }
        Ok(changes)
    }

    /// Ends the topic for all subscribers, because an item cannot be converted.
    pub(super) fn fail(&self, error: &RunError) {
        for subscriber in &self.subscribers {
            subscriber.end(Ended::Run(error.clone()));
        }
    }

    /// Returns whether tokens are made from this hub's position.
    pub(super) fn is_home(&self) -> bool {
        self.home.is_none()
    }

    /// Records the expiry of an item of a page.
    pub(super) fn note(&mut self, item: &LiveItem) {
        if item.expires.is_some() {
            self.expiry.note(&item.key, item.expires, item.found.entity);
        }
    }

    /// Delivers the changes that the model's `on` lines ask for. Without any changes, it delivers a new token.
    pub(super) fn deliver(&mut self, mut changes: Vec<LiveChange>, position: &Arc<Position>) {
        let is_token = changes.is_empty();
        changes.retain(|change| self.topic.delivers(change));
        if changes.is_empty() && !is_token {
            return;
        }
        let position = self.home.as_ref().map_or_else(|| position.clone(), |home| home.position());
        let delivery = Arc::new(self.topic.delivery(changes, position));
        for subscriber in &self.subscribers {
            subscriber.deliver(&delivery);
        }
    }

    /// Returns the items that have expired, as removals.
    pub(super) fn expired(&mut self) -> Vec<LiveChange> {
        let now_ms = self.topic.runner.now_millis();
        let leaving = self.expiry.leave(now_ms.div_euclid(1000));
        let change = |(key, entity)| LiveChange {
            kind: Kind::Remove,
            key,
            id: None,
            at_ms: u64::try_from(now_ms).unwrap_or(0),
            entity,
            found: None,
            expires: None,
            is_expiry: true,
            place: None,
            item: None,
        };
        leaving.into_iter().map(change).collect()
    }

    /// Returns the last second of the first item to expire.
    pub(super) fn first_due(&self) -> Option<i64> {
        self.expiry.due.first().map(|(last, _)| *last)
    }

    /// Returns the milliseconds until the next expiry.
    pub(super) fn next_expiry_ms(&self) -> Option<u64> {
        let (last, _) = self.expiry.due.first()?;
        let until = last.saturating_add(1).saturating_mul(1000) - self.topic.runner.now_millis();
        Some(u64::try_from(until).unwrap_or(0))
    }
}

impl Expiry {
    fn note(&mut self, key: &str, expires: Option<i64>, entity: EntityId) {
        if let Some((last, _)) = self.items.remove(key) {
            self.due.remove(&(last, key.to_owned()));
        }
        self.gone.remove(key);
        if let Some(last) = expires {
            self.due.insert((last, key.to_owned()));
            self.items.insert(key.to_owned(), (last, entity));
        }
    }

    fn leave(&mut self, now_secs: i64) -> Vec<(String, EntityId)> {
        let mut leaving = Vec::new();
        while self.due.first().is_some_and(|(last, _)| *last < now_secs) {
            let Some((_, key)) = self.due.pop_first() else { break };
            if let Some((_, entity)) = self.items.remove(&key) {
                if self.gone.len() < GONE_MAX {
                    self.gone.insert(key.clone());
                }
                leaving.push((key, entity));
            }
        }
        leaving
    }
}

/// Returns the events that the model's `on` lines name for a read.
fn events(model: &Model, read: &str) -> BTreeMap<EntityId, Vec<Event>> {
    let mut events: BTreeMap<EntityId, Vec<Event>> = BTreeMap::new();
    for consumer in &model.consumers {
        if let (Target::Live(Some(id), _), Some(entity)) = (&consumer.target, consumer.entity)
            && model.read(*id).name == read
        {
            events.entry(entity).or_default().extend(&consumer.events);
        }
    }
    events
}

/// Returns the last change of each item.
pub(super) fn last_of_each(held: &[Arc<Delivery>]) -> BTreeMap<String, LiveChange> {
    let changes = held.iter().flat_map(|delivery| &delivery.changes);
    changes.map(|change| (change.key.clone(), change.clone())).collect()
}
