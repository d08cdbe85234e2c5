//! Where and how a model runs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use keyform_runtime::run::{Settings, Surroundings};
use keyform_runtime::seal::Keyring;

use crate::surroundings::System;

/// Where and how a model runs.
///
/// ```
/// let options = keyform::ModelOptions::new().variable("stage", "dev");
/// ```
#[derive(Clone)]
pub struct ModelOptions {
    pub(super) variables: BTreeMap<String, String>,
    pub(super) cursor_key: Option<[u8; 32]>,
    pub(super) without_transactions: bool,
    pub(super) field_keys: Option<Arc<Keyring>>,
    pub(super) surroundings: Arc<dyn Surroundings>,
}

impl ModelOptions {
    /// The system's clock, a random key for cursors, and no variables.
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

    /// What a variable in the names of tables stands for: `stage`, for one.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// The keys of encrypted fields: see [`field_keys`](crate::field_keys).
    #[must_use]
    pub fn field_keys(mut self, keys: Keyring) -> Self {
        self.field_keys = Some(Arc::new(keys));
        self
    }

    /// What cursors are signed with. Programs that take each other's cursors share it; without one, cursors end with the program.
    #[must_use]
    pub fn cursor_key(mut self, key: [u8; 32]) -> Self {
        self.cursor_key = Some(key);
        self
    }

    /// The store has no transactions: a write that needs one is refused with the reason.
    #[must_use]
    pub fn without_transactions(mut self) -> Self {
        self.without_transactions = true;
        self
    }

    /// Another clock, other ids and other pauses than the system's: what tests want.
    #[must_use]
    pub fn surroundings(mut self, surroundings: impl Surroundings + 'static) -> Self {
        self.surroundings = Arc::new(surroundings);
        self
    }
}

impl ModelOptions {
    /// The clock, the ids and the pauses.
    pub(crate) fn world(&self) -> Arc<dyn Surroundings> {
        self.surroundings.clone()
    }
}

/// As a runner has them, with the system's clock.
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
