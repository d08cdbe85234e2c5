//! Options of a model's typed handle.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use keyform_core::World;
use keyform_runtime::run::RunSettings;
use keyform_runtime::seal::Keyring;

/// Options of a model's typed handle: variables, keys and clock.
///
/// ```
/// let options = keyform_flow::ModelOptions::new().variable("stage", "dev");
/// ```
#[derive(Clone)]
pub struct ModelOptions {
    variables: BTreeMap<String, String>,
    cursor_key: Option<[u8; 32]>,
    without_transactions: bool,
    field_keys: Option<Arc<Keyring>>,
    accept_breaking: bool,
    pub(crate) world: Arc<dyn World>,
}

impl ModelOptions {
    /// Creates options with the system's clock, a random cursor key, and no variables.
    #[must_use]
    pub fn new() -> Self {
        Self {
            variables: BTreeMap::new(),
            cursor_key: None,
            without_transactions: false,
            field_keys: None,
            accept_breaking: false,
            world: keyform_world::system(),
        }
    }

    /// Sets the value of a variable in table names, such as `stage`.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Sets the keys of encrypted fields.
    #[must_use]
    pub fn field_keys(mut self, keys: Keyring) -> Self {
        self.field_keys = Some(Arc::new(keys));
        self
    }

    /// Sets the key that encrypts cursors. Programs that accept each other's cursors share it; without a key, cursors are
    /// valid only in this process.
    #[must_use]
    pub fn cursor_key(mut self, key: [u8; 32]) -> Self {
        self.cursor_key = Some(key);
        self
    }

    /// Declares that the store has no transactions. Writes that need one then fail with a reason.
    #[must_use]
    pub fn without_transactions(mut self) -> Self {
        self.without_transactions = true;
        self
    }

    /// Accepts the model even if it does not fit the items of the version that the store has accepted. Those items are
    /// lost to it, and instances with the older version stop: prefer an `evolve`.
    #[must_use]
    pub fn accept_breaking_model(mut self) -> Self {
        self.accept_breaking = true;
        self
    }

    /// Replaces the real clock, timer and randomness, for tests.
    #[must_use]
    pub fn in_world(mut self, world: impl World + 'static) -> Self {
        self.world = Arc::new(world);
        self
    }
}

impl ModelOptions {
    /// Returns the clock, timer and randomness.
    #[must_use]
    pub fn world(&self) -> Arc<dyn World> {
        self.world.clone()
    }

    /// Returns the settings of a runner. Without a cursor key, they hold a random one.
    #[must_use]
    pub fn settings(&self) -> RunSettings {
        RunSettings {
            variables: self.variables.clone(),
            cursor_key: self.cursor_key.unwrap_or_else(|| self.world.random()),
            without_transactions: self.without_transactions,
            field_keys: self.field_keys.clone(),
            accept_breaking: self.accept_breaking,
        }
    }
}

/// Uses the runner's settings and the system's clock.
impl From<RunSettings> for ModelOptions {
    fn from(settings: RunSettings) -> Self {
        Self {
            variables: settings.variables,
            cursor_key: Some(settings.cursor_key),
            without_transactions: settings.without_transactions,
            field_keys: settings.field_keys,
            accept_breaking: settings.accept_breaking,
            world: keyform_world::system(),
        }
    }
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ModelOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelOptions").field("variables", &self.variables).finish_non_exhaustive()
    }
}
