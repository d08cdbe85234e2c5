//! Environment that applications run in: store, token keys, options, folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use keyform_core::execute::{BoxFuture, Watch};
use keyform_core::{Error, Execute, Operation, Output, World};
use serde_json::{Map, Value};

use crate::options::ModelOptions;
use crate::tables::Tables;
use crate::throttle::Throttle;
use crate::token_keys::TokenKeys;

/// Environment that applications run in. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Host {
    store: SharedStore,
    tables: Tables,
    options: ModelOptions,
    token_keys: TokenKeys,
    throttle: Throttle,
    /// Set after [`Host::with_throttle`].
    has_own_throttle: bool,
    folder: Option<PathBuf>,
}

#[derive(Clone)]
struct SharedStore(Arc<dyn Execute>);

impl std::fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("store")
    }
}

/// Store that yields to other tasks now and then. An embedded store answers most operations immediately, so a flow with
/// many operations would never yield: its deadline would not fire and other connections of its thread would starve.
struct Cooperative(Arc<dyn Execute>);

impl Execute for Cooperative {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        Box::pin(async move {
            tokio::task::coop::consume_budget().await;
            self.0.execute(operation).await
        })
    }

    fn watch(&self) -> Option<&dyn Watch> {
        self.0.watch()
    }

    fn indexes_keep_up(&self) -> bool {
        self.0.indexes_keep_up()
    }
}

impl Host {
    /// Creates a host on a store. Tables are created when needed, and tokens are signed with a key that lives as long
    /// as the process.
    #[must_use]
    pub fn on(store: impl Execute + 'static) -> Self {
        Self::shared(Arc::new(store))
    }

    /// Creates a host on a shared store, with the defaults of [`Host::on`].
    #[must_use]
    pub fn shared(store: Arc<dyn Execute>) -> Self {
        Self {
            store: SharedStore(Arc::new(Cooperative(store))),
            tables: Tables::Made,
            options: ModelOptions::new(),
            token_keys: TokenKeys::made_up(),
            throttle: Throttle::new(),
            has_own_throttle: false,
            folder: None,
        }
    }

    /// Sets whether tables are created when needed.
    #[must_use]
    pub fn with_tables(self, tables: Tables) -> Self {
        Self { tables, ..self }
    }

    /// Sets the options of its models.
    #[must_use]
    pub fn with_options(self, options: ModelOptions) -> Self {
        // The default counter runs on the clock of the models.
        let throttle = if self.has_own_throttle { self.throttle } else { Throttle::in_world(options.world.clone()) };
        Self { options, throttle, ..self }
    }

    /// Sets the keys that sign and verify tokens.
    #[must_use]
    pub fn with_token_keys(self, token_keys: TokenKeys) -> Self {
        Self { token_keys, ..self }
    }

    /// Replaces the attempt counter: for tests with their own clock, or to share limits between hosts.
    #[must_use]
    pub fn with_throttle(self, throttle: Throttle) -> Self {
        Self { throttle, has_own_throttle: true, ..self }
    }

    /// Sets a folder for data that does not fit into items, such as files. It is created when needed.
    #[must_use]
    pub fn with_folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..self }
    }

    /// Sets the value of a variable in table names.
    #[must_use]
    pub fn variable(self, name: &str, value: &str) -> Self {
        Self { options: self.options.clone().variable(name, value), ..self }
    }

    /// Returns the store, for a model's typed code.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Execute> {
        self.store.0.clone()
    }

    /// Returns the options, for a model's typed code.
    #[must_use]
    pub fn options(&self) -> ModelOptions {
        self.options.clone()
    }

    /// Returns whether tables are created when needed.
    #[must_use]
    pub fn tables(&self) -> Tables {
        self.tables
    }

    /// Returns the folder for data that does not fit into items, or `None` if this host stores no such data.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the keys that sign and verify tokens.
    #[must_use]
    pub fn token_keys(&self) -> &TokenKeys {
        &self.token_keys
    }

    /// Returns the attempt counter for log-ins, e-mails and guesses: call `host.throttle().attempt(…)` at the start of
    /// a flow.
    #[must_use]
    pub fn throttle(&self) -> &Throttle {
        &self.throttle
    }

    /// Returns the clock, timer and randomness, for code beside the model.
    #[must_use]
    pub fn world(&self) -> Arc<dyn World> {
        self.options.world.clone()
    }

    /// Issues a token with these claims. Returns `None` if the host has no secret to sign with, because an external
    /// issuer signs the tokens.
    #[must_use]
    pub fn issue_token(&self, claims: Map<String, Value>, lifetime: Duration) -> Option<String> {
        self.token_keys.issue(claims, lifetime, self.world().system_time())
    }
}
