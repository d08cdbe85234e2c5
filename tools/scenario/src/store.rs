//! The stores that a scenario runs on.

use std::sync::Arc;

use keyform::application::Host;
use keyform::aws::{Credentials, Options, Remote};
use keyform::model::bind::Fresh;
use keyform::model::seal::Keyring;
use keyform::server::{Running, Server, Settings};
use keyform::surroundings::System;
use keyform::{Database, Execute, ModelOptions};
use tokio::runtime::{Builder, Runtime};

use crate::Clock;

/// A store, and what keeps it alive.
pub struct Store {
    /// What it is: `embedded`, `served` or `extenddb`.
    pub name: &'static str,
    /// What runs its operations.
    pub execute: Arc<dyn Execute>,
    running: Option<Running>,
}

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

impl Store {
    /// The engine in this process.
    #[must_use]
    pub fn embedded() -> Self {
        Self { name: "embedded", execute: Arc::new(Database::in_memory()), running: None }
    }

    /// Our server through the AWS SDK.
    pub async fn served() -> Self {
        let server = Server::bind(Settings { port: 0, workers: 1, ..Settings::default() }).unwrap();
        let running = keyform::serve(server, &Database::in_memory()).unwrap();
        Self { name: "served", execute: Arc::new(connect(running.url()).await), running: Some(running) }
    }

    /// ExtendDB through the AWS SDK, if one listens. Tests share it.
    pub async fn extenddb() -> Option<Self> {
        let url = std::env::var("KEYFORM_EXTENDDB_URL").ok()?;
        Some(Self { name: "extenddb", execute: Arc::new(connect(url).await), running: None })
    }

    /// A scene on this store.
    #[must_use]
    pub fn scene(&self) -> Scene {
        Scene::on(self.name, self.execute.clone())
    }

    fn stop(self) {
        if let Some(running) = self.running {
            running.stop();
        }
    }
}

impl Scene {
    /// A scene on any store: one with faults, for instance.
    #[must_use]
    pub fn on(store: &'static str, execute: Arc<dyn Execute>) -> Self {
        let clock = Clock::new();
        let keys = Keyring::generate().unwrap();
        let stage = System.code(8).to_lowercase();
        let options = ModelOptions::new().variable("stage", stage).field_keys(keys).surroundings(clock.clone());
        Self { host: Host::shared(execute).with_options(options), clock, store }
    }

    /// The same application, clock and keys on another store: what another copy of the program sees, or one whose requests fail.
    #[must_use]
    pub fn through(&self, execute: Arc<dyn Execute>) -> Self {
        let host =
            Host::shared(execute).with_options(self.host.options()).with_token_keys(self.host.token_keys().clone());
        Self { host, ..self.clone() }
    }
}

async fn connect(url: String) -> Remote {
    let variable = |name: &str, otherwise: &str| std::env::var(name).unwrap_or_else(|_| otherwise.to_owned());
    let credentials = Credentials {
        access_key_id: variable("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
        secret_access_key: variable("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    };
    Remote::connect(Options { endpoint_url: Some(url), credentials: Some(credentials), ..Options::default() }).await
}

/// Runs a scenario on each store, each time from the start. Two threads, so that what is concurrent is.
///
/// # Panics
/// If the scenario does; the store's name is told.
pub fn on_every_store<S: AsyncFn(Scene)>(scenario: S) {
    let runtime = runtime();
    run(&runtime, Store::embedded(), &scenario);
    run(&runtime, runtime.block_on(Store::served()), &scenario);
    if let Some(store) = runtime.block_on(Store::extenddb()) {
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
