//! A read with its arguments, followed for all who follow the same.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use keyform_core::Item;
use keyform_core::operation::ChangeRecord;
use keyform_model::run::{Call, Found, LiveRead, RunError, Runner};
use keyform_model::schema::EntityId;

use super::event::{Delivery, Kind, LiveChange, LiveItem, key_text};
use super::subscriber::Subscriber;
use super::token;
use crate::feed::{Change, Position};

/// So many items that have left by time alone are remembered until the store deletes them.
const GONE_MAX: usize = 100_000;

/// A read with its arguments.
pub(super) struct Topic {
    pub(super) runner: Runner,
    pub(super) name: String,
    pub(super) call: Call,
    pub(super) live: LiveRead,
    pub(super) binding: u64,
}

/// What a hub keeps of a topic.
pub(super) struct Followed {
    pub(super) topic: Arc<Topic>,
    pub(super) subscribers: Vec<Arc<Subscriber>>,
    expiry: Expiry,
}

/// What leaves the answer by itself.
#[derive(Default)]
struct Expiry {
    due: BTreeSet<(i64, String)>,
    items: HashMap<String, (i64, EntityId)>,
    /// Those that have left but are still in the table.
    gone: HashSet<String>,
}

impl Topic {
    pub(super) fn new(runner: &Runner, name: &str, call: Call) -> Result<Self, RunError> {
        let live = runner.live_read(name, &call)?;
        let model = &runner.checked().model.name;
        let binding = token::binding(model, name, &live.table, &call.arguments);
        Ok(Self { runner: runner.clone(), name: name.to_owned(), call, live, binding })
    }

    /// A text that is the same for those who can share it.
    pub(super) fn identity(&self) -> String {
        let model = Arc::as_ptr(self.runner.shared_model());
        let caller = if self.live.is_timed { format!("{:?}", self.call.caller) } else { self.live.identity() };
        format!("{model:?} {} {:?} {caller}", self.name, self.call.arguments)
    }

    pub(super) fn token(&self, position: &Position) -> String {
        token::encode(self.binding, position)
    }

    pub(super) fn delivery(&self, changes: Vec<LiveChange>, position: Arc<Position>) -> Delivery {
        Delivery::new(changes, self.token(&position), position)
    }

    fn found(&self, live: &LiveRead, item: Option<&Item>) -> Option<Found> {
        live.found(self.runner.checked(), item?)
    }

    /// The read as it is now: the same, unless its filter looks at the clock.
    fn current(&self) -> std::borrow::Cow<'_, LiveRead> {
        if self.live.is_timed
            && let Ok(live) = self.runner.live_read(&self.name, &self.call)
        {
            return std::borrow::Cow::Owned(live);
        }
        std::borrow::Cow::Borrowed(&self.live)
    }

    pub(super) fn now_secs(&self) -> i64 {
        self.runner.now_millis().div_euclid(1000)
    }

    /// What a change is to the answer. `is_gone` says of an item whether it has left by itself.
    pub(super) fn change(&self, change: &Change, is_gone: impl Fn(&str) -> bool) -> Option<LiveChange> {
        let record = &change.record;
        let live = self.current();
        let old = self.found(&live, record.old.as_ref());
        let new = self.found(&live, record.new.as_ref());
        if old.is_none() && new.is_none() {
            return None;
        }
        let key = key_text(&record.keys);
        let old = old.filter(|_| !is_gone(&key));
        let expires = record.new.as_ref().and_then(|item| live.expires(item));
        let new = new.filter(|_| expires.is_none_or(|last| last >= self.now_secs()));
        let kind = self.kind(record, old.as_ref(), new.as_ref())?;
        let entity = new.as_ref().or(old.as_ref()).map(|found| found.entity)?;
        Some(LiveChange {
            kind,
            key,
            id: Some(record.id.clone()),
            at_ms: record.at_ms,
            entity,
            expires: expires.filter(|_| new.is_some()),
            item: record.new.clone().filter(|_| new.is_some()),
            found: new,
            place: Some((change.shard.clone(), record.sequence)),
        })
    }

    fn kind(&self, record: &ChangeRecord, old: Option<&Found>, new: Option<&Found>) -> Option<Kind> {
        let expires = |item: &Option<Item>| item.as_ref().and_then(|item| self.live.expires(item));
        match (old, new) {
            (None, None) => None,
            (None, Some(_)) => Some(Kind::Insert),
            (Some(_), None) => Some(Kind::Remove),
            (Some(_), Some(_)) if self.live.counts => None,
            // Nothing that the read shows has changed.
            (Some(old), Some(new)) if old == new && expires(&record.old) == expires(&record.new) => None,
            (Some(_), Some(_)) => Some(Kind::Modify),
        }
    }

    /// An item of a page.
    pub(super) fn item(&self, item: &Item, found: Found) -> LiveItem {
        LiveItem { key: key_text(&self.live.key_of(item)), found, expires: self.live.expires(item) }
    }
}

impl Followed {
    pub(super) fn new(topic: Arc<Topic>) -> Self {
        Self { topic, subscribers: Vec::new(), expiry: Expiry::default() }
    }

    pub(super) fn change(&mut self, change: &Change) -> Option<LiveChange> {
        let record = &change.record;
        let change = self.topic.change(change, |key| self.expiry.gone.contains(key));
        if record.new.is_none() && !self.expiry.gone.is_empty() {
            self.expiry.gone.remove(&key_text(&record.keys));
        }
        if let Some(change) = &change {
            self.expiry.note(&change.key, change.expires.filter(|_| change.found.is_some()), change.entity);
        }
        change
    }

    /// Remembers when an item of a page leaves.
    pub(super) fn note(&mut self, item: &LiveItem) {
        if item.expires.is_some() {
            self.expiry.note(&item.key, item.expires, item.found.entity);
        }
    }

    pub(super) fn deliver(&mut self, changes: Vec<LiveChange>, position: &Arc<Position>) {
        let delivery = Arc::new(self.topic.delivery(changes, position.clone()));
        for subscriber in &self.subscribers {
            subscriber.deliver(&delivery);
        }
    }

    /// The items whose time is over, as removals.
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
            place: None,
            item: None,
        };
        leaving.into_iter().map(change).collect()
    }

    /// The last second of the first item that leaves.
    pub(super) fn first_due(&self) -> Option<i64> {
        self.expiry.due.first().map(|(last, _)| *last)
    }

    /// In how many milliseconds the next item leaves.
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

/// The last of the changes of each item.
pub(super) fn last_of_each(held: &[Arc<Delivery>]) -> BTreeMap<String, LiveChange> {
    let changes = held.iter().flat_map(|delivery| &delivery.changes);
    changes.map(|change| (change.key.clone(), change.clone())).collect()
}
