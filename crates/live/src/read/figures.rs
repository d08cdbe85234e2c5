//! What live reads count, for whoever watches a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::event::{Ended, LiveEvent};

/// What live reads have done, and how they stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Subscriptions now.
    pub subscriptions: u64,
    /// Subscriptions so far.
    pub subscribed: u64,
    /// First pages told.
    pub pages: u64,
    /// Subscriptions that went on where a token left off.
    pub resumed: u64,
    /// Deliveries of changes, each to one subscriber.
    pub deliveries: u64,
    /// Changes in them.
    pub changes: u64,
    /// Subscriptions that the server has ended, by why.
    pub ended: EndedFigures,
    /// How far each feed is behind, by table.
    pub feeds: Vec<(String, Duration)>,
}

/// Subscriptions that the server has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndedFigures {
    /// The guard no longer held.
    pub forbidden: u64,
    /// The subscriber was too slow.
    pub slow: u64,
    /// The feed could no longer be read.
    pub unavailable: u64,
    /// An item could not be shown.
    pub internal: u64,
}

/// The counters behind [`Figures`]; clones share them.
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

    /// Counts what a subscriber is told.
    pub(super) fn told(&self, event: &LiveEvent) {
        let inner = &self.inner;
        match event {
            LiveEvent::Page(_) => one_more(&inner.pages),
            LiveEvent::Resumed { .. } => one_more(&inner.resumed),
            // A delivery without changes only brings a token.
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
        // Those who have left were counted before as those who have come.
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
