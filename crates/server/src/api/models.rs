//! The models that are served. They can be replaced while the server runs: a call keeps the version it began with.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::difference::Difference;
use super::served::Served;

/// The models that are served, by name. Clones share them.
#[derive(Clone, Default)]
pub struct Models(Arc<RwLock<BTreeMap<String, Arc<Served>>>>);

impl Models {
    /// Serves a model, in the place of the one with the same name; tells what is different now.
    pub fn put(&self, served: Served) -> Difference {
        let served = Arc::new(served);
        let mut models = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = models.insert(served.name().to_owned(), served.clone());
        Difference::between(before.as_deref().map(Served::checked), served.checked())
    }

    /// Serves a model no longer; says whether it was there.
    pub fn remove(&self, name: &str) -> bool {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(name).is_some()
    }

    /// The names, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<Served>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<Served>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
