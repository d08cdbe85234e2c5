//! Waiting for any commit to become visible, for readers that follow streams.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use super::batch::SeqNo;
use super::shared::Shared;

/// Waiters for the next change. Without waiters, a commit only checks a flag.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    awaited: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
}

impl Pulse {
    /// Wakes all waiters. The change they wait for is already visible.
    pub(super) fn beat(&self) {
        if self.awaited.swap(false, Ordering::SeqCst) {
            let wakers = std::mem::take(&mut *self.wakers.lock());
            wakers.into_iter().for_each(Waker::wake);
        }
    }

    fn register(&self, waker: &Waker) {
        let mut wakers = self.wakers.lock();
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
        self.awaited.store(true, Ordering::SeqCst);
    }
}

/// Future that resolves when readers see a commit after the given one.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Changed {
    shared: Arc<Shared>,
    since: SeqNo,
}

impl Changed {
    pub(super) fn new(shared: Arc<Shared>, since: SeqNo) -> Self {
        Self { shared, since }
    }

    fn is_over(&self) -> bool {
        self.shared.readers.durable() > self.since
    }
}

impl Future for Changed {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.is_over() {
            return Poll::Ready(());
        }
        self.shared.pulse.register(context.waker());
        // Check again: a commit between the first check and the registration may have missed the waker.
        if self.is_over() { Poll::Ready(()) } else { Poll::Pending }
    }
}
