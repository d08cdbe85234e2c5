//! Subscriber as seen by a hub: its outbox, and whether its events are held back.

use std::any::Any;
use std::sync::Arc;

use keyform_runtime::run::{Call, Runner};
use parking_lot::Mutex;

use super::event::{Delivery, Ended, LiveEvent};
use super::figures::Counters;
use super::outbox::{Outbox, Pushed};
use super::topic::Topic;
use crate::feed::{Lineage, Position};

/// Subscriber of a topic.
pub(super) struct Subscriber {
    pub(super) number: u64,
    pub(super) outbox: Outbox,
    pub(super) topic: Arc<Topic>,
    /// Set if the permission of the subscriber can end.
    pub(super) guarded: Option<Guarded>,
    counters: Counters,
    gate: Mutex<Gate>,
    /// Keeps the hubs of the tables open that its guards read.
    kept: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
}

/// Call whose guards are evaluated again. The topic's call may be that of another caller.
pub(super) struct Guarded {
    pub(super) runner: Runner,
    pub(super) call: Call,
}

/// Decides whether events pass.
#[derive(Default)]
struct Gate {
    /// Number of reasons to hold events: the start, and guards being evaluated.
    holds: u32,
    held: Vec<Arc<Delivery>>,
    held_bytes: usize,
    /// Position up to which its own feed has delivered, until the hub is past it.
    told: Option<(Position, Lineage)>,
    ended: bool,
}

/// Limit of the events held back for one subscriber.
const HELD_BYTES_MAX: usize = 4 << 20;

impl Subscriber {
    /// Creates a subscriber whose events are held until the first [`Subscriber::release`].
    pub(super) fn new(
        number: u64,
        outbox: Outbox,
        topic: Arc<Topic>,
        guarded: Option<Guarded>,
        counters: Counters,
    ) -> Self {
        counters.subscribed();
        Self {
            number,
            outbox,
            topic,
            guarded,
            counters,
            gate: Mutex::new(Gate { holds: 1, ..Gate::default() }),
            kept: Mutex::default(),
        }
    }

    /// Adds an event to the outbox and counts it. An overflow ends the subscriber.
    pub(super) fn tell(&self, event: LiveEvent) {
        match self.outbox.push(self.number, &event) {
            Pushed::Taken => self.counters.told(&event),
            Pushed::Overflowed => self.counters.told(&LiveEvent::Ended(Ended::Slow)),
            Pushed::Dropped => {}
        }
    }

    /// Keeps a value alive as long as the subscriber.
    pub(super) fn keep(&self, kept: Arc<dyn Any + Send + Sync>) {
        let mut all = self.kept.lock();
        if !all.iter().any(|known| Arc::ptr_eq(known, &kept)) {
            all.push(kept);
        }
    }

    pub(super) fn deliver(&self, delivery: &Arc<Delivery>) {
        let mut gate = self.gate.lock();
        if gate.ended {
            return;
        }
        if gate.holds > 0 {
            gate.held_bytes += delivery.bytes;
            gate.held.push(delivery.clone());
            if gate.held_bytes > HELD_BYTES_MAX {
                gate.ended = true;
                gate.held.clear();
                self.tell(LiveEvent::Ended(Ended::Slow));
            }
            return;
        }
        if let Some(delivery) = gate.untold(&self.topic, delivery) {
            self.tell(LiveEvent::Changes(delivery));
        }
    }

    /// Takes the deliveries held back so far; more may follow.
    pub(super) fn take_held(&self) -> Vec<Arc<Delivery>> {
        let mut gate = self.gate.lock();
        gate.held_bytes = 0;
        std::mem::take(&mut gate.held)
    }

    /// Sets the position up to which the subscriber got everything from its own feed.
    pub(super) fn set_told(&self, told: Option<(Position, Lineage)>) {
        self.gate.lock().told = told;
    }

    /// Holds events back until [`Subscriber::release`].
    pub(super) fn hold(&self) {
        self.gate.lock().holds += 1;
    }

    /// Releases one hold. After the last one, events pass, those held back first.
    pub(super) fn release(&self) {
        let mut gate = self.gate.lock();
        gate.holds = gate.holds.saturating_sub(1);
        if gate.holds > 0 || gate.ended {
            return;
        }
        gate.held_bytes = 0;
        for delivery in std::mem::take(&mut gate.held) {
            if let Some(delivery) = gate.untold(&self.topic, &delivery) {
                self.tell(LiveEvent::Changes(delivery));
            }
        }
    }

    /// Sends the final event and discards what was held back.
    pub(super) fn end(&self, why: Ended) {
        let mut gate = self.gate.lock();
        if !gate.ended {
            gate.ended = true;
            gate.held.clear();
            self.tell(LiveEvent::Ended(why));
        }
    }

    /// Ends without a final event.
    pub(super) fn leave(&self) {
        let mut gate = self.gate.lock();
        gate.ended = true;
        gate.held.clear();
        self.outbox.forget(self.number);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.gate.lock().ended || self.outbox.has_overflowed()
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.counters.left();
    }
}

impl Gate {
    /// Returns the delivery without the changes that the subscriber already has; `None` if nothing remains.
    fn untold(&self, topic: &Topic, delivery: &Arc<Delivery>) -> Option<Arc<Delivery>> {
        let Some((position, lineage)) = &self.told else { return Some(delivery.clone()) };
        let is_new = |change: &super::event::LiveChange| {
            let Some((shard, sequence)) = &change.place else { return true };
            lineage.get(shard).is_none() || lineage.is_after(position, shard, *sequence, change.at_ms)
        };
        if delivery.changes.iter().all(is_new) {
            return Some(delivery.clone());
        }
        let changes: Vec<_> = delivery.changes.iter().filter(|change| is_new(change)).cloned().collect();
        (!changes.is_empty()).then(|| Arc::new(topic.delivery(changes, delivery.position.clone())))
    }
}
