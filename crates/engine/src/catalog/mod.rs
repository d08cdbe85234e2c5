//! The tables of the database. A [`Table`] is immutable; a change replaces it.
//!
//! A writer of items holds the catalog's read lock from looking up the table until its batch is ordered in the store. A
//! change of a table takes the write lock. Each write is therefore ordered completely before or after the change, and a
//! new index misses no write (ADR 0004).

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use keyform_core::Error;
use keyform_core::error;

use crate::key_space::TableId;

mod fields;
mod index;
mod labels;
pub(crate) mod load;
mod statistics;
mod statistics_record;
mod stream;
mod stream_record;
mod table;
mod table_record;

use labels::Labels;

pub use index::{Index, IndexKind, Projected};
pub use statistics::Statistics;
pub use stream::{Position, Shard, ShardEnd, ShardMeter, Stream};
pub use table::{Expiry, KeyAttribute, KeyLayout, Table, TableSettings};

/// All tables by name, and the newest stream of each. Older streams are only in the store.
#[derive(Debug, Default)]
pub struct Catalog {
    tables: BTreeMap<String, Arc<Table>>,
    streams: BTreeMap<(TableId, u32), Arc<Stream>>,
    past_labels: Labels,
    next_id: u32,
    arn_prefix: String,
}

impl Catalog {
    /// Creates an empty catalog; table ARNs start with `arn_prefix`.
    pub fn new(arn_prefix: String) -> Self {
        Self { arn_prefix, ..Self::default() }
    }

    /// Returns the table with that name or ARN.
    ///
    /// # Errors
    /// `ResourceNotFoundException` if it does not exist.
    pub fn table(&self, name: &str) -> Result<&Arc<Table>, Error> {
        self.find(name).ok_or_else(error::table::resource_not_found)
    }

    /// Returns the table with that name or ARN, if it exists.
    pub fn find(&self, name: &str) -> Option<&Arc<Table>> {
        self.tables.get(name.strip_prefix(&self.arn_prefix).unwrap_or(name))
    }

    /// Returns all tables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.values()
    }

    /// Returns the tables after that name, sorted by name.
    pub fn iter_after(&self, name: Option<&str>) -> impl Iterator<Item = &Arc<Table>> {
        let lower = name.map_or(Bound::Unbounded, Bound::Excluded);
        self.tables.range::<str, _>((lower, Bound::Unbounded)).map(|(_, table)| table)
    }

    /// Adds a table and its stream, replacing the table with the same name and its older streams.
    pub fn insert(&mut self, table: Table) -> Arc<Table> {
        self.reserve_ids(table.id.0 + 1);
        self.let_go_of_streams(table.id, table.stream.as_ref().map(|stream| stream.number));
        if let Some(stream) = &table.stream {
            self.streams.insert((stream.table_id, stream.number), Arc::clone(stream));
        }
        let table = Arc::new(table);
        self.tables.insert(table.name.clone(), Arc::clone(&table));
        table
    }

    /// Removes a table; its streams stay in the store.
    pub fn remove(&mut self, name: &str) {
        if let Some(table) = self.tables.remove(name) {
            self.let_go_of_streams(table.id, None);
        }
    }

    /// Removes the streams of a table from memory, except the one with the number `kept`.
    fn let_go_of_streams(&mut self, table: TableId, kept: Option<u32>) {
        let own = self.streams.range((table, 0)..=(table, u32::MAX));
        let past: Vec<Arc<Stream>> =
            own.map(|(_, stream)| stream).filter(|stream| Some(stream.number) != kept).cloned().collect();
        for stream in past {
            self.streams.remove(&(table, stream.number));
            self.note_past_stream(&stream);
        }
    }

    /// Records the label of a stream that is only in the store.
    pub fn note_past_stream(&mut self, stream: &Stream) {
        self.past_labels.note(&stream.table, stream.created_ms);
    }

    /// Returns the newest stream of each table that has one.
    pub fn streams(&self) -> impl Iterator<Item = &Arc<Stream>> {
        self.streams.values()
    }

    /// Returns the stream with that number if it is the newest of its table.
    pub fn stream(&self, table: TableId, number: u32) -> Option<&Arc<Stream>> {
        self.streams.get(&(table, number))
    }

    /// Returns a time not before the creation of any stream of tables with that name, or zero.
    pub fn newest_stream_ms(&self, table: &str) -> u64 {
        let current = self.tables.get(table).and_then(|table| table.stream.as_ref());
        current.map_or(0, |stream| stream.created_ms).max(self.past_labels.newest_ms(table))
    }

    /// Replaces a stream by its new version. If it is not the newest of its table, only its label is recorded.
    pub fn insert_stream(&mut self, stream: Stream) {
        if !self.is_newest(&stream) {
            self.streams.remove(&(stream.table_id, stream.number));
            return self.note_past_stream(&stream);
        }
        let stream = Arc::new(stream);
        self.streams.insert((stream.table_id, stream.number), Arc::clone(&stream));
        self.set_table_stream(&stream, Some(Arc::clone(&stream)));
    }

    fn is_newest(&self, stream: &Stream) -> bool {
        let table = self.tables.get(&stream.table).filter(|table| table.id == stream.table_id);
        let newest = table.and_then(|table| table.stream.as_ref());
        newest.is_some_and(|newest| newest.number == stream.number)
    }

    /// Removes a stream from memory and from its table.
    pub fn remove_stream(&mut self, stream: &Stream) {
        self.streams.remove(&(stream.table_id, stream.number));
        self.set_table_stream(stream, None);
    }

    fn set_table_stream(&mut self, stream: &Stream, newer: Option<Arc<Stream>>) {
        if self.is_newest(stream)
            && let Some(table) = self.tables.get_mut(&stream.table)
        {
            *table = Arc::new(Table { stream: newer, ..Table::clone(table) });
        }
    }

    /// Returns an unused table number and advances the counter.
    pub fn take_id(&mut self) -> TableId {
        let id = TableId(self.next_id);
        self.next_id += 1;
        id
    }

    /// Returns the number that the next table gets.
    pub fn next_id(&self) -> u32 {
        self.next_id
    }

    /// Ensures that numbers below `below` are not assigned.
    pub fn reserve_ids(&mut self, below: u32) {
        self.next_id = self.next_id.max(below);
    }
}
