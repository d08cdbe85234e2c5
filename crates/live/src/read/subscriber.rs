//! One subscriber as a hub sees it: where its events go, and whether they are held back.

use std::any::Any;
use std::sync::Arc;

use keyform_runtime::run::{Call, Runner};
use parking_lot::Mutex;

use super::event::{Delivery, Ended, LiveEvent};
use super::figures::Counters;
use super::outbox::{Outbox, Pushed};
use super::topic::Topic;
use crate::feed::{Lineage, Position};

/// A subscriber.
pub(super) struct Subscriber {
    pub(super) number: u64,
    pub(super) outbox: Outbox,
    pub(super) topic: Arc<Topic>,
    /// What to ask again, of a subscriber whose right can end.
    pub(super) guarded: Option<Guarded>,
    counters: Counters,
    gate: Mutex<Gate>,
    /// The hubs of the tables that its guards look at stay open as long as it does.
    kept: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
}

/// Who asks, and what: the topic's call may be another's.
pub(super) struct Guarded {
    pub(super) runner: Runner,
    pub(super) call: Call,
}

/// Whether events go through.
#[derive(Default)]
struct Gate {
    /// How many hold it shut: the beginning, and guards that are being asked.
    holds: u32,
    held: Vec<Arc<Delivery>>,
    held_bytes: usize,
    /// What it was told already by its own feed, until the hub is past it.
    told: Option<(Position, Lineage)>,
    ended: bool,
}

/// The most that is held back for one subscriber.
const HELD_BYTES_MAX: usize = 4 << 20;

impl Subscriber {
    /// A subscriber whose events are held until [`Subscriber::begin`].
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

    /// Puts an event into the outbox, and counts it; one that finds no room ends the subscriber.
    pub(super) fn tell(&self, event: LiveEvent) {
        match self.outbox.push(self.number, &event) {
            Pushed::Taken => self.counters.told(&event),
            Pushed::Overflowed => self.counters.told(&LiveEvent::Ended(Ended::Slow)),
            Pushed::Dropped => {}
        }
    }

    /// Keeps something as long as the subscriber.
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

    /// What was held back so far; more may be.
    pub(super) fn take_held(&self) -> Vec<Arc<Delivery>> {
        let mut gate = self.gate.lock();
        gate.held_bytes = 0;
        std::mem::take(&mut gate.held)
    }

    /// Says up to where the subscriber was told everything by others than the hub.
    pub(super) fn set_told(&self, told: Option<(Position, Lineage)>) {
        self.gate.lock().told = told;
    }

    /// Holds events back until [`Subscriber::release`].
    pub(super) fn hold(&self) {
        self.gate.lock().holds += 1;
    }

    /// Lets go of one hold; the last one lets events through, those held back first.
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

    /// Tells why there is nothing more; what was held back is dropped.
    pub(super) fn end(&self, why: Ended) {
        let mut gate = self.gate.lock();
        if !gate.ended {
            gate.ended = true;
            gate.held.clear();
            self.tell(LiveEvent::Ended(why));
        }
    }

    /// Ends without a word.
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
    /// The delivery without what the subscriber was told already; nothing if that is all of it.
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
