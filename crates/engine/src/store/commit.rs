//! Waiting for a commit to become durable, in async code or in a blocked thread. Needs only std's wakers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use parking_lot::Mutex;

use super::batch::SeqNo;
use super::error::StoreError;
use super::pipeline::Queued;
use super::shared::Shared;

/// Commit in progress. Unless the store rejected it, its changes are already applied; it resolves when they are
/// durable.
///
/// The journal is written when a commit is waited for, polled or dropped (ADR 0011). A commit that is merely held may
/// therefore delay its own write. Dropping it does not undo the commit.
#[must_use = "a commit is acknowledged only when it has resolved"]
pub struct Commit {
    state: State,
}

enum State {
    Decided(Result<SeqNo, StoreError>),
    Waiting(Queued, Arc<Shared>),
}

/// Key of a waiter: the caller of the commit with this sequence number, or a thread of the store that watches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ticket {
    seqno: SeqNo,
    watcher: bool,
}

impl Commit {
    pub(super) fn decided(result: Result<SeqNo, StoreError>) -> Self {
        Commit { state: State::Decided(result) }
    }

    pub(super) fn waiting(queued: Queued, shared: Arc<Shared>) -> Self {
        Commit { state: State::Waiting(queued, shared) }
    }

    /// Returns the commit's sequence number, which is known before the commit is durable; `None` if it was rejected.
    pub fn seqno(&self) -> Option<SeqNo> {
        match &self.state {
            State::Decided(result) => result.as_ref().ok().copied(),
            State::Waiting(queued, _) => Some(queued.seqno),
        }
    }

    /// Blocks the thread until the commit is durable. A thread that seems to be the only waiter writes the journal
    /// itself (ADR 0011).
    ///
    /// # Errors
    /// When the store rejected the commit ([`StoreError::Paused`]: it is not applied), or when the journal could not be
    /// written: the outcome is unknown until the store recovers ([`StoreError::Unconfirmed`]) or is reopened.
    pub fn wait(mut self) -> Result<SeqNo, StoreError> {
        match &mut self.state {
            State::Decided(result) => result.clone(),
            State::Waiting(queued, shared) => {
                queued.handed_over = true;
                shared.make_durable(queued.seqno)
            }
        }
    }

    /// Leaves the write to the journal thread.
    fn hand_over(&mut self) {
        if let State::Waiting(queued, shared) = &mut self.state
            && !std::mem::replace(&mut queued.handed_over, true)
        {
            shared.pipeline.hand_over();
        }
    }
}

impl Future for Commit {
    type Output = Result<SeqNo, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.hand_over();
        match &self.state {
            State::Decided(result) => Poll::Ready(result.clone()),
            State::Waiting(queued, shared) => {
                shared.gate.poll(Ticket { seqno: queued.seqno, watcher: false }, context.waker())
            }
        }
    }
}

impl Drop for Commit {
    fn drop(&mut self) {
        self.hand_over();
    }
}

impl fmt::Debug for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commit").field("seqno", &self.seqno()).finish_non_exhaustive()
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

/// Waiting list of commits, woken when the journal is durable.
#[derive(Debug)]
pub(super) struct Gate {
    durable: AtomicU64,
    /// True while commits are rejected. An atomic copy, so that admitting a commit need not take the lock.
    refusing: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    wakers: BTreeMap<Ticket, Waker>,
    failure: Option<StoreError>,
    /// Cause that currently prevents writing the journal.
    pause: Option<Arc<str>>,
}

impl Gate {
    pub(super) fn new(durable: SeqNo) -> Self {
        Gate { durable: AtomicU64::new(durable), refusing: AtomicBool::new(false), waiting: Mutex::default() }
    }

    pub(super) fn durable(&self) -> SeqNo {
        self.durable.load(Ordering::Acquire)
    }

    /// Returns the error that commits get: the failure that ended the journal, or the current shortage.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if !self.refusing.load(Ordering::Acquire) {
            return Ok(());
        }
        let waiting = self.waiting.lock();
        let paused = waiting.pause.clone().map(|cause| StoreError::Paused { cause });
        waiting.failure.clone().or(paused).map_or(Ok(()), Err)
    }

    /// Returns the failure that ended the journal, if any.
    pub(super) fn failure(&self) -> Result<(), StoreError> {
        self.waiting.lock().failure.clone().map_or(Ok(()), Err)
    }

    /// Records that everything up to `durable` is durable. Only the writer of the journal calls it; then
    /// [`Gate::wake`].
    pub(super) fn set_durable(&self, durable: SeqNo) {
        self.durable.store(durable, Ordering::Release);
    }

    /// Wakes the waiters of all commits up to `durable`.
    pub(super) fn wake(&self, durable: SeqNo) {
        let passed = {
            let mut waiting = self.waiting.lock();
            let later = waiting.wakers.split_off(&Ticket { seqno: durable + 1, watcher: false });
            std::mem::replace(&mut waiting.wakers, later)
        };
        for waker in passed.into_values() {
            waker.wake();
        }
    }

    /// Rejects everything that is not durable yet, permanently. The first failure is the one that is reported; returns
    /// whether this is the first.
    pub(super) fn fail(&self, failure: StoreError) -> bool {
        let (is_first, refused) = {
            let mut waiting = self.waiting.lock();
            let is_first = waiting.failure.is_none();
            waiting.failure.get_or_insert(failure);
            self.refusing.store(true, Ordering::Release);
            (is_first, std::mem::take(&mut waiting.wakers))
        };
        refused.into_values().for_each(Waker::wake);
        is_first
    }

    /// Rejects new commits until [`Gate::resume`], and ends the wait of those in progress: whether they become durable
    /// is unknown. Only the thread that holds the right to write the journal may call it. Returns whether commits were
    /// accepted before.
    pub(super) fn pause(&self, cause: Arc<str>) -> bool {
        let (is_news, unconfirmed) = {
            let mut waiting = self.waiting.lock();
            let is_news = waiting.pause.replace(cause).is_none();
            self.refusing.store(true, Ordering::Release);
            (is_news, std::mem::take(&mut waiting.wakers))
        };
        unconfirmed.into_values().for_each(Waker::wake);
        is_news
    }

    /// Accepts commits again. Only the thread that holds the right to write the journal may call it. Returns whether
    /// commits were rejected.
    pub(super) fn resume(&self) -> bool {
        if !self.refusing.load(Ordering::Acquire) {
            return false;
        }
        let mut waiting = self.waiting.lock();
        let was_paused = waiting.pause.take().is_some();
        self.refusing.store(waiting.failure.is_some(), Ordering::Release);
        was_paused
    }

    /// Blocks the thread until its commit is durable or rejected.
    pub(super) fn wait(&self, seqno: SeqNo) -> Result<SeqNo, StoreError> {
        self.park(Ticket { seqno, watcher: false })
    }

    /// Blocks the flush thread until a commit of another thread is durable or rejected.
    pub(super) fn watch(&self, seqno: SeqNo) -> Result<SeqNo, StoreError> {
        self.park(Ticket { seqno, watcher: true })
    }

    fn park(&self, ticket: Ticket) -> Result<SeqNo, StoreError> {
        PARKER.with_borrow(|waker| {
            loop {
                match self.poll(ticket, waker) {
                    Poll::Ready(result) => return result,
                    Poll::Pending => std::thread::park(),
                }
            }
        })
    }

    fn poll(&self, ticket: Ticket, waker: &Waker) -> Poll<Result<SeqNo, StoreError>> {
        let seqno = ticket.seqno;
        if self.durable() >= seqno {
            return Poll::Ready(Ok(seqno));
        }
        let mut waiting = self.waiting.lock();
        // Check again under the lock: `set_durable` does not take it, and `wake` may just have passed.
        if self.durable() >= seqno {
            return Poll::Ready(Ok(seqno));
        }
        if let Some(failure) = &waiting.failure {
            return Poll::Ready(Err(failure.clone()));
        }
        if let Some(cause) = waiting.pause.clone() {
            return Poll::Ready(Err(StoreError::Unconfirmed { cause }));
        }
        waiting.wakers.insert(ticket, waker.clone());
        Poll::Pending
    }
}
