//! `DeleteTable`. Items are gone at once; the stream stays until its records are trimmed.

use keyform_core::Error;
use keyform_core::error::table as texts;
use keyform_core::operation::DeleteTable;
use keyform_core::table::{Status, TableDescription};

use crate::catalog::{Table, load};
use crate::engine::{Engine, Started};
use crate::key_space::{self, IndexId};
use crate::store::Batch;
use crate::stream;

impl Engine {
    pub(crate) fn delete_table(&self, request: &DeleteTable) -> Result<Started<Box<TableDescription>>, Error> {
        let mut catalog = self.catalog.write();
        let table = catalog.find(&request.table).cloned().ok_or_else(|| texts::table_not_found(&request.table))?;
        if table.settings.deletion_protected {
            return Err(texts::deletion_protected());
        }
        let mut batch = Batch::new();
        load::stage_table_removal(&mut batch, &table);
        for prefix in prefixes(&table) {
            load::stage_garbage(&mut batch, &prefix);
        }
        let ended = table.stream.as_deref().filter(|stream| stream.is_enabled());
        let ended = ended.map(|stream| stream::ended(stream, self.stream_end()));
        if let Some(stream) = &ended {
            load::stage_stream(&mut batch, stream);
        }
        let commit = self.accepted(batch)?;
        catalog.remove(&table.name);
        if let Some(stream) = ended {
            catalog.insert_stream(stream);
        }
        drop(catalog);
        self.work.wake();
        Ok(Started::after(commit, self.description(&table, Status::Deleting)))
    }
}

/// Returns the key prefixes of a table's items, index entries and expiry entries.
fn prefixes(table: &Table) -> impl Iterator<Item = Vec<u8>> {
    let indexes = table.indexes.iter().map(|index| index.id);
    let all = [IndexId::BASE, IndexId::EXPIRY].into_iter().chain(indexes);
    all.map(|index| key_space::index_prefix(table.id, index))
}
