//! Where applications run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use keyform_core::execute::{BoxFuture, Watch};
use keyform_core::{Error, Execute, Operation, Output};
use keyform_runtime::run::Surroundings;
use keyform_server::{Tables, Throttle, TokenKeys};
use serde_json::{Map, Value};

use crate::ModelOptions;

/// Where applications run. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Host {
    store: SharedStore,
    tables: Tables,
    options: ModelOptions,
    token_keys: TokenKeys,
    throttle: Throttle,
    folder: Option<PathBuf>,
}

/// A store that is shared.
#[derive(Clone)]
struct SharedStore(Arc<dyn Execute>);

impl std::fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("store")
    }
}

/// A store that lets other tasks run now and then. An embedded store answers most operations at once: a flow that makes many of them would never
/// wait, so that neither its deadline nor the other connections of its thread would have their turn.
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
    /// On a store where tables are made when they are needed, with a key for tokens that lives as long as the process.
    #[must_use]
    pub fn on(store: impl Execute + 'static) -> Self {
        Self::shared(Arc::new(store))
    }

    /// The same, of a store that others have too.
    #[must_use]
    pub fn shared(store: Arc<dyn Execute>) -> Self {
        Self {
            store: SharedStore(Arc::new(Cooperative(store))),
            tables: Tables::Made,
            options: ModelOptions::new(),
            token_keys: TokenKeys::made_up(),
            throttle: Throttle::new(),
            folder: None,
        }
    }

    /// The same, with tables made for it or not.
    #[must_use]
    pub fn with_tables(self, tables: Tables) -> Self {
        Self { tables, ..self }
    }

    /// The same, with options for its models.
    #[must_use]
    pub fn with_options(self, options: ModelOptions) -> Self {
        Self { options, ..self }
    }

    /// The same, with the keys that the server verifies tokens with.
    #[must_use]
    pub fn with_token_keys(self, token_keys: TokenKeys) -> Self {
        Self { token_keys, ..self }
    }

    /// The same, with another count of attempts: one on a clock of its own, or one that several hosts share.
    #[must_use]
    pub fn with_throttle(self, throttle: Throttle) -> Self {
        Self { throttle, ..self }
    }

    /// The same, with a folder for what does not fit into items, such as files. It is made when it is needed.
    #[must_use]
    pub fn with_folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..self }
    }

    /// The same, with a value for a variable in the names of tables.
    #[must_use]
    pub fn variable(self, name: &str, value: &str) -> Self {
        Self { options: self.options.clone().variable(name, value), ..self }
    }

    /// The store, for a model's typed code.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Execute> {
        self.store.0.clone()
    }

    /// The options, for a model's typed code.
    #[must_use]
    pub fn options(&self) -> ModelOptions {
        self.options.clone()
    }

    /// Whether tables are made when they are needed.
    #[must_use]
    pub fn tables(&self) -> Tables {
        self.tables
    }

    /// The folder for what does not fit into items; nothing where nothing is kept, or somebody else keeps it.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The keys that tokens are verified with.
    #[must_use]
    pub fn token_keys(&self) -> &TokenKeys {
        &self.token_keys
    }

    /// Counts log-ins, mails and guesses: `host.throttle().attempt(…)` at the top of a flow.
    #[must_use]
    pub fn throttle(&self) -> &Throttle {
        &self.throttle
    }

    /// The clock, the ids and the randomness, for code beside the model.
    #[must_use]
    pub fn surroundings(&self) -> Arc<dyn Surroundings> {
        self.options.world()
    }

    /// A token by which the server knows a caller with these claims. Nothing if there is no secret to sign it with: then somebody else issues tokens.
    #[must_use]
    pub fn issue_token(&self, claims: Map<String, Value>, lifetime: Duration) -> Option<String> {
        let millis = u64::try_from(self.surroundings().now_millis()).unwrap_or(0);
        self.token_keys.issue(claims, lifetime, SystemTime::UNIX_EPOCH + Duration::from_millis(millis))
    }
}
