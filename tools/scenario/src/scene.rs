//! Runs scenarios of an application on each store.

use std::sync::Arc;

use keyform::flow::Host;
use keyform::runtime::seal::Keyring;
use keyform::{Execute, ModelOptions, SystemWorld};
use tokio::runtime::{Builder, Runtime};

use crate::store::lags;
use crate::{CaughtUp, Clock, Store, stage};

/// Environment of a scenario.
#[derive(Clone)]
pub struct Scene {
    /// Host of the application: creates tables, has its own `stage`, and a key for encrypted fields.
    pub host: Host,
    /// Clock of the application.
    pub clock: Clock,
    /// Name of the store.
    pub store: &'static str,
}

impl Scene {
    /// Creates a scene on any store, for instance one with faults.
    #[must_use]
    pub fn on(store: &'static str, execute: Arc<dyn Execute>) -> Self {
        let clock = Clock::new();
        let keys = Keyring::generate(&SystemWorld);
        let options = ModelOptions::new().variable("stage", stage()).field_keys(keys).in_world(clock.clone());
        Self { host: Host::shared(execute).with_options(options), clock, store }
    }

    /// Returns a scene with the same application, clock and keys on another store: as another instance of the program
    /// sees it, or one whose requests fail.
    #[must_use]
    pub fn through(&self, execute: Arc<dyn Execute>) -> Self {
        let host =
            Host::shared(execute).with_options(self.host.options()).with_token_keys(self.host.token_keys().clone());
        Self { host, ..self.clone() }
    }

    /// Returns the same scene on a store that waits for its indexes, for scenarios that are not about lagging indexes.
    #[must_use]
    pub fn caught_up(&self) -> Self {
        if lags(self.store) { self.through(Arc::new(CaughtUp::new(self.host.store()))) } else { self.clone() }
    }
}

/// Runs a scenario on each store, each time from the start, with two threads for real concurrency.
///
/// # Panics
/// Panics if the scenario does, and prints the name of the store.
pub fn on_every_store<S: AsyncFn(Scene)>(scenario: S) {
    let runtime = runtime();
    for store in runtime.block_on(Store::all()) {
        run(&runtime, store, &scenario);
    }
}

/// Runs a scenario on the embedded engine alone: for code that does not depend on the store, or takes long.
///
/// # Panics
/// Panics if the scenario does.
pub fn on_embedded<S: AsyncFn(Scene)>(scenario: S) {
    run(&runtime(), Store::embedded(), &scenario);
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn run<S: AsyncFn(Scene)>(runtime: &Runtime, store: Store, scenario: &S) {
    let told = Told(store.name);
    runtime.block_on(scenario(store.scene()));
    drop(told);
    store.stop();
}

/// Reports the store on which a scenario failed.
struct Told(&'static str);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut error = std::io::stderr();
            std::io::Write::write_all(&mut error, format!("the store was: {}\n", self.0).as_bytes())
                .unwrap_or_default();
        }
    }
}
