//! Scenarios of an application, on each store.

use std::sync::Arc;

use keyform::application::Host;
use keyform::runtime::seal::Keyring;
use keyform::{Execute, ModelOptions, SystemWorld};
use tokio::runtime::{Builder, Runtime};

use crate::store::lags;
use crate::{CaughtUp, Clock, Store, stage};

/// What a scenario has.
#[derive(Clone)]
pub struct Scene {
    /// Where the application runs: tables are made, `stage` has a value of its own, and there is a key for encrypted fields.
    pub host: Host,
    /// Its time.
    pub clock: Clock,
    /// The store's name.
    pub store: &'static str,
}

impl Scene {
    /// A scene on any store: one with faults, for instance.
    #[must_use]
    pub fn on(store: &'static str, execute: Arc<dyn Execute>) -> Self {
        let clock = Clock::new();
        let keys = Keyring::generate(&SystemWorld);
        let options = ModelOptions::new().variable("stage", stage()).field_keys(keys).in_world(clock.clone());
        Self { host: Host::shared(execute).with_options(options), clock, store }
    }

    /// The same application, clock and keys on another store: what another copy of the program sees, or one whose requests fail.
    #[must_use]
    pub fn through(&self, execute: Arc<dyn Execute>) -> Self {
        let host =
            Host::shared(execute).with_options(self.host.options()).with_token_keys(self.host.token_keys().clone());
        Self { host, ..self.clone() }
    }

    /// The same on a store whose indexes are read when they have caught up: for scenarios that are not about what comes late.
    #[must_use]
    pub fn caught_up(&self) -> Self {
        if lags(self.store) { self.through(Arc::new(CaughtUp::new(self.host.store()))) } else { self.clone() }
    }
}

/// Runs a scenario on each store, each time from the start. Two threads, so that what is concurrent is.
///
/// # Panics
/// If the scenario does; the store's name is told.
pub fn on_every_store<S: AsyncFn(Scene)>(scenario: S) {
    let runtime = runtime();
    for store in runtime.block_on(Store::all()) {
        run(&runtime, store, &scenario);
    }
}

/// Runs a scenario on the embedded engine alone: for what is about code that never meets a store, or takes long.
///
/// # Panics
/// If the scenario does.
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

/// Says on which store a scenario failed.
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
