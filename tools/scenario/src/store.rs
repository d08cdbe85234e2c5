//! The stores that a test runs on.

use std::sync::Arc;

use keyform::aws::{Credentials, Options, Remote};
use keyform::server::{Running, Server, ServerSettings};
use keyform::{Database, Execute, SystemWorld, World as _};

use crate::extenddb::ExtendDb;
use crate::{CaughtUp, Scene};

/// A store, and the values that keep it alive.
pub struct Store {
    /// Name: `embedded`, `served` or `extenddb`.
    pub name: &'static str,
    /// Executor of its operations.
    pub execute: Arc<dyn Execute>,
    running: Option<Running>,
    _extenddb: Option<ExtendDb>,
}

impl Store {
    /// Returns the engine in this process.
    #[must_use]
    pub fn embedded() -> Self {
        Self { name: "embedded", execute: Arc::new(Database::in_memory()), running: None, _extenddb: None }
    }

    /// Returns our server through the AWS SDK.
    ///
    /// # Panics
    /// Panics if no port is free.
    pub async fn served() -> Self {
        let server = Server::bind(ServerSettings { port: 0, workers: 1, ..ServerSettings::default() }).unwrap();
        let running = keyform::serve(server, &Database::in_memory()).unwrap();
        Self {
            name: "served",
            execute: Arc::new(connect(running.url()).await),
            running: Some(running),
            _extenddb: None,
        }
    }

    /// Returns a new ExtendDB through the AWS SDK, if `KEYFORM_EXTENDDB` names its binary.
    ///
    /// # Panics
    /// Panics if the binary does not start.
    pub async fn extenddb() -> Option<Self> {
        let extenddb = ExtendDb::start(&std::env::var_os("KEYFORM_EXTENDDB")?);
        let execute = Arc::new(connect(extenddb.url.clone()).await);
        Some(Self { name: "extenddb", execute, running: None, _extenddb: Some(extenddb) })
    }

    /// Returns all stores, each new.
    pub async fn all() -> Vec<Self> {
        let mut all = vec![Self::embedded()];
        all.extend(Self::remote().await);
        all
    }

    /// Returns the stores behind the AWS SDK, where each request takes its time.
    pub async fn remote() -> Vec<Self> {
        [Some(Self::served().await), Self::extenddb().await].into_iter().flatten().collect()
    }

    /// Returns the store with waiting for indexes, for tests that are not about lagging indexes.
    #[must_use]
    pub fn caught_up(&self) -> Arc<dyn Execute> {
        if lags(self.name) { Arc::new(CaughtUp::new(self.execute.clone())) } else { self.execute.clone() }
    }

    /// Creates a scene on this store.
    #[must_use]
    pub fn scene(&self) -> Scene {
        Scene::on(self.name, self.execute.clone())
    }

    /// Stops the store, and waits until it has stopped.
    pub fn stop(self) {
        if let Some(running) = self.running {
            running.stop();
        }
    }
}

/// Returns whether the indexes of a store may lag behind their table.
pub(crate) fn lags(name: &str) -> bool {
    name == "extenddb"
}

/// Connects the AWS SDK to an endpoint, with the credentials of the environment, or with the example pair of AWS's
/// documentation, which ExtendDB accepts.
pub async fn connect(url: String) -> Remote {
    let variable = |name: &str, otherwise: &str| std::env::var(name).unwrap_or_else(|_| otherwise.to_owned());
    let credentials = Credentials {
        access_key_id: variable("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
        secret_access_key: variable("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    };
    let options = Options { endpoint_url: Some(url), credentials: Some(credentials), ..Options::default() };
    Remote::connect(options).await.expect("the certificates can be read")
}

/// A unique stage: the tables named by it belong to this test alone, even on a shared store.
#[must_use]
pub fn stage() -> String {
    SystemWorld.code(8).to_lowercase()
}
