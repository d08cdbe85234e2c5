//! Expiry (TTL): an index of items by the time at which they end.

use keyform_core::Item;

use crate::catalog::Table;
use crate::change::{Change, expiry_secs};
use crate::layout::{self, IndexId};
use crate::store::Batch;

/// Moves the item's entry among the times of expiry.
pub fn stage(batch: &mut Batch, change: &Change<'_>) {
    let Some(attribute) = &change.table.expiry else { return };
    let secs = |item: Option<&Item>| item.and_then(|item| expiry_secs(item, attribute));
    let (old, new) = (secs(change.old), secs(change.new));
    if old == new {
        return;
    }
    if let Some(secs) = old {
        batch.delete(entry_key(change.table, secs, change.key.values()));
    }
    if let Some(secs) = new {
        batch.put(entry_key(change.table, secs, change.key.values()), change.key.store_key.clone());
    }
}

fn entry_key(table: &Table, secs: u64, key_values: &[u8]) -> Vec<u8> {
    let mut key = layout::index_prefix(table.id, IndexId::EXPIRY);
    key.extend_from_slice(&secs.to_be_bytes());
    key.extend_from_slice(key_values);
    key
}
