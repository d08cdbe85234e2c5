//! Pool for work that needs much processor time and memory, such as password hashing: bounded concurrency, off the
//! async threads, with reused buffers.
//!
//! ```text
//! caller ──▶ room for it? ──▶ waits for a turn ──▶ thread of the blocking pool, with a scratch buffer of an earlier run
//!              └─ no: Overloaded, at once
//! ```

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::flow::FlowError;

/// Default maximum of concurrent runs, on machines with more cores.
const AT_ONCE_MAX: usize = 4;
/// Default number of waiting callers per concurrent run.
const WAITING_EACH: usize = 16;
/// Suggested delay before retrying on an overloaded pool.
const RETRY_AFTER_SECS: u64 = 1;

/// Runs blocking work with bounded memory: at most `at_once` concurrent runs, each with one `Scratch` buffer, and at
/// most `waiting_max` waiting callers. Clones share the pool.
///
/// ```
/// # tokio_test(async {
/// use keyform_flow::{BlockingPool, PoolError};
///
/// let pool: BlockingPool<Vec<u8>> = BlockingPool::new(1, 0);
/// let sum = |buffer: &mut Vec<u8>| {
///     buffer.resize(1024, 1);
///     buffer.iter().map(|byte| u32::from(*byte)).sum::<u32>()
/// };
/// assert_eq!(pool.run(sum).await, Ok(1024));
/// // The pool has room for one run and no waiting caller.
/// let (finish, finished) = std::sync::mpsc::channel();
/// let rejected = async {
///     let answer = pool.run(sum).await;
///     finish.send(()).expect("the first run waits");
///     answer
/// };
/// let (first, second) = tokio::join!(pool.run(move |_| finished.recv().is_ok()), rejected);
/// assert_eq!((first, second), (Ok(true), Err(PoolError::Overloaded)));
/// # });
/// # fn tokio_test(work: impl Future<Output = ()>) {
/// #     tokio::runtime::Runtime::new().expect("a runtime").block_on(work);
/// # }
/// ```
pub struct BlockingPool<Scratch>(Arc<Inner<Scratch>>);

struct Inner<Scratch> {
    /// One permit per running or waiting caller.
    room: Arc<Semaphore>,
    /// One permit per running caller.
    turns: Arc<Semaphore>,
    /// Idle buffers; at most one per concurrent run.
    scratch: Mutex<Vec<Scratch>>,
}

/// Permits of a running caller. Fields drop in order, so the room is released before the turn: the caller that gets the
/// turn next must not find this caller's room still occupied.
struct Permits {
    _room: OwnedSemaphorePermit,
    _turn: OwnedSemaphorePermit,
}

impl<Scratch: Default + Send + 'static> BlockingPool<Scratch> {
    /// Creates a pool with at least one concurrent run, and up to `waiting_max` waiting callers.
    #[must_use]
    pub fn new(at_once: usize, waiting_max: usize) -> Self {
        let at_once = at_once.clamp(1, Semaphore::MAX_PERMITS);
        let room = at_once.saturating_add(waiting_max).min(Semaphore::MAX_PERMITS);
        Self(Arc::new(Inner {
            room: Arc::new(Semaphore::new(room)),
            turns: Arc::new(Semaphore::new(at_once)),
            scratch: Mutex::default(),
        }))
    }

    /// Creates a pool with one run per core, at most four, and 16 waiting callers per run.
    #[must_use]
    pub fn for_this_machine() -> Self {
        let at_once = std::thread::available_parallelism().map_or(1, usize::from).min(AT_ONCE_MAX);
        Self::new(at_once, at_once * WAITING_EACH)
    }

    /// Runs `work` on a thread that may block. Dropping the future while it waits releases its slot; work that has
    /// started runs to completion and holds its slot until then.
    ///
    /// # Errors
    /// [`PoolError::Overloaded`] immediately if too many callers are waiting, and [`PoolError::Broken`] if `work`
    /// panics.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Scratch) -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        let room = self.0.room.clone().try_acquire_owned().map_err(|_| PoolError::Overloaded)?;
        let turn = self.0.turns.clone().acquire_owned().await.map_err(|_| PoolError::Broken)?;
        let (inner, permits) = (self.0.clone(), Permits { _room: room, _turn: turn });
        let run = move || {
            let mut scratch = inner.spare().pop().unwrap_or_default();
            let done = work(&mut scratch);
            inner.spare().push(scratch);
            // Return the buffer before releasing the turn; otherwise the next caller would allocate another one.
            drop(permits);
            done
        };
        tokio::task::spawn_blocking(run).await.map_err(|_| PoolError::Broken)
    }
}

impl<Scratch> Inner<Scratch> {
    fn spare(&self) -> MutexGuard<'_, Vec<Scratch>> {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Scratch> Clone for BlockingPool<Scratch> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Scratch> fmt::Debug for BlockingPool<Scratch> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockingPool").field("room", &self.0.room.available_permits()).finish_non_exhaustive()
    }
}

/// Reason why work did not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolError {
    /// Too many callers are waiting.
    Overloaded,
    /// The work panicked.
    Broken,
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overloaded => "too many callers wait for this work: try again later",
            Self::Broken => "the work panicked",
        })
    }
}

impl std::error::Error for PoolError {}

impl From<PoolError> for FlowError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Overloaded => Self::Overloaded { retry_after_secs: RETRY_AFTER_SECS },
            PoolError::Broken => Self::Broken(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::RwLock;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Poll;

    use super::*;

    static MADE: AtomicUsize = AtomicUsize::new(0);

    /// Counts created buffers.
    struct Counted;

    impl Default for Counted {
        fn default() -> Self {
            MADE.fetch_add(1, Ordering::Relaxed);
            Self
        }
    }

    async fn poll_once<T>(work: &mut (impl Future<Output = T> + Unpin)) -> Poll<T> {
        std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut *work).poll(cx))).await
    }

    #[tokio::test]
    async fn a_flood_is_bounded_in_runs_buffers_and_waiting_callers() {
        let pool: BlockingPool<Counted> = BlockingPool::new(2, 10);
        let (running, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(RwLock::new(())));
        // Block all runs until all calls have started.
        let closed = gate.write();
        let calls = (0..30).map(|_| {
            let (running, gate) = (running.clone(), gate.clone());
            pool.run(move |_| {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                drop(gate.read());
                running.fetch_sub(1, Ordering::SeqCst);
                now
            })
        });
        let mut all = futures_util::future::join_all(calls);
        assert!(poll_once(&mut all).await.is_pending());
        drop(closed);
        let done = all.await;
        let ran: Vec<usize> = done.iter().filter_map(|one| one.ok()).collect();
        assert_eq!(ran.len(), 12, "two that ran and ten that waited");
        assert!(ran.iter().all(|&at_once| at_once <= 2));
        assert!(done.iter().filter_map(|one| one.err()).all(|error| error == PoolError::Overloaded));
        assert!(MADE.load(Ordering::Relaxed) <= 2);
    }

    #[tokio::test]
    async fn a_caller_that_leaves_and_work_that_panics_give_their_places_back() {
        let pool: BlockingPool<()> = BlockingPool::new(1, 1);
        for _ in 0..10 {
            assert_eq!(pool.run(|()| panic!("broken on purpose")).await, Err::<(), _>(PoolError::Broken));
            let mut left = Box::pin(pool.run(|()| ()));
            let _begun = poll_once(&mut left).await;
            drop(left);
        }
        // Work that the last caller started may still be running; this call waits for it.
        assert_eq!(pool.run(|()| 7).await, Ok(7));
    }
}
