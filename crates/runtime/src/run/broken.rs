//! Items that do not fit their entity.
//!
//! Another program may have written them, or an older model. Such an item breaks only its own read: lists leave it out
//! and report how many they left out, and the runner counts it for the metrics.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use keyform_core::{Attributes, Item};
use keyform_language::reading::Misfit;
use keyform_language::schema::{EntityId, Model};

use super::{RunError, Runner};

/// Item that does not fit its entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenItem {
    /// Name of the table in the store.
    pub table: String,
    /// Primary key of the item. Empty if the store did not return it.
    pub key: Attributes,
    /// Name of the entity.
    pub entity: String,
    /// Field that does not fit, with the path to the part.
    pub field: String,
    /// Reason: `` `uses` is not a whole number ``.
    pub reason: String,
}

impl fmt::Display for BrokenItem {
    /// Leaves out the key, which the caller may not know.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the stored {} does not fit the model: {}", self.entity, self.reason)
    }
}

impl std::error::Error for BrokenItem {}

/// Number of broken items that were read, by entity.
pub(super) struct BrokenCounts(Vec<AtomicU64>);

impl BrokenCounts {
    pub(super) fn of(model: &Model) -> Self {
        Self(model.entities.iter().map(|_| AtomicU64::default()).collect())
    }
}

impl Runner {
    /// Returns how many broken items were read so far, by entity. Each read of an item counts.
    pub fn broken_items(&self) -> impl Iterator<Item = (&str, u64)> {
        let entities = self.checked.model.entities.iter().map(|entity| entity.name.as_str());
        entities.zip(self.patterns.broken.0.iter().map(|count| count.load(Ordering::Relaxed)))
    }

    /// Counts a broken item and describes it.
    pub(super) fn broken(&self, id: EntityId, item: &Item, misfit: Misfit) -> RunError {
        self.patterns.broken.0[id.0].fetch_add(1, Ordering::Relaxed);
        let entity = self.checked.model.entity(id);
        let table = entity.table.map(|table| self.checked.model.table(table));
        let names = table.into_iter().flat_map(|table| table.key_names());
        RunError::Broken(Box::new(BrokenItem {
            table: table.map(|table| table.physical.clone()).unwrap_or_default(),
            key: names.filter_map(|name| Some((name.to_owned(), item.get(name)?.to_tree()))).collect(),
            entity: entity.name.clone(),
            reason: misfit.to_string(),
            field: misfit.field,
        }))
    }
}
