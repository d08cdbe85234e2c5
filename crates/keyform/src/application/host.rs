//! Where applications run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use keyform_core::Execute;
use keyform_runtime::run::Surroundings;
use keyform_server::{Tables, TokenKeys};
use serde_json::{Map, Value};

use crate::ModelOptions;

/// Where applications run. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Host {
    store: SharedStore,
    tables: Tables,
    options: ModelOptions,
    token_keys: TokenKeys,
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
            store: SharedStore(store),
            tables: Tables::Made,
            options: ModelOptions::new(),
            token_keys: TokenKeys::made_up(),
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
