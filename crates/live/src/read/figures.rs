//! Metrics of live reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::event::{Ended, LiveEvent};

/// Metrics of live reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Current number of subscriptions.
    pub subscriptions: u64,
    /// Subscriptions since the start.
    pub subscribed: u64,
    /// Subscriptions that began with a page.
    pub pages: u64,
    /// Subscriptions that resumed after a token.
    pub resumed: u64,
    /// Deliveries of changes, counted per subscriber.
    pub deliveries: u64,
    /// Changes in all deliveries.
    pub changes: u64,
    /// Subscriptions that the server ended, by reason.
    pub ended: EndedFigures,
    /// Lag of each feed, by table.
    pub feeds: Vec<(String, Duration)>,
}

/// Subscriptions that the server ended, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndedFigures {
    /// The caller was no longer permitted.
    pub forbidden: u64,
    /// The subscriber did not drain its outbox in time.
    pub slow: u64,
    /// The feed could not be read any more.
    pub unavailable: u64,
    /// An item could not be converted.
    pub internal: u64,
}

/// Counters behind [`Figures`]; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    subscribed: AtomicU64,
    left: AtomicU64,
    pages: AtomicU64,
    resumed: AtomicU64,
    deliveries: AtomicU64,
    changes: AtomicU64,
    forbidden: AtomicU64,
    slow: AtomicU64,
    unavailable: AtomicU64,
    internal: AtomicU64,
}

impl Counters {
    pub(super) fn subscribed(&self) {
        one_more(&self.inner.subscribed);
    }

    pub(super) fn left(&self) {
        one_more(&self.inner.left);
    }

    /// Counts an event that is sent to a subscriber.
    pub(super) fn told(&self, event: &LiveEvent) {
        let inner = &self.inner;
        match event {
            LiveEvent::Page(_) => one_more(&inner.pages),
            LiveEvent::Resumed { .. } => one_more(&inner.resumed),
            // A delivery without changes only renews the token.
            LiveEvent::Changes(delivery) if delivery.changes.is_empty() => {}
            LiveEvent::Changes(delivery) => {
                one_more(&inner.deliveries);
                inner.changes.fetch_add(delivery.changes.len() as u64, Ordering::Relaxed);
            }
            LiveEvent::Ended(why) => one_more(match why {
                Ended::Forbidden => &inner.forbidden,
                Ended::Slow => &inner.slow,
                Ended::Feed(_) => &inner.unavailable,
                Ended::Run(_) => &inner.internal,
            }),
        }
    }

    pub(super) fn figures(&self, feeds: Vec<(String, Duration)>) -> Figures {
        let inner = &self.inner;
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        // Read before `subscribed`, so that the difference is never negative.
        let left = get(&inner.left);
        let subscribed = get(&inner.subscribed);
        Figures {
            subscriptions: subscribed.saturating_sub(left),
            subscribed,
            pages: get(&inner.pages),
            resumed: get(&inner.resumed),
            deliveries: get(&inner.deliveries),
            changes: get(&inner.changes),
            ended: EndedFigures {
                forbidden: get(&inner.forbidden),
                slow: get(&inner.slow),
                unavailable: get(&inner.unavailable),
                internal: get(&inner.internal),
            },
            feeds,
        }
    }
}

fn one_more(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
