//! The models that are served. They can be replaced while the server runs: a call keeps the version it began with.
//!
//! A model that is always the same can be put in as a recipe: it is made when somebody asks for it first, so that it costs nothing before.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::difference::Difference;
use super::served::Served;

/// The models that are served, by name. Clones share them.
#[derive(Clone, Default)]
pub struct Models(Arc<RwLock<Entries>>);

type Entries = BTreeMap<String, Arc<Entry>>;

/// A model, or how it is made.
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
    /// Serves a model, in the place of the one with the same name; tells what is different now.
    pub fn put(&self, served: Served) -> Difference {
        let served = Arc::new(served);
        let entry = Entry { served: OnceLock::from(served.clone()), make: None };
        let before = self.write().insert(served.name().to_owned(), Arc::new(entry));
        let before = before.and_then(|entry| entry.served.get().cloned());
        Difference::between(before.as_deref().map(Served::checked), served.checked())
    }

    /// Serves a model that is made when it is asked for first. `make` must give a model of this name.
    pub fn put_later(&self, name: &str, make: impl Fn() -> Served + Send + Sync + 'static) {
        let entry = Entry { served: OnceLock::new(), make: Some(Box::new(make)) };
        self.write().insert(name.to_owned(), Arc::new(entry));
    }

    /// Serves a model no longer; says whether it was there.
    pub fn remove(&self, name: &str) -> bool {
        self.write().remove(name).is_some()
    }

    /// The names, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.read().keys().cloned().collect()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.read().is_empty()
    }

    /// Whether some were put in as they are: somebody wants them served.
    pub(crate) fn have_given(&self) -> bool {
        self.read().values().any(|entry| entry.make.is_none())
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<Served>> {
        // The lock is let go before the model is made, which takes a while.
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
