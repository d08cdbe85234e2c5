//! `ListTables`.

use keyform_core::operation::{ListTables, ListTablesOutput};

use crate::engine::{Engine, Started};

/// Default number of names per page.
const PAGE_MAX: usize = 100;

impl Engine {
    pub(crate) fn list_tables(&self, request: &ListTables) -> Started<ListTablesOutput> {
        let limit = request.limit.unwrap_or(PAGE_MAX);
        let catalog = self.catalog.read();
        let mut after = catalog.iter_after(request.start.as_deref());
        let tables: Vec<String> = after.by_ref().take(limit).map(|table| table.name.clone()).collect();
        let last = after.next().and_then(|_| tables.last().cloned());
        self.told(ListTablesOutput { tables, last })
    }
}
