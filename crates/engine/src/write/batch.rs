//! `BatchWriteItem`: up to 25 puts and deletes, validated together and written in one commit.

use std::collections::{BTreeMap, HashSet};

use keyform_core::error::item as texts;
use keyform_core::operation::{BatchWriteItem, BatchWriteItemOutput, WriteRequest};
use keyform_core::{Error, Item};

use super::action::Action;
use crate::catalog::Catalog;
use crate::change::{Change, WriteCost};
use crate::engine::{Engine, Started};
use crate::item_key;
use crate::store::Batch;

impl Engine {
    pub(crate) fn batch_write_item(&self, request: BatchWriteItem) -> Result<Started<BatchWriteItemOutput>, Error> {
        let catalog = self.catalog.read();
        let actions = actions(&catalog, &request)?;
        self.admit()?;
        let _guard = self.locks.lock_all(actions.iter().map(|(_, action)| action.key.store_key.as_slice()));
        let mut batch = Batch::new();
        let mut output = BatchWriteItemOutput::default();
        let mut costs: BTreeMap<&str, WriteCost> = BTreeMap::new();
        let (free, busy): (Vec<_>, Vec<_>) =
            actions.iter().partition(|(_, action)| !self.in_flight.contains(&action.key.store_key));
        for (write, action) in busy {
            output.unprocessed.entry(action.table.name.clone()).or_default().push((*write).clone());
        }
        // Read everything before staging anything: staging updates the statistics and cannot be undone.
        let olds = free.iter().map(|(_, action)| self.newest(&action.key.store_key)).collect::<Result<Vec<_>, _>>()?;
        for ((_, action), old) in free.iter().zip(&olds) {
            let table = action.table.name.as_str();
            costs.entry(table).or_default().add(&self.stage_batched(&mut batch, action, old.as_ref())?);
            if let Some(metrics) = action.collection_metrics(request.return_metrics) {
                output.metrics.entry(table.to_owned()).or_default().push(metrics);
            }
        }
        let reports = costs.iter().filter_map(|(table, cost)| cost.report(table, request.return_capacity, 1.0));
        output.capacity = reports.collect();
        let commit = self.commit_changes(batch, free.iter().map(|(_, action)| action.table));
        Ok(Started::after(commit, output))
    }

    fn stage_batched(&self, batch: &mut Batch, action: &Action<'_>, old: Option<&Item>) -> Result<WriteCost, Error> {
        let new = action.decide(old)?;
        let change = Change {
            table: action.table,
            key: &action.key,
            old,
            new: new.as_ref(),
            identity: None,
            at_ms: self.now_ms(),
        };
        Ok(change.stage(batch))
    }
}

fn actions<'a>(
    catalog: &'a Catalog,
    request: &'a BatchWriteItem,
) -> Result<Vec<(&'a WriteRequest, Action<'a>)>, Error> {
    let mut actions = Vec::new();
    let mut seen = HashSet::new();
    for (name, writes) in &request.tables {
        let table = catalog.table(name)?;
        for write in writes {
            let action = match write {
                WriteRequest::Put(item) => {
                    // Unlike PutItem, DynamoDB's batch error does not name the key attribute that is missing or of the
                    // wrong type.
                    item_key::require_key(table, item)?;
                    Action::put(table, item)?
                }
                WriteRequest::Delete(key) => Action::delete(table, key)?,
            };
            if !seen.insert(action.key.store_key.clone()) {
                return Err(texts::duplicate_keys());
            }
            actions.push((write, action));
        }
    }
    Ok(actions)
}
