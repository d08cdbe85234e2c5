//! Bounded queue of events for one subscriber, or for all of one connection. Hubs fill it.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::event::{Ended, LiveEvent};

/// Fixed cost of an event beside its items.
const EVENT_BYTES: usize = 256;

/// Bounded queue of events, each with the number of its subscription. Clones share it.
#[derive(Clone, Debug)]
pub struct Outbox {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    queue: Mutex<Queue>,
    /// Signals that an event was added.
    arrived: Notify,
    /// Signals that an event was taken.
    taken: Notify,
    bytes_max: usize,
}

/// Result of adding an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pushed {
    /// Queued.
    Taken,
    /// No room: the outbox is closed.
    Overflowed,
    /// Discarded, because the outbox had already overflowed.
    Dropped,
}

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<(u64, LiveEvent)>,
    bytes: usize,
    overflowed: bool,
}

impl Outbox {
    /// Creates a queue for events of `bytes_max` bytes in total.
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

    /// Adds an event. If there is no room, the queue only yields what it holds and then [`Ended::Slow`]. A queue that
    /// is at least half empty accepts an event of any size, so that a consumer that keeps up always makes progress.
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

    /// Returns whether it has overflowed, so that nothing needs to be added any more.
    pub(super) fn has_overflowed(&self) -> bool {
        self.inner.queue.lock().overflowed
    }

    /// Returns the next event with the number of its subscription. After an overflow it ends with [`Ended::Slow`]
    /// under the number 0, repeatedly.
    pub async fn next(&self) -> (u64, LiveEvent) {
        loop {
            let arrived = self.inner.arrived.notified();
            if let Some(event) = self.take() {
                return event;
            }
            arrived.await;
        }
    }

    /// Returns the next event, if there is one.
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

    /// Discards the events of one subscription.
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
            // Not counted: a page has the size that its read declares, and every subscriber must receive it.
            LiveEvent::Page(_) | LiveEvent::Resumed { .. } | LiveEvent::Ended(_) => 0,
        }
}
