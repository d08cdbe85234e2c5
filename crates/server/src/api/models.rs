//! Registry of the served models. Models can be replaced while the server runs; a call keeps the version it started
//! with.
//!
//! A built-in model can be registered as a constructor, which runs at the first request, so that an unused model costs
//! nothing at startup.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::difference::Difference;
use super::served::Served;

/// Served models by name. Clones share the registry.
#[derive(Clone, Default)]
pub struct Models(Arc<RwLock<Entries>>);

type Entries = BTreeMap<String, Arc<Entry>>;

/// Served model, or the constructor that creates it on first use.
struct Entry {
    served: OnceLock<Arc<Served>>,
    make: Option<Box<dyn Fn() -> Served + Send + Sync>>,
}

impl Entry {
    fn get(&self) -> Option<Arc<Served>> {
        match &self.make {
            Some(make) => Some(self.served.get_or_init(|| Arc::new(make())).clone()),
            None => self.served.get().cloned(),
        }
    }
}

impl Models {
    /// Registers a model, replacing the one with the same name, and returns what changed.
    pub fn put(&self, served: Served) -> Difference {
        let served = Arc::new(served);
        let entry = Entry { served: OnceLock::from(served.clone()), make: None };
        let before = self.write().insert(served.name().to_owned(), Arc::new(entry));
        let before = before.and_then(|entry| entry.served.get().cloned());
        Difference::between(before.as_deref().map(Served::checked), served.checked())
    }

    /// Registers a model that `make` creates on first use. `make` must return a model with this name.
    pub fn put_later(&self, name: &str, make: impl Fn() -> Served + Send + Sync + 'static) {
        let entry = Entry { served: OnceLock::new(), make: Some(Box::new(make)) };
        self.write().insert(name.to_owned(), Arc::new(entry));
    }

    /// Unregisters a model. Returns whether it was registered.
    pub fn remove(&self, name: &str) -> bool {
        self.write().remove(name).is_some()
    }

    /// Returns the model names in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.read().keys().cloned().collect()
    }

    /// Returns whether no model is registered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.read().is_empty()
    }

    /// Returns whether a model was registered with [`Models::put`], that is, explicitly requested by the operator.
    pub(crate) fn have_given(&self) -> bool {
        self.read().values().any(|entry| entry.make.is_none())
    }

    /// Returns the models that are in use; one that is created on first use is missing until then.
    pub(crate) fn all(&self) -> Vec<Arc<Served>> {
        self.read().values().filter_map(|entry| entry.served.get().cloned()).collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<Served>> {
        // Release the lock before running the constructor, which takes a while.
        let entry = self.read().get(name).cloned();
        entry.and_then(|entry| entry.get())
    }

    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Entries> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
