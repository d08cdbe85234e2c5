//! The stores a test runs on: embedded, our server through the AWS SDK, and ExtendDB through the AWS SDK where `KEYFORM_EXTENDDB_URL` says
//! where one listens.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

pub mod counted;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use keyform::server::{Running, Server, Settings};
use keyform::{Database, Error, Execute, Operation, Output};
use keyform_aws::{Credentials, Options, Remote};

/// A store, and what keeps it alive.
pub struct Store {
    /// What it is.
    pub name: &'static str,
    /// What runs its operations.
    pub execute: Arc<dyn Execute>,
    running: Option<Running>,
}

impl Store {
    pub fn embedded() -> Self {
        Self { name: "embedded", execute: Arc::new(Database::in_memory()), running: None }
    }

    pub async fn served() -> Self {
        let server = Server::bind(Settings { port: 0, ..Settings::default() }).unwrap();
        let running = keyform::serve(server, &Database::in_memory()).unwrap();
        Self { name: "served", execute: Arc::new(connect(running.url()).await), running: Some(running) }
    }

    pub async fn extenddb() -> Option<Self> {
        let url = std::env::var("KEYFORM_EXTENDDB_URL").ok()?;
        Some(Self { name: "extenddb", execute: Arc::new(connect(url).await), running: None })
    }

    /// All of them, each fresh but for ExtendDB, which tests share.
    pub async fn all() -> Vec<Self> {
        [Some(Self::embedded()), Some(Self::served().await), Self::extenddb().await].into_iter().flatten().collect()
    }

    /// Those that are asked through the AWS SDK, where each request has its time.
    pub async fn remote() -> Vec<Self> {
        [Some(Self::served().await), Self::extenddb().await].into_iter().flatten().collect()
    }

    pub fn stop(self) {
        if let Some(running) = self.running {
            running.stop();
        }
    }
}

/// With the credentials of the AWS environment variables, if there are some.
async fn connect(url: String) -> Remote {
    let variable = |name: &str, otherwise: &str| std::env::var(name).unwrap_or_else(|_| otherwise.to_owned());
    let credentials = Credentials {
        access_key_id: variable("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
        secret_access_key: variable("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    };
    Remote::connect(Options { endpoint_url: Some(url), credentials: Some(credentials), ..Options::default() }).await
}

/// A store that stops answering after so many requests, as it looks to a process that is killed.
pub struct Mortal {
    store: Arc<dyn Execute>,
    left: AtomicI64,
}

impl Mortal {
    pub fn new(store: Arc<dyn Execute>, requests: i64) -> Self {
        Self { store, left: AtomicI64::new(requests) }
    }

    /// Whether it has died.
    pub fn is_dead(&self) -> bool {
        self.left.load(Ordering::SeqCst) < 0
    }
}

impl Execute for Mortal {
    fn execute(&self, operation: Operation) -> keyform_core::execute::BoxFuture<'_, Result<Output, Error>> {
        if self.left.fetch_sub(1, Ordering::SeqCst) <= 0 {
            return Box::pin(async { Err(Error::internal("killed".to_owned())) });
        }
        self.store.execute(operation)
    }
}
