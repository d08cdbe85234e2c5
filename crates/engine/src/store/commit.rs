//! Waiting until a commit is durable, from async code or from a blocked thread, with nothing but std's wakers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use parking_lot::Mutex;

use super::batch::SeqNo;
use super::error::StoreError;

/// A commit under way. It is applied already; this resolves when it is durable.
///
/// Dropping it does not undo the commit.
#[derive(Debug)]
#[must_use = "a commit is acknowledged only when it has resolved"]
pub struct Commit {
    state: State,
}

#[derive(Debug)]
enum State {
    Decided(Result<SeqNo, StoreError>),
    Waiting(Ticket, Arc<Gate>),
}

/// Who waits: the commit with a sequence number, and beside it at most one of the store's own threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ticket {
    seqno: SeqNo,
    watcher: bool,
}

impl Commit {
    pub(super) fn decided(result: Result<SeqNo, StoreError>) -> Self {
        Commit { state: State::Decided(result) }
    }

    pub(super) fn waiting(seqno: SeqNo, gate: Arc<Gate>) -> Self {
        Commit { state: State::Waiting(Ticket { seqno, watcher: false }, gate) }
    }

    /// Waits for somebody else's commit: for the flush thread.
    pub(super) fn watching(seqno: SeqNo, gate: Arc<Gate>) -> Self {
        Commit { state: State::Waiting(Ticket { seqno, watcher: true }, gate) }
    }

    /// The sequence number the commit got, known before it is durable; `None` when it was refused.
    pub fn seqno(&self) -> Option<SeqNo> {
        match &self.state {
            State::Decided(result) => result.as_ref().ok().copied(),
            State::Waiting(ticket, _) => Some(ticket.seqno),
        }
    }

    /// Blocks the thread until the commit is durable.
    ///
    /// # Errors
    /// When the journal could not be written: nothing is known about the commit until the store is reopened.
    pub fn wait(mut self) -> Result<SeqNo, StoreError> {
        PARKER.with_borrow(|waker| {
            let mut context = Context::from_waker(waker);
            loop {
                match Pin::new(&mut self).poll(&mut context) {
                    Poll::Ready(result) => return result,
                    Poll::Pending => std::thread::park(),
                }
            }
        })
    }
}

impl Future for Commit {
    type Output = Result<SeqNo, StoreError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &self.state {
            State::Decided(result) => Poll::Ready(result.clone()),
            State::Waiting(ticket, gate) => gate.poll(*ticket, context.waker()),
        }
    }
}

thread_local! {
    static PARKER: RefCell<Waker> = RefCell::new(Waker::from(Arc::new(Parker(std::thread::current()))));
}

struct Parker(Thread);

impl Wake for Parker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Where commits wait for the journal.
#[derive(Debug)]
pub(super) struct Gate {
    durable: AtomicU64,
    failed: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    wakers: BTreeMap<Ticket, Waker>,
    failure: Option<StoreError>,
}

impl Gate {
    pub(super) fn new(durable: SeqNo) -> Self {
        Gate { durable: AtomicU64::new(durable), failed: AtomicBool::new(false), waiting: Mutex::default() }
    }

    pub(super) fn durable(&self) -> SeqNo {
        self.durable.load(Ordering::Acquire)
    }

    /// The failure that ended the journal, if there was one.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if !self.failed.load(Ordering::Acquire) {
            return Ok(());
        }
        self.waiting.lock().failure.clone().map_or(Ok(()), Err)
    }

    /// Lets everything up to `durable` through.
    pub(super) fn advance(&self, durable: SeqNo) {
        self.durable.store(durable, Ordering::Release);
        let passed = {
            let mut waiting = self.waiting.lock();
            let later = waiting.wakers.split_off(&Ticket { seqno: durable + 1, watcher: false });
            std::mem::replace(&mut waiting.wakers, later)
        };
        for waker in passed.into_values() {
            waker.wake();
        }
    }

    /// Refuses everything that is not durable yet, for good. The first failure is the one that is told.
    pub(super) fn fail(&self, failure: StoreError) {
        let refused = {
            let mut waiting = self.waiting.lock();
            waiting.failure.get_or_insert(failure);
            self.failed.store(true, Ordering::Release);
            std::mem::take(&mut waiting.wakers)
        };
        for waker in refused.into_values() {
            waker.wake();
        }
    }

    fn poll(&self, ticket: Ticket, waker: &Waker) -> Poll<Result<SeqNo, StoreError>> {
        let seqno = ticket.seqno;
        if self.durable() >= seqno {
            return Poll::Ready(Ok(seqno));
        }
        let mut waiting = self.waiting.lock();
        if self.durable() >= seqno {
            return Poll::Ready(Ok(seqno));
        }
        if let Some(failure) = &waiting.failure {
            return Poll::Ready(Err(failure.clone()));
        }
        waiting.wakers.insert(ticket, waker.clone());
        Poll::Pending
    }
}
