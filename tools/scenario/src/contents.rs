//! The contents of a table.

use keyform::operation::Scan;
use keyform::{Attributes, Execute, ExecuteExt, Item};

/// Returns all items of a table, in no particular order.
///
/// # Panics
/// Panics if the table does not exist.
pub async fn contents(store: &dyn Execute, table: &str) -> Vec<Attributes> {
    scanned(store, Scan { consistent: true, ..Scan::of(table) }).await
}

/// Reads all pages of a Scan.
pub(crate) async fn scanned(store: &dyn Execute, mut scan: Scan) -> Vec<Attributes> {
    let mut items = Vec::new();
    loop {
        let page = store.call(scan.clone()).await.unwrap();
        items.extend(page.items.iter().flatten().map(Item::to_attributes));
        scan.start = page.last_key.map(|last| last.to_attributes());
        if scan.start.is_none() {
            return items;
        }
    }
}
