//! `PutItem`, `UpdateItem` and `DeleteItem`.

use keyform_core::capacity::ReturnConsumedCapacity;
use keyform_core::error::transaction as conflicts;
use keyform_core::expression::{Update, update};
use keyform_core::operation::{
    DeleteItem, PutItem, ReturnItemCollectionMetrics, ReturnValues, UpdateItem, WriteItemOutput,
};
use keyform_core::{Error, ErrorCode, Item, Output};

use super::action::Action;
use crate::change::{Change, WriteCost};
use crate::engine::{Engine, Step};
use crate::store::Batch;

/// Requested parts of the response.
struct Wanted<'a> {
    values: ReturnValues,
    update: Option<&'a Update>,
    capacity: ReturnConsumedCapacity,
    metrics: ReturnItemCollectionMetrics,
}

impl Engine {
    pub(crate) fn put_item(&self, request: PutItem) -> Result<Step, Error> {
        let catalog = self.catalog.read();
        let table = catalog.table(&request.table)?;
        let action = Action::put(table, &request.item)?
            .conditioned(request.condition.as_ref(), request.return_item_on_failure)?;
        let wanted = Wanted {
            values: request.return_values,
            update: None,
            capacity: request.return_capacity,
            metrics: request.return_metrics,
        };
        self.write_one(&action, &wanted)
    }

    pub(crate) fn update_item(&self, request: UpdateItem) -> Result<Step, Error> {
        let catalog = self.catalog.read();
        let table = catalog.table(&request.table)?;
        let action = Action::update(table, &request.key, request.update.as_ref())?
            .conditioned(request.condition.as_ref(), request.return_item_on_failure)?;
        let wanted = Wanted {
            values: request.return_values,
            update: request.update.as_ref(),
            capacity: request.return_capacity,
            metrics: request.return_metrics,
        };
        self.write_one(&action, &wanted)
    }

    pub(crate) fn delete_item(&self, request: DeleteItem) -> Result<Step, Error> {
        let catalog = self.catalog.read();
        let table = catalog.table(&request.table)?;
        let action = Action::delete(table, &request.key)?
            .conditioned(request.condition.as_ref(), request.return_item_on_failure)?;
        let wanted = Wanted {
            values: request.return_values,
            update: None,
            capacity: request.return_capacity,
            metrics: request.return_metrics,
        };
        self.write_one(&action, &wanted)
    }

    fn write_one(&self, action: &Action<'_>, wanted: &Wanted<'_>) -> Result<Step, Error> {
        self.admit()?;
        let _guard = self.locks.lock(&action.key.store_key);
        if self.in_flight.contains(&action.key.store_key) {
            return Err(conflicts::conflict());
        }
        let old = self.newest(&action.key.store_key)?;
        let new = match action.decide(old.as_ref()) {
            // ADR 0003: the item that failed the condition may not be durable yet, so the error waits until it is.
            Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => {
                return Ok(self.after_all_before(Err(error)));
            }
            decided => decided?,
        };
        let change = Change {
            table: action.table,
            key: &action.key,
            old: old.as_ref(),
            new: new.as_ref(),
            identity: None,
            at_ms: self.now_ms(),
        };
        let mut batch = Batch::new();
        let cost = change.stage(&mut batch);
        let commit = self.commit_changes(batch, [action.table]);
        Ok(Step::after(commit, Output::WriteItem(output(action, wanted, &cost, old, new))))
    }
}

fn output(
    action: &Action<'_>,
    wanted: &Wanted<'_>,
    cost: &WriteCost,
    old: Option<Item>,
    new: Option<Item>,
) -> WriteItemOutput {
    WriteItemOutput {
        attributes: returned(wanted, old, new.as_ref()),
        capacity: cost.report(&action.table.name, wanted.capacity, 1.0),
        metrics: action.collection_metrics(wanted.metrics),
    }
}

fn returned(wanted: &Wanted<'_>, old: Option<Item>, new: Option<&Item>) -> Option<Item> {
    let touched = |item: &Item| wanted.update.map(|change| update::updated_attributes(change, item));
    let attributes = match wanted.values {
        ReturnValues::None => None,
        ReturnValues::AllOld => old,
        ReturnValues::UpdatedOld => old.as_ref().and_then(touched),
        ReturnValues::AllNew => new.cloned(),
        ReturnValues::UpdatedNew => new.and_then(touched),
    };
    attributes.filter(|item| !item.as_map().is_empty())
}
