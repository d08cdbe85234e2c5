//! Stored bytes of tables and indexes. DynamoDB adds 100 bytes to each item and each index entry.

use serde::Serialize;

use keyform_language::schema::{IndexId, Model, Table, TableId};

use super::partition;
use super::size::{self, OVERHEAD_BYTES};

/// Storage of a table.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TableStorage {
    /// Name of the table in the model.
    pub table: String,
    /// Number of items, by the declared volumes.
    pub items: u64,
    /// Bytes of the items, overhead included.
    pub bytes: u64,
    /// Storage of each index.
    pub indexes: Vec<IndexStorage>,
    /// Entities without a declared item count, which are not included.
    pub without_figures: Vec<String>,
}

/// Storage of an index.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexStorage {
    /// Name of the index in the model.
    pub index: String,
    /// Number of index entries, by the declared volumes.
    pub items: u64,
    /// Bytes of the entries, overhead included.
    pub bytes: u64,
}

impl TableStorage {
    /// Returns the total bytes, indexes included.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.bytes + self.indexes.iter().map(|index| index.bytes).sum::<u64>()
    }
}

/// Estimates the storage of a table.
#[must_use]
pub fn table(model: &Model, id: TableId) -> TableStorage {
    let table = model.table(id);
    let mut storage = TableStorage {
        table: table.name.clone(),
        items: 0,
        bytes: 0,
        indexes: (0..table.indexes.len()).map(|index| self::index(model, id, table, IndexId(index))).collect(),
        without_figures: Vec::new(),
    };
    for (_, entity) in model.entities_of(id) {
        match entity.volume.items {
            Some(items) => {
                storage.items += items;
                storage.bytes += items * (size::item(model, entity).0 + OVERHEAD_BYTES);
            }
            None => storage.without_figures.push(entity.name.clone()),
        }
    }
    storage
}

fn index(model: &Model, id: TableId, table: &Table, index: IndexId) -> IndexStorage {
    let line = table.index_at(index);
    let within = model.entities_of(id).filter_map(|(_, entity)| Some((entity, entity.key_of(Some(index))?)));
    let (mut items, mut bytes) = (0, 0);
    for (entity, key) in within {
        let (share, _) = partition::share(entity, key);
        let count = (entity.volume.items.unwrap_or(0) as f64 * share).round() as u64;
        items += count;
        bytes += count * (size::in_index(model, entity, line) + OVERHEAD_BYTES);
    }
    IndexStorage { index: line.name.clone(), items, bytes }
}
