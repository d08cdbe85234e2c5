//! The tables there are. A [`Table`] is immutable; a change of one puts a new one in its place.
//!
//! Whoever writes items holds the catalog's read lock while it decides what to write, so that a change of a table (which takes
//! the write lock) comes before or after a write, never in between: a new index misses nothing.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use keyform_core::Error;
use keyform_core::error;

use crate::layout::TableId;

mod fields;
mod index;
pub(crate) mod load;
mod statistics;
mod statistics_record;
mod stream;
mod stream_record;
mod table;
mod table_record;

pub use index::{Index, IndexKind, Projected};
pub use statistics::Statistics;
pub use stream::{Position, Shard, ShardEnd, ShardMeter, Stream};
pub use table::{Expiry, KeyAttribute, KeyLayout, Table, TableSettings};

/// All tables by name, and their streams.
#[derive(Debug, Default)]
pub struct Catalog {
    tables: BTreeMap<String, Arc<Table>>,
    streams: BTreeMap<(TableId, u32), Arc<Stream>>,
    next_id: u32,
    arn_prefix: String,
}

impl Catalog {
    /// An empty catalog; table ARNs start with `arn_prefix`.
    pub fn new(arn_prefix: String) -> Self {
        Self { arn_prefix, ..Self::default() }
    }

    /// The table of that name or ARN.
    ///
    /// # Errors
    /// ResourceNotFoundException where there is none.
    pub fn table(&self, name: &str) -> Result<&Arc<Table>, Error> {
        self.find(name).ok_or_else(error::table::resource_not_found)
    }

    /// The table of that name or ARN, if there is one.
    pub fn find(&self, name: &str) -> Option<&Arc<Table>> {
        self.tables.get(name.strip_prefix(&self.arn_prefix).unwrap_or(name))
    }

    /// All tables in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.values()
    }

    /// The tables after that name, in order of their names.
    pub fn iter_after(&self, name: Option<&str>) -> impl Iterator<Item = &Arc<Table>> {
        let lower = name.map_or(Bound::Unbounded, Bound::Excluded);
        self.tables.range::<str, _>((lower, Bound::Unbounded)).map(|(_, table)| table)
    }

    /// Puts a table in, in the place of the one with its name, and its stream.
    pub fn insert(&mut self, table: Table) -> Arc<Table> {
        self.reserve_ids(table.id.0 + 1);
        if let Some(stream) = &table.stream {
            self.streams.insert((stream.table_id, stream.number), Arc::clone(stream));
        }
        let table = Arc::new(table);
        self.tables.insert(table.name.clone(), Arc::clone(&table));
        table
    }

    /// Takes a table out; its streams stay.
    pub fn remove(&mut self, name: &str) -> Option<Arc<Table>> {
        self.tables.remove(name)
    }

    /// All streams there are, also of tables that are gone.
    pub fn streams(&self) -> impl Iterator<Item = &Arc<Stream>> {
        self.streams.values()
    }

    /// The stream of that number.
    pub fn stream(&self, table: TableId, number: u32) -> Option<&Arc<Stream>> {
        self.streams.get(&(table, number))
    }

    /// When the newest stream of tables with that name began; zero if there is none.
    pub fn newest_stream_ms(&self, table: &str) -> u64 {
        let streams = self.streams().filter(|stream| stream.table == table);
        streams.map(|stream| stream.created_ms).max().unwrap_or(0)
    }

    /// Puts a stream in, in the place of its earlier state.
    pub fn insert_stream(&mut self, stream: Stream) {
        let stream = Arc::new(stream);
        self.streams.insert((stream.table_id, stream.number), Arc::clone(&stream));
        self.set_table_stream(&stream, Some(Arc::clone(&stream)));
    }

    /// Forgets a stream.
    pub fn remove_stream(&mut self, stream: &Stream) {
        self.streams.remove(&(stream.table_id, stream.number));
        self.set_table_stream(stream, None);
    }

    fn set_table_stream(&mut self, stream: &Stream, newer: Option<Arc<Stream>>) {
        let Some(table) = self.tables.get_mut(&stream.table) else { return };
        let is_newest = table.stream.as_ref().is_some_and(|newest| newest.number == stream.number);
        if table.id == stream.table_id && is_newest {
            *table = Arc::new(Table { stream: newer, ..Table::clone(table) });
        }
    }

    /// A number that no table has had.
    pub fn take_id(&mut self) -> TableId {
        let id = TableId(self.next_id);
        self.next_id += 1;
        id
    }

    /// The number that the next table gets.
    pub fn next_id(&self) -> u32 {
        self.next_id
    }

    /// Makes sure that no number below is given out.
    pub fn reserve_ids(&mut self, below: u32) {
        self.next_id = self.next_id.max(below);
    }
}
