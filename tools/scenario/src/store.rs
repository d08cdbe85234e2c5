//! The stores that a test runs on.

use std::sync::Arc;

use keyform::aws::{Credentials, Options, Remote};
use keyform::server::{Running, Server, Settings};
use keyform::{Database, Execute, SystemWorld, World as _};

use crate::{CaughtUp, Scene};

/// A store, and what keeps it alive.
pub struct Store {
    /// What it is: `embedded`, `served` or `extenddb`.
    pub name: &'static str,
    /// What runs its operations.
    pub execute: Arc<dyn Execute>,
    running: Option<Running>,
}

impl Store {
    /// The engine in this process.
    #[must_use]
    pub fn embedded() -> Self {
        Self { name: "embedded", execute: Arc::new(Database::in_memory()), running: None }
    }

    /// Our server through the AWS SDK.
    ///
    /// # Panics
    /// If there is no port.
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

    /// All of them, each fresh but for ExtendDB.
    pub async fn all() -> Vec<Self> {
        let mut all = vec![Self::embedded()];
        all.extend(Self::remote().await);
        all
    }

    /// Those that are asked through the AWS SDK, where each request has its time.
    pub async fn remote() -> Vec<Self> {
        [Some(Self::served().await), Self::extenddb().await].into_iter().flatten().collect()
    }

    /// The store with indexes that are read when they have caught up: for tests that are not about what comes late.
    #[must_use]
    pub fn caught_up(&self) -> Arc<dyn Execute> {
        if lags(self.name) { Arc::new(CaughtUp::new(self.execute.clone())) } else { self.execute.clone() }
    }

    /// A scene on this store.
    #[must_use]
    pub fn scene(&self) -> Scene {
        Scene::on(self.name, self.execute.clone())
    }

    /// Ends it, and waits until it has ended.
    pub fn stop(self) {
        if let Some(running) = self.running {
            running.stop();
        }
    }
}

/// Whether a store's indexes come after their table.
pub(crate) fn lags(name: &str) -> bool {
    name == "extenddb"
}

/// The AWS SDK on an endpoint, with the credentials of the environment, or with the example pair of the documentation of AWS: the one that
/// ExtendDB accepts.
pub async fn connect(url: String) -> Remote {
    let variable = |name: &str, otherwise: &str| std::env::var(name).unwrap_or_else(|_| otherwise.to_owned());
    let credentials = Credentials {
        access_key_id: variable("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
        secret_access_key: variable("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    };
    let options = Options { endpoint_url: Some(url), credentials: Some(credentials), ..Options::default() };
    Remote::connect(options).await.expect("the certificates can be read")
}

/// A stage that nobody else has: the tables that are named by it are the test's own, on a store that others have too.
#[must_use]
pub fn stage() -> String {
    SystemWorld.code(8).to_lowercase()
}
