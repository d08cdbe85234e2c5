//! Options of a model's typed handle.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use keyform_runtime::run::{Settings, Surroundings};
use keyform_runtime::seal::Keyring;

use crate::surroundings::System;

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
    surroundings: Arc<dyn Surroundings>,
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
            surroundings: Arc::new(System),
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

    /// Sets the key that signs cursors. Programs that accept each other's cursors share it; without a key, cursors are
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

    /// Replaces the system's clock, id generator and timer, for tests.
    #[must_use]
    pub fn surroundings(mut self, surroundings: impl Surroundings + 'static) -> Self {
        self.surroundings = Arc::new(surroundings);
        self
    }
}

impl ModelOptions {
    /// Returns the clock, id generator and timer.
    #[must_use]
    pub fn world(&self) -> Arc<dyn Surroundings> {
        self.surroundings.clone()
    }

    /// Returns the settings of a runner. Without a cursor key, they hold a random one.
    ///
    /// # Panics
    /// If the operating system provides no random bytes.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings {
            variables: self.variables.clone(),
            cursor_key: self.cursor_key.unwrap_or_else(random_key),
            without_transactions: self.without_transactions,
            field_keys: self.field_keys.clone(),
        }
    }
}

fn random_key() -> [u8; 32] {
    let mut key = [0; 32];
    getrandom::fill(&mut key).expect("the operating system has randomness");
    key
}

/// Uses the runner's settings and the system's clock.
impl From<Settings> for ModelOptions {
    fn from(settings: Settings) -> Self {
        Self {
            variables: settings.variables,
            cursor_key: Some(settings.cursor_key),
            without_transactions: settings.without_transactions,
            field_keys: settings.field_keys,
            surroundings: Arc::new(System),
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
