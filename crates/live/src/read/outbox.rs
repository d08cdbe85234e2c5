//! What waits for a subscriber, or for all of one connection: bounded, and shared with the hubs that fill it.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::event::{Ended, LiveEvent};

/// What an event takes beside its items.
const EVENT_BYTES: usize = 256;

/// A bounded queue of events, each with the number of its subscription. Clones share it.
#[derive(Clone, Debug)]
pub struct Outbox {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    queue: Mutex<Queue>,
    /// Something has come.
    arrived: Notify,
    /// Something was taken.
    taken: Notify,
    bytes_max: usize,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pushed {
    /// It waits to be taken.
    Taken,
    /// There was no room for it: this is the end.
    Overflowed,
    /// The end was before it.
    Dropped,
}

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<(u64, LiveEvent)>,
    bytes: usize,
    overflowed: bool,
}

impl Outbox {
    /// A queue for so many bytes.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        let inner = Inner {
            queue: Mutex::default(),
            arrived: Notify::new(),
            taken: Notify::new(),
            bytes_max: bytes_max.max(1),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Adds an event; if there is no room, nothing comes after what waits but [`Ended::Slow`]. One that is at least half empty takes an event
    /// of any size, so that whoever takes what it is given gets on.
    pub(super) fn push(&self, number: u64, event: &LiveEvent) -> Pushed {
        let mut queue = self.inner.queue.lock();
        if queue.overflowed {
            return Pushed::Dropped;
        }
        let bytes = size(event);
        let has_room = queue.bytes <= self.inner.bytes_max / 2 || queue.bytes + bytes <= self.inner.bytes_max;
        if has_room {
            queue.bytes += bytes;
            queue.events.push_back((number, event.clone()));
        } else {
            queue.overflowed = true;
        }
        drop(queue);
        self.inner.arrived.notify_one();
        if has_room { Pushed::Taken } else { Pushed::Overflowed }
    }

    /// Whether it has overflowed, so that nothing need be put in any more.
    pub(super) fn has_overflowed(&self) -> bool {
        self.inner.queue.lock().overflowed
    }

    /// The next event with the number of its subscription; at the end, after an overflow, [`Ended::Slow`] with the number 0, again and again.
    pub async fn next(&self) -> (u64, LiveEvent) {
        loop {
            let arrived = self.inner.arrived.notified();
            if let Some(event) = self.take() {
                return event;
            }
            arrived.await;
        }
    }

    /// The next event, if there is one.
    pub fn take(&self) -> Option<(u64, LiveEvent)> {
        let mut queue = self.inner.queue.lock();
        let Some((number, event)) = queue.events.pop_front() else {
            return queue.overflowed.then_some((0, LiveEvent::Ended(Ended::Slow)));
        };
        queue.bytes -= size(&event);
        drop(queue);
        self.inner.taken.notify_waiters();
        Some((number, event))
    }

    /// Waits until at least half of it is free, or it has overflowed.
    pub(super) async fn has_room(&self) {
        loop {
            let taken = self.inner.taken.notified();
            if self.is_half_empty() {
                return;
            }
            taken.await;
        }
    }

    fn is_half_empty(&self) -> bool {
        let queue = self.inner.queue.lock();
        queue.overflowed || queue.bytes <= self.inner.bytes_max / 2
    }

    /// Drops what waits for one subscription.
    pub(super) fn forget(&self, number: u64) {
        let mut queue = self.inner.queue.lock();
        queue.events.retain(|(of, _)| *of != number);
        queue.bytes = queue.events.iter().map(|(_, event)| size(event)).sum();
    }
}

fn size(event: &LiveEvent) -> usize {
    EVENT_BYTES
        + match event {
            LiveEvent::Changes(delivery) => delivery.bytes,
            // A page is as large as its read makes it; it is the one thing a subscriber must take.
            LiveEvent::Page(_) | LiveEvent::Resumed { .. } | LiveEvent::Ended(_) => 0,
        }
}
