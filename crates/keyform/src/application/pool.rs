//! Work that takes a processor and much memory, such as hashing a password: a few at a time, off the async threads, in memory that is used again.
//!
//! ```text
//! caller ──▶ room for it? ──▶ waits for a turn ──▶ thread of the blocking pool, with a scratch buffer of an earlier run
//!              └─ no: Overloaded, at once
//! ```

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use keyform_server::FlowError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most runs at a time if nothing else is chosen, on a machine with more cores.
const AT_ONCE_MAX: usize = 4;
/// The callers that wait for each run, if nothing else is chosen.
const WAITING_EACH: usize = 16;
/// The seconds after which an overloaded pool is worth another try.
const RETRY_AFTER_SECS: u64 = 1;

/// Runs blocking work within a bound on memory: at most `at_once` runs, each with one `Scratch`, and at most `waiting_max` callers that wait.
/// Clones share it.
///
/// ```
/// # tokio_test(async {
/// use keyform::application::{BlockingPool, PoolError};
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
    /// A permit for each caller that runs or waits.
    room: Arc<Semaphore>,
    /// A permit for each caller that runs.
    turns: Arc<Semaphore>,
    /// The buffers that no run uses at the moment: never more than runs at a time.
    scratch: Mutex<Vec<Scratch>>,
}

/// What a caller holds while its work runs. The room is given back first: a caller that has its turn after this one must not find the room still
/// taken by it.
struct Place {
    _room: OwnedSemaphorePermit,
    _turn: OwnedSemaphorePermit,
}

impl<Scratch: Default + Send + 'static> BlockingPool<Scratch> {
    /// At least one run at a time, and `waiting_max` callers that wait for their turn.
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

    /// A run for each core, four at most, and 16 callers that wait for each.
    #[must_use]
    pub fn for_this_machine() -> Self {
        let at_once = std::thread::available_parallelism().map_or(1, usize::from).min(AT_ONCE_MAX);
        Self::new(at_once, at_once * WAITING_EACH)
    }

    /// Runs `work` on a thread that may block. A caller that leaves while it waits gives its place up; work that has begun ends, and keeps its turn
    /// until then.
    ///
    /// # Errors
    /// [`PoolError::Overloaded`] at once if too many wait already, and [`PoolError::Broken`] if `work` panics.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Scratch) -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        let room = self.0.room.clone().try_acquire_owned().map_err(|_| PoolError::Overloaded)?;
        let turn = self.0.turns.clone().acquire_owned().await.map_err(|_| PoolError::Broken)?;
        let (inner, place) = (self.0.clone(), Place { _room: room, _turn: turn });
        let run = move || {
            let mut scratch = inner.spare().pop().unwrap_or_default();
            let done = work(&mut scratch);
            inner.spare().push(scratch);
            // The buffer is back before the next caller has its turn: it would make one of its own.
            drop(place);
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

/// Why work was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolError {
    /// Too many callers wait already.
    Overloaded,
    /// The work panicked.
    Broken,
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overloaded => "too many callers wait for this work: try again in a moment",
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

    /// Counts how many buffers are made.
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
        // Nothing ends before all have come.
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
        // What the last one began may still run; this caller waits for it.
        assert_eq!(pool.run(|()| 7).await, Ok(7));
    }
}
