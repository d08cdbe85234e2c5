//! Example systems on a host. Each is created on first use, so that an unused one costs nothing; its jobs and handlers
//! run from then on.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use keyform::application::Application;
use keyform::flow::Host;
use keyform::operation::ListTables;
use keyform::server::Models;
use keyform::{ExecuteExt, SystemWorld};
use keyform_core::world::timeout;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::failure::Failure;
use crate::systems::{SYSTEMS, System};

/// Time for jobs and handlers to end.
const STOP_TIME_MAX: Duration = Duration::from_secs(5);

/// Example systems on a host. Clones share them.
#[derive(Clone)]
pub(crate) struct Applications(Arc<Inner>);

struct Inner {
    host: Host,
    made: [OnceLock<Application>; SYSTEMS.len()],
    runtime: OnceLock<Runtime>,
    at_work: Mutex<Vec<JoinHandle<()>>>,
    stop: watch::Sender<bool>,
}

impl Applications {
    /// Creates the set without creating any system.
    pub(crate) fn on(host: Host) -> Self {
        let (stop, _) = watch::channel(false);
        let made = std::array::from_fn(|_| OnceLock::new());
        Self(Arc::new(Inner { host, made, runtime: OnceLock::new(), at_work: Mutex::new(Vec::new()), stop }))
    }

    /// Creates a system by name. Its jobs run after [`start`](Self::start).
    pub(crate) fn named(&self, system: &'static System) -> Result<Application, Failure> {
        (system.application)(&self.0.host).map_err(|error| Failure::new(format!("{}: {error}", system.name)))
    }

    /// Registers all systems. Each is created and started at its first call.
    pub(crate) fn serve_when_called(&self, models: &Models) {
        for (number, system) in SYSTEMS.iter().enumerate() {
            let systems = self.clone();
            models.put_later(system.name, move || systems.awake(number).served());
        }
    }

    /// Starts the systems whose tables already exist, so that their jobs continue after a restart.
    pub(crate) fn wake_the_used(&self) {
        let systems = self.clone();
        self.runtime().spawn(async move {
            if systems.has_no_tables().await {
                return;
            }
            for (number, system) in SYSTEMS.iter().enumerate() {
                let Ok(application) = systems.named(system) else { continue };
                if application.runner().missing_tables().await.is_ok_and(|missing| missing.is_empty()) {
                    systems.awake(number);
                }
            }
        });
    }

    /// Writes sample data for all systems; returns lines that describe what to try.
    pub(crate) fn make_samples(&self) -> Result<Vec<String>, Failure> {
        let mut lines = Vec::new();
        for (number, system) in SYSTEMS.iter().enumerate() {
            let made = self.runtime().block_on(self.awake(number).make_sample());
            let told = made.map_err(|error| Failure::new(format!("no sample data for {}: {error}", system.name)))?;
            lines.push(format!("\n{}", system.name));
            lines.extend(told);
        }
        Ok(lines)
    }

    /// Runs the jobs and handlers of an application until [`stop`](Self::stop).
    pub(crate) fn start(&self, application: Application) {
        let mut stop = self.0.stop.subscribe();
        let task = self.runtime().spawn(async move {
            match application.start().await {
                Ok(running) => {
                    // The sender lives as long as the runtime of this task.
                    stop.wait_for(|stop| *stop).await.map(drop).unwrap_or_default();
                    running.stop().await;
                }
                Err(error) => tracing::error!(system = application.name(), "cannot start jobs and handlers: {error}"),
            }
        });
        self.0.at_work.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }

    /// Stops jobs and handlers.
    pub(crate) fn stop(&self) {
        let Some(runtime) = self.0.runtime.get() else { return };
        self.0.stop.send_replace(true);
        let tasks = std::mem::take(&mut *self.0.at_work.lock().unwrap_or_else(PoisonError::into_inner));
        let ended = runtime.block_on(async { timeout(&SystemWorld, STOP_TIME_MAX, all(tasks)).await });
        if ended.is_err() {
            tracing::warn!("jobs did not end in time and were cancelled");
        }
    }

    /// Returns whether the store is empty, as on a first start; then there are no systems to check.
    async fn has_no_tables(&self) -> bool {
        let listed = self.0.host.store().call(ListTables::default()).await;
        listed.is_ok_and(|listed| listed.tables.is_empty())
    }

    fn awake(&self, number: usize) -> &Application {
        let mut is_new = false;
        let application = self.0.made[number].get_or_init(|| {
            is_new = true;
            // The host already has the keys of encrypted fields, and tests check the models.
            self.named(&SYSTEMS[number]).unwrap_or_else(|error| panic!("{error}"))
        });
        if is_new {
            self.start(application.clone());
        }
        application
    }

    fn runtime(&self) -> &Runtime {
        self.0.runtime.get_or_init(|| {
            let runtime =
                Builder::new_multi_thread().worker_threads(1).thread_name("keyform-jobs").enable_all().build();
            runtime.expect("the operating system gives one more thread")
        })
    }
}

async fn all(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        if let Err(error) = task.await {
            tracing::error!("the jobs of a system failed: {error}");
        }
    }
}
