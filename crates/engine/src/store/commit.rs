//! Waiting until a commit is durable, from async code or from a blocked thread, with nothing but std's wakers.

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

/// A commit under way. It is applied already; this resolves when it is durable.
///
/// The journal is written when somebody waits for a commit, asks for it or drops it: whoever holds one without doing any
/// of that may hold it back. Dropping it does not undo the commit.
#[must_use = "a commit is acknowledged only when it has resolved"]
pub struct Commit {
    state: State,
}

enum State {
    Decided(Result<SeqNo, StoreError>),
    Waiting(Queued, Arc<Shared>),
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

    pub(super) fn waiting(queued: Queued, shared: Arc<Shared>) -> Self {
        Commit { state: State::Waiting(queued, shared) }
    }

    /// The sequence number the commit got, known before it is durable; `None` when it was refused.
    pub fn seqno(&self) -> Option<SeqNo> {
        match &self.state {
            State::Decided(result) => result.as_ref().ok().copied(),
            State::Waiting(queued, _) => Some(queued.seqno),
        }
    }

    /// Blocks the thread until the commit is durable. If nobody is writing the journal the thread does it itself.
    ///
    /// # Errors
    /// When the store refused the commit ([`StoreError::Paused`]: it is not applied), or the journal could not be written:
    /// nothing is known about the commit until the store recovers ([`StoreError::Unconfirmed`]) or is reopened.
    pub fn wait(mut self) -> Result<SeqNo, StoreError> {
        match &mut self.state {
            State::Decided(result) => result.clone(),
            State::Waiting(queued, shared) => {
                queued.handed_over = true;
                shared.make_durable(queued.seqno)
            }
        }
    }

    /// Leaves the writing to the journal thread.
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

/// Where commits wait for the journal.
#[derive(Debug)]
pub(super) struct Gate {
    durable: AtomicU64,
    /// Whether commits are refused, so that admitting one need not take the lock.
    refusing: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    wakers: BTreeMap<Ticket, Waker>,
    failure: Option<StoreError>,
    /// Why the journal cannot be written at the moment.
    pause: Option<Arc<str>>,
}

impl Gate {
    pub(super) fn new(durable: SeqNo) -> Self {
        Gate { durable: AtomicU64::new(durable), refusing: AtomicBool::new(false), waiting: Mutex::default() }
    }

    pub(super) fn durable(&self) -> SeqNo {
        self.durable.load(Ordering::Acquire)
    }

    /// Why commits are refused: the failure that ended the journal, or what is scarce at the moment.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if !self.refusing.load(Ordering::Acquire) {
            return Ok(());
        }
        let waiting = self.waiting.lock();
        let paused = waiting.pause.clone().map(|cause| StoreError::Paused { cause });
        waiting.failure.clone().or(paused).map_or(Ok(()), Err)
    }

    /// The failure that ended the journal, if there was one.
    pub(super) fn failure(&self) -> Result<(), StoreError> {
        self.waiting.lock().failure.clone().map_or(Ok(()), Err)
    }

    /// Says that everything up to `durable` is durable. Only whoever writes the journal may say so; [`Gate::wake`] follows.
    pub(super) fn set_durable(&self, durable: SeqNo) {
        self.durable.store(durable, Ordering::Release);
    }

    /// Wakes those who waited for something up to `durable`.
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

    /// Refuses everything that is not durable yet, for good. The first failure is the one that is reported; returns whether
    /// this is the first.
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

    /// Refuses new commits until [`Gate::resume`], and ends the waiting for those that are on their way: whether they become
    /// durable is not known. Only the holder of the right to write the journal may call it. Returns whether this is news.
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

    /// Admits commits again. Only the holder of the right to write the journal may call it. Returns whether they were refused.
    pub(super) fn resume(&self) -> bool {
        if !self.refusing.load(Ordering::Acquire) {
            return false;
        }
        let mut waiting = self.waiting.lock();
        let was_paused = waiting.pause.take().is_some();
        self.refusing.store(waiting.failure.is_some(), Ordering::Release);
        was_paused
    }

    /// Blocks the thread until its commit is durable or refused.
    pub(super) fn wait(&self, seqno: SeqNo) -> Result<SeqNo, StoreError> {
        self.park(Ticket { seqno, watcher: false })
    }

    /// The same for the flush thread, which waits for somebody else's commit.
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
