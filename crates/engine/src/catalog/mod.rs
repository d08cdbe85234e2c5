//! The tables there are. A [`Table`] is immutable; a change of one puts a new one in its place.
//!
//! Whoever writes items holds the catalog's read lock while it decides what to write, so that a change of a table (which takes
//! the write lock) comes before or after a write, never in between: a new index misses nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyform_core::Error;
use keyform_core::error;

use crate::layout::TableId;

mod index;
mod statistics;
mod table;

pub use index::{Index, IndexKind, Projected};
pub use statistics::Statistics;
pub use table::{KeyAttribute, KeyLayout, Stream, Table, TableSettings};

/// All tables by name.
#[derive(Debug, Default)]
pub struct Catalog {
    tables: BTreeMap<String, Arc<Table>>,
    next_id: u32,
}

impl Catalog {
    /// The table of that name.
    ///
    /// # Errors
    /// ResourceNotFoundException where there is none.
    pub fn table(&self, name: &str) -> Result<&Arc<Table>, Error> {
        self.tables.get(name).ok_or_else(error::table::resource_not_found)
    }

    /// The table of that name, if there is one.
    pub fn find(&self, name: &str) -> Option<&Arc<Table>> {
        self.tables.get(name)
    }

    /// All tables in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.values()
    }

    /// Puts a table in, in the place of the one with its name.
    pub fn insert(&mut self, table: Table) -> Arc<Table> {
        self.next_id = self.next_id.max(table.id.0 + 1);
        let table = Arc::new(table);
        self.tables.insert(table.name.clone(), Arc::clone(&table));
        table
    }

    /// Takes a table out.
    pub fn remove(&mut self, name: &str) -> Option<Arc<Table>> {
        self.tables.remove(name)
    }

    /// A number that no table has had.
    pub fn next_id(&mut self) -> TableId {
        let id = TableId(self.next_id);
        self.next_id += 1;
        id
    }

    /// Makes sure that no number below is given out.
    pub fn reserve_ids(&mut self, below: u32) {
        self.next_id = self.next_id.max(below);
    }
}
