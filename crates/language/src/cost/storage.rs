//! What items take up, in tables and indexes. The service adds 100 bytes to each item and to each entry of an index.

use serde::Serialize;

use crate::schema::{IndexId, Model, Table, TableId};

use super::size::{self, OVERHEAD_BYTES};

/// What a table takes up.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TableStorage {
    /// The table.
    pub table: String,
    /// Its items.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Each index with its bytes.
    pub indexes: Vec<IndexStorage>,
    /// Entities without an `items` figure, which are left out.
    pub without_figures: Vec<String>,
}

/// What an index takes up.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexStorage {
    /// The index.
    pub index: String,
    /// Its entries.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl TableStorage {
    /// All bytes, those of the indexes included.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.bytes + self.indexes.iter().map(|index| index.bytes).sum::<u64>()
    }
}

/// Counts a table.
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
    let within = model.entities_of(id).filter(|(_, entity)| entity.key_of(Some(index)).is_some());
    let (mut items, mut bytes) = (0, 0);
    for (_, entity) in within {
        let count = entity.volume.items.unwrap_or(0);
        items += count;
        bytes += count * (size::in_index(model, entity, line) + OVERHEAD_BYTES);
    }
    IndexStorage { index: line.name.clone(), items, bytes }
}
