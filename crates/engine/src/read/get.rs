//! GetItem, BatchGetItem and TransactGetItems.

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;
use keyform_core::capacity::{CapacityDetail, ConsumedCapacity, ReadKind, ReturnConsumedCapacity, read_units};
use keyform_core::error::{item as texts, transaction};
use keyform_core::expression::Projection;
use keyform_core::limits::{BATCH_GET_BYTES_MAX, TRANSACTION_BYTES_MAX};
use keyform_core::operation::{
    BatchGetItem, BatchGetItemOutput, BatchGetRequest, GetItem, GetItemOutput, TransactGetItems, TransactGetItemsOutput,
};
use keyform_core::{Error, Item};

use crate::catalog::Table;
use crate::engine::{Engine, store_failed};
use crate::item_key::{self, ItemKey};
use crate::store::Snapshot;

impl Engine {
    pub(crate) fn get_item(&self, request: &GetItem) -> Result<GetItemOutput, Error> {
        let key = self.key_of_get(request)?;
        let item = item_at(&self.snapshot(), &key)?;
        let units = read_units(item.as_ref().map_or(0, Item::size), kind(request.consistent));
        Ok(GetItemOutput {
            item: item.map(|item| projected(item, request.projection.as_ref())),
            capacity: report(&request.table, units, request.return_capacity),
        })
    }

    fn key_of_get(&self, request: &GetItem) -> Result<ItemKey, Error> {
        let catalog = self.catalog.read();
        let table = catalog.table(&request.table)?;
        let key = item_key::of_request(table, &request.key)?;
        check_projection(table, request.projection.as_ref())?;
        Ok(key)
    }

    pub(crate) fn batch_get_item(&self, request: &BatchGetItem) -> Result<BatchGetItemOutput, Error> {
        let keys = self.batch_keys(request)?;
        let snapshot = self.snapshot();
        let mut output = BatchGetItemOutput::default();
        let mut bytes_left = BATCH_GET_BYTES_MAX;
        for ((table, reads), keys) in request.tables.iter().zip(&keys) {
            let units = read_batched(&snapshot, table, reads, keys, &mut bytes_left, &mut output)?;
            output.capacity.extend(report(table, units, request.return_capacity));
        }
        Ok(output)
    }

    fn batch_keys(&self, request: &BatchGetItem) -> Result<Vec<Vec<ItemKey>>, Error> {
        let catalog = self.catalog.read();
        let mut all = Vec::with_capacity(request.tables.len());
        for (name, reads) in &request.tables {
            let table = catalog.table(name)?;
            let keys = reads.keys.iter().map(|key| item_key::of_request(table, key)).collect::<Result<Vec<_>, _>>()?;
            check_projection(table, reads.projection.as_ref())?;
            let mut seen = HashSet::new();
            if !keys.iter().all(|key| seen.insert(key)) {
                return Err(texts::duplicate_keys());
            }
            all.push(keys);
        }
        Ok(all)
    }

    pub(crate) fn transact_get_items(&self, request: &TransactGetItems) -> Result<TransactGetItemsOutput, Error> {
        let keys = self.transaction_keys(request)?;
        let snapshot = self.snapshot();
        let mut output = TransactGetItemsOutput::default();
        let mut sizes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (get, key) in request.gets.iter().zip(&keys) {
            let item = item_at(&snapshot, key)?;
            sizes.entry(&get.table).or_default().push(item.as_ref().map_or(0, Item::size));
            output.responses.push(item.map(|item| projected(item, get.projection.as_ref())));
        }
        if sizes.values().flatten().sum::<usize>() > TRANSACTION_BYTES_MAX {
            return Err(transaction::too_large());
        }
        let reports =
            sizes.into_iter().filter_map(|(table, sizes)| transactional_report(table, sizes, request.return_capacity));
        output.capacity = reports.collect();
        Ok(output)
    }

    fn transaction_keys(&self, request: &TransactGetItems) -> Result<Vec<ItemKey>, Error> {
        let catalog = self.catalog.read();
        let tables = request.gets.iter().map(|get| catalog.table(&get.table)).collect::<Result<Vec<_>, _>>()?;
        let mut keys = Vec::with_capacity(tables.len());
        let mut reasons = vec![Default::default(); tables.len()];
        for ((get, table), reason) in request.gets.iter().zip(tables).zip(&mut reasons) {
            match item_key::of_request(table, &get.key) {
                Ok(key) => keys.push(key),
                Err(error) => *reason = transaction::reason(&error),
            }
        }
        if keys.len() < reasons.len() {
            return Err(transaction::cancelled(reasons));
        }
        let mut seen = HashSet::new();
        if keys.iter().all(|key| seen.insert(key)) { Ok(keys) } else { Err(transaction::duplicate_items()) }
    }

    /// Returns the newest item, durable or not. The caller holds the key's lock.
    pub(crate) fn newest(&self, store_key: &[u8]) -> Result<Option<Item>, Error> {
        self.newest_bytes(store_key)?.map(decoded).transpose()
    }

    /// Returns the newest bytes of a key, durable or not. The caller holds the key's lock.
    pub(crate) fn newest_bytes(&self, store_key: &[u8]) -> Result<Option<Bytes>, Error> {
        self.store.latest().get(store_key).map_err(|error| store_failed(&error))
    }
}

/// Checks that the projection does not reach into a key attribute.
pub fn check_projection(table: &Table, projection: Option<&Projection>) -> Result<(), Error> {
    projection.map_or(Ok(()), |projection| item_key::check_scalar_keys(table, &projection.paths))
}

fn read_batched(
    snapshot: &Snapshot,
    table: &str,
    reads: &BatchGetRequest,
    keys: &[ItemKey],
    bytes_left: &mut usize,
    output: &mut BatchGetItemOutput,
) -> Result<f64, Error> {
    let items = output.responses.entry(table.to_owned()).or_default();
    let mut units = 0.0;
    for (place, key) in keys.iter().enumerate() {
        let item = item_at(snapshot, key)?;
        let size = item.as_ref().map_or(0, Item::size);
        if size > *bytes_left {
            *bytes_left = 0;
            output.unprocessed.entry(table.to_owned()).or_default().push(place);
            continue;
        }
        *bytes_left -= size;
        units += read_units(size, kind(reads.consistent));
        items.extend(item.map(|item| projected(item, reads.projection.as_ref())));
    }
    Ok(units)
}

/// Returns the item with a key from a snapshot.
pub(super) fn item_at(snapshot: &Snapshot, key: &ItemKey) -> Result<Option<Item>, Error> {
    let bytes = snapshot.get(&key.store_key).map_err(|error| store_failed(&error))?;
    bytes.map(decoded).transpose()
}

/// Decodes a stored item.
pub(crate) fn decoded(bytes: Bytes) -> Result<Item, Error> {
    Item::decode(bytes).map_err(|_| texts::stored_item_is_corrupt())
}

fn projected(item: Item, projection: Option<&Projection>) -> Item {
    match projection {
        Some(projection) => projection.apply(&item),
        None => item,
    }
}

/// Returns the pricing of a read.
pub(super) fn kind(consistent: bool) -> ReadKind {
    if consistent { ReadKind::Strong } else { ReadKind::Eventual }
}

fn report(table: &str, units: f64, wanted: ReturnConsumedCapacity) -> Option<ConsumedCapacity> {
    let detail = match wanted {
        ReturnConsumedCapacity::None => return None,
        ReturnConsumedCapacity::Total => None,
        ReturnConsumedCapacity::Indexes => Some(CapacityDetail { table: units, ..Default::default() }),
    };
    Some(ConsumedCapacity { table: table.to_owned(), total: units, read: None, write: None, detail })
}

/// Returns the capacity that transactional reads of items of these sizes consume.
pub(crate) fn transactional_report(
    table: &str,
    sizes: impl IntoIterator<Item = usize>,
    wanted: ReturnConsumedCapacity,
) -> Option<ConsumedCapacity> {
    let units = sizes.into_iter().map(|size| read_units(size, ReadKind::Transactional)).sum();
    report(table, units, wanted).map(|report| ConsumedCapacity { read: Some(units), ..report })
}
