//! Event queues of the connections of this process.
//!
//! Each connection has a mailbox. Events in it are numbered and stay until their number is confirmed, so that lost
//! responses are repeated. A mailbox that is full, or was not read for a while, is removed together with its
//! connection.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keyform::World;
use keyform::WrongText;
use keyform::execute::BoxFuture;
use serde::{Serialize, Serializer};
use tokio::sync::Notify;

use super::{Deliver, Event, Undelivered};
use crate::model::{ConnectionId, UserId};

/// Maximum number of queued events.
const WAITING_MAX: usize = 1_000;
/// Queue length from which transient events are dropped.
const WAITING_CALM: usize = 100;
/// Number of remembered changes, to filter redeliveries.
const REMEMBERED_MAX: usize = 256;
/// Time without a read after which a mailbox is removed.
const IDLE_MILLIS_MAX: i64 = 90_000;

/// Event in a mailbox.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Numbered {
    /// Sequence number; increases within a mailbox.
    pub number: u64,
    /// Chat event.
    #[serde(flatten, serialize_with = "shared")]
    pub event: Arc<Event>,
}

fn shared<S: Serializer>(event: &Arc<Event>, serializer: S) -> Result<S::Ok, S::Error> {
    event.as_ref().serialize(serializer)
}

/// Mailboxes of this process. Cheap to clone.
#[derive(Clone)]
pub struct Mailboxes {
    /// Prefix of the connection ids of this process.
    process: Arc<str>,
    world: Arc<dyn World>,
    boxes: Arc<Mutex<HashMap<ConnectionId, Mailbox>>>,
}

struct Mailbox {
    owner: UserId,
    waiting: VecDeque<Numbered>,
    numbered: u64,
    recent: VecDeque<String>,
    looked_at_millis: i64,
    filled: Arc<Notify>,
}

impl Mailboxes {
    /// Creates an empty set of mailboxes.
    #[must_use]
    pub fn new(world: Arc<dyn World>) -> Self {
        Self { process: world.token(6).into(), world, boxes: Arc::default() }
    }

    /// Returns the id of a connection of this process.
    ///
    /// # Errors
    /// The name contains characters that are not allowed in an id.
    pub fn name(&self, name: &str) -> Result<ConnectionId, WrongText> {
        ConnectionId::new(format!("{}-{name}", self.process))
    }

    /// Opens a mailbox unless it exists.
    pub fn open(&self, connection: &ConnectionId, owner: &UserId) {
        let now = self.world.now_millis();
        self.locked().entry(connection.clone()).or_insert_with(|| Mailbox {
            owner: owner.clone(),
            waiting: VecDeque::new(),
            numbered: 0,
            recent: VecDeque::new(),
            looked_at_millis: now,
            filled: Arc::default(),
        });
    }

    /// Closes a mailbox and wakes its waiting readers.
    pub fn close(&self, connection: &ConnectionId) {
        if let Some(mailbox) = self.locked().remove(connection) {
            mailbox.filled.notify_waiters();
        }
    }

    /// Closes a mailbox if it belongs to the owner.
    pub fn close_own(&self, connection: &ConnectionId, owner: &UserId) {
        if self.locked().get(connection).is_some_and(|mailbox| mailbox.owner == *owner) {
            self.close(connection);
        }
    }

    /// Marks a mailbox as active.
    pub fn touch(&self, connection: &ConnectionId, owner: &UserId) {
        let now = self.world.now_millis();
        if let Some(mailbox) = self.locked().get_mut(connection).filter(|mailbox| mailbox.owner == *owner) {
            mailbox.looked_at_millis = now;
        }
    }

    /// Returns the events after a number, which confirms the earlier ones; waits for the next one otherwise. Returns
    /// `None` if the owner has no such mailbox.
    pub async fn take(
        &self,
        connection: &ConnectionId,
        owner: &UserId,
        after: u64,
        wait: Duration,
    ) -> Option<Vec<Numbered>> {
        let (events, filled) = self.look(connection, owner, after)?;
        if !events.is_empty() || wait.is_zero() {
            return Some(events);
        }
        // Register before the second check, so that no event is missed in between.
        let notified = filled.notified();
        tokio::pin!(notified);
        notified.as_mut().enable();
        let (events, _) = self.look(connection, owner, after)?;
        if events.is_empty() {
            tokio::select! {
                () = notified => {}
                () = self.world.sleep(wait) => {}
            }
        }
        self.look(connection, owner, after).map(|(events, _)| events)
    }

    fn look(&self, connection: &ConnectionId, owner: &UserId, after: u64) -> Option<(Vec<Numbered>, Arc<Notify>)> {
        let now = self.world.now_millis();
        let mut boxes = self.locked();
        let mailbox = boxes.get_mut(connection).filter(|mailbox| mailbox.owner == *owner)?;
        mailbox.looked_at_millis = now;
        while mailbox.waiting.front().is_some_and(|event| event.number <= after) {
            mailbox.waiting.pop_front();
        }
        Some((mailbox.waiting.iter().cloned().collect(), mailbox.filled.clone()))
    }

    /// Queues a transient event, if there is room; otherwise drops it.
    pub fn whisper(&self, connection: &ConnectionId, event: &Event) {
        if let Some(mailbox) = self.locked().get_mut(connection).filter(|mailbox| mailbox.waiting.len() < WAITING_CALM)
        {
            mailbox.put(&Arc::new(event.clone()));
        }
    }

    /// Queues an event.
    ///
    /// # Errors
    /// [`Undelivered::Gone`] if the mailbox is not being read, [`Undelivered::Elsewhere`] if the connection belongs to
    /// another process.
    pub fn put(&self, connection: &ConnectionId, event: &Arc<Event>) -> Result<(), Undelivered> {
        if !self.is_here(connection) {
            return Err(Undelivered::Elsewhere);
        }
        let now = self.world.now_millis();
        let mut boxes = self.locked();
        let mailbox = boxes.get_mut(connection).ok_or(Undelivered::Gone)?;
        if now - mailbox.looked_at_millis > IDLE_MILLIS_MAX || mailbox.waiting.len() >= WAITING_MAX {
            mailbox.filled.notify_waiters();
            boxes.remove(connection);
            return Err(Undelivered::Gone);
        }
        mailbox.put(event);
        Ok(())
    }

    fn is_here(&self, connection: &ConnectionId) -> bool {
        connection.as_str().strip_prefix(&*self.process).is_some_and(|rest| rest.starts_with('-'))
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<ConnectionId, Mailbox>> {
        self.boxes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mailbox {
    /// Queues an event unless it was queued recently.
    fn put(&mut self, event: &Arc<Event>) {
        if let Some(change) = &event.change {
            if self.recent.contains(change) {
                return;
            }
            self.recent.push_back(change.clone());
            if self.recent.len() > REMEMBERED_MAX {
                self.recent.pop_front();
            }
        }
        self.numbered += 1;
        self.waiting.push_back(Numbered { number: self.numbered, event: event.clone() });
        self.filled.notify_waiters();
    }
}

impl Deliver for Mailboxes {
    fn deliver<'a>(
        &'a self,
        connection: &'a ConnectionId,
        _: &'a UserId,
        event: &'a Arc<Event>,
    ) -> BoxFuture<'a, Result<(), Undelivered>> {
        Box::pin(std::future::ready(self.put(connection, event)))
    }
}

impl fmt::Debug for Mailboxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailboxes").field("process", &self.process).field("open", &self.locked().len()).finish()
    }
}
