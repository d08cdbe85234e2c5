//! Readiness of a server with a remote store: checks that the store answers.
//!
//! A check is a ListTables of one name, which reads no table and costs no units. Any response counts, including an
//! error: credentials without permission to list tables may still read them. A check starts when a probe asks and the
//! last result is older than [`FRESH`], and only one runs at a time, so probes cannot load the store. A probe waits at
//! most [`PATIENCE`] and uses the last result otherwise: a brief slowdown of the store does not make the server
//! unready, but a store that does not answer for [`TIMEOUT`] does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keyform_core::error::Detail;
use keyform_core::execute::BoxFuture;
use keyform_core::operation::ListTables;
use keyform_core::world::timeout;
use keyform_core::{Execute, Operation, World};
use keyform_server::Probe;
use tokio::sync::watch;

/// Maximum age of a reusable result.
const FRESH: Duration = Duration::from_secs(2);
/// Maximum wait of a probe; less than the one-second default timeout of Kubernetes.
const PATIENCE: Duration = Duration::from_millis(800);
/// Timeout of a check.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Checks whether a remote store answers.
pub(crate) struct RemoteProbe {
    store: Arc<dyn Execute>,
    world: Arc<dyn World>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Moment on the monotonic clock and result of the last check.
    last: Option<(Duration, Result<(), String>)>,
    /// Closed when the current check ends.
    running: Option<watch::Receiver<()>>,
}

impl State {
    fn is_fresh(&self, now: Duration) -> bool {
        self.last.as_ref().is_some_and(|(at, _)| now.saturating_sub(*at) < FRESH)
    }

    fn result(&self) -> Result<(), String> {
        self.last
            .as_ref()
            .map_or_else(|| Err("the store has not answered yet".to_owned()), |(_, result)| result.clone())
    }
}

impl RemoteProbe {
    pub(crate) fn of(store: Arc<dyn Execute>, world: Arc<dyn World>) -> Self {
        Self { store, world, state: Arc::default() }
    }

    /// Returns a receiver for the end of the current check; starts a check if the last result is too old.
    fn running(&self) -> Option<watch::Receiver<()>> {
        let mut state = locked(&self.state);
        // A check is cancelled with the runtime that spawned it. Its channel is closed then, and the next probe starts
        // another.
        let runs = state.running.as_ref().is_some_and(|running| running.has_changed().is_ok());
        if state.is_fresh(self.world.monotonic()) {
            return None;
        }
        if !runs {
            let (ended, running) = watch::channel(());
            state.running = Some(running);
            tokio::spawn(check(self.store.clone(), self.world.clone(), self.state.clone(), ended));
        }
        state.running.clone()
    }
}

impl Probe for RemoteProbe {
    fn check(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            if let Some(mut running) = self.running() {
                // On timeout, use the last result.
                drop(timeout(&*self.world, PATIENCE, running.changed()).await);
            }
            locked(&self.state).result()
        })
    }
}

async fn check(store: Arc<dyn Execute>, world: Arc<dyn World>, state: Arc<Mutex<State>>, ended: watch::Sender<()>) {
    let list = Operation::ListTables(ListTables { limit: Some(1), ..ListTables::default() });
    let result = match timeout(&*world, TIMEOUT, store.execute(list)).await {
        Err(_) => Err(format!("the store has not answered for {} s", TIMEOUT.as_secs())),
        // Log the store's address instead of returning it, because the probe may be public.
        Ok(Err(error)) if *error.detail() == Detail::NoAnswer => {
            tracing::warn!("{}", error.message());
            Err("the store does not answer".to_owned())
        }
        Ok(_) => Ok(()),
    };
    locked(&state).last = Some((world.monotonic(), result));
    drop(ended);
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use keyform_core::error::remote;
    use keyform_core::operation::ListTablesOutput;
    use keyform_core::{Error, Output};
    use keyform_world::testing::ManualWorld;
    use tokio::sync::Semaphore;

    use super::*;

    /// Store stub that answers a limited number of requests with a fixed result.
    struct Remote {
        answers: Semaphore,
        answer: Result<(), Error>,
        asked: AtomicUsize,
    }

    impl Remote {
        fn new(answers: usize, answer: Result<(), Error>) -> Arc<Self> {
            Arc::new(Self { answers: Semaphore::new(answers), answer, asked: AtomicUsize::new(0) })
        }
    }

    impl Execute for Remote {
        fn execute(&self, _: Operation) -> BoxFuture<'_, Result<keyform_core::Output, Error>> {
            Box::pin(async move {
                self.asked.fetch_add(1, Ordering::Relaxed);
                self.answers.acquire().await.expect("it is never closed").forget();
                self.answer.clone().map(|()| Output::ListTables(ListTablesOutput::default()))
            })
        }
    }

    #[tokio::test]
    async fn any_answer_makes_a_store_ready_and_is_good_for_a_while() {
        for answer in [Ok(()), Err(remote::reported("AccessDeniedException", "no right to list tables", Detail::None))]
        {
            let store = Remote::new(10, answer);
            let world = ManualWorld::default();
            let probe = RemoteProbe::of(store.clone(), Arc::new(world.clone()));
            for _ in 0..5 {
                assert_eq!(probe.check().await, Ok(()));
            }
            assert_eq!(store.asked.load(Ordering::Relaxed), 1);
            world.advance(FRESH);
            assert_eq!(probe.check().await, Ok(()));
            assert_eq!(store.asked.load(Ordering::Relaxed), 2);
        }
    }

    #[tokio::test]
    async fn store_that_does_not_answer_is_reported_without_its_address() {
        let store = Remote::new(10, Err(remote::no_answer("connect to 10.0.0.7 refused")));
        let probe = RemoteProbe::of(store, Arc::new(ManualWorld::default()));
        assert_eq!(probe.check().await, Err("the store does not answer".to_owned()));
    }

    #[tokio::test]
    async fn probes_of_a_frozen_store_wait_for_one_check_and_end() {
        let store = Remote::new(0, Ok(()));
        let world = ManualWorld::default();
        let probe = RemoteProbe::of(store.clone(), Arc::new(world.clone()));
        // The clock moves when both probes wait.
        let (one, other, ()) = tokio::join!(probe.check(), probe.check(), async { world.advance(PATIENCE) });
        assert_eq!((one.is_err(), other.is_err()), (true, true));
        assert_eq!(store.asked.load(Ordering::Relaxed), 1);
        let mut running = probe.running().expect("the check still runs");
        store.answers.add_permits(1);
        assert!(running.changed().await.is_err(), "it ends by closing its channel");
        assert_eq!(probe.check().await, Ok(()));
    }
}
