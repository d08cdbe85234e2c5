//! Table copies for a rehearsal: in memory, or under a prefix in the same store.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::copy::{Checkpoint, Copier, CopySettings, describe, like, page};
use keyform_core::operation::{BatchWriteItem, DeleteTable, WriteRequest};
use keyform_core::{Attributes, Execute, ExecuteExt};
use keyform_engine::Database;

use super::beside::Beside;
use super::{Rehearse, RehearseError};

/// Maximum items of one BatchWriteItem request.
const BATCH_ITEMS_MAX: usize = 25;

/// Number of items per table.
pub(super) type Copied = BTreeMap<String, u64>;

/// Copies tables into memory, up to a total size. Missing tables are missing in the copy too.
pub(super) async fn in_memory(
    store: &dyn Execute,
    tables: &[String],
    bytes_max: u64,
) -> Result<(Arc<dyn Execute>, Copied), RehearseError> {
    let copy = Database::in_memory();
    let mut copied = Copied::new();
    let mut bytes = 0;
    for table in tables {
        copied.insert(table.clone(), copy_table(store, &copy, table, &mut bytes, bytes_max).await?);
    }
    Ok((Arc::new(copy), copied))
}

async fn copy_table(
    store: &dyn Execute,
    copy: &Database,
    table: &str,
    bytes: &mut u64,
    bytes_max: u64,
) -> Result<u64, RehearseError> {
    let Some(description) = describe(store, table).await? else { return Ok(0) };
    // Fails early by the reported size, which may be hours old; the actual size is counted as well.
    if *bytes + description.size_bytes > bytes_max {
        return Err(RehearseError::TooLarge { bytes: *bytes + description.size_bytes, bytes_max });
    }
    copy.call(like(&description, table)).await?;
    let mut count = 0;
    let mut start: Option<Attributes> = None;
    loop {
        let page = page(store, table, None, None, start.take()).await?;
        let items = page.items.unwrap_or_default();
        count += items.len() as u64;
        *bytes += items.iter().map(|item| item.as_bytes().len() as u64).sum::<u64>();
        if *bytes > bytes_max {
            return Err(RehearseError::TooLarge { bytes: *bytes, bytes_max });
        }
        for some in items.chunks(BATCH_ITEMS_MAX) {
            let puts = some.iter().map(|item| WriteRequest::Put(item.to_attributes())).collect();
            let batch = BatchWriteItem { tables: vec![(table.to_owned(), puts)], ..BatchWriteItem::default() };
            copy.call(batch).await?;
        }
        match page.last_key {
            Some(key) => start = Some(key.to_attributes()),
            None => return Ok(count),
        }
    }
}

/// Fails if a copy's name is taken, because that table may belong to another application.
pub(super) async fn refuse_taken(beside: &Beside, tables: &[String]) -> Result<(), RehearseError> {
    for table in tables {
        if describe(beside, table).await?.is_some() {
            return Err(RehearseError::Taken(beside.name(table)));
        }
    }
    Ok(())
}

/// Copies tables within the store, limited by a budget of write units.
pub(super) async fn beside(
    beside: &Arc<Beside>,
    tables: &[String],
    write_units: Option<u64>,
    rehearse: &Rehearse,
) -> Result<Copied, RehearseError> {
    let copier = Copier {
        from: beside.store.clone(),
        to: beside.clone(),
        world: rehearse.world.clone(),
        // No verification, because the source may be written meanwhile, and a rehearsal needs representative items
        // rather than an exact copy.
        settings: CopySettings { write_units, verify: false, ..CopySettings::default() },
        checkpoint: Arc::new(Checkpoint::in_memory()),
        progress: rehearse.copying.clone(),
    };
    let mut copied = Copied::new();
    for table in tables {
        let items = match describe(&*beside.store, table).await? {
            Some(_) => copier.table(table, table).await?.items,
            None => 0,
        };
        copied.insert(table.clone(), items);
    }
    Ok(copied)
}

/// Deletes the copies.
pub(super) async fn remove(beside: &Beside, tables: &[String]) -> Result<(), RehearseError> {
    for table in tables {
        if describe(beside, table).await?.is_some() {
            beside.call(DeleteTable { table: table.clone() }).await?;
        }
    }
    Ok(())
}
