//! `PutItem`, `UpdateItem` and `DeleteItem`.

use keyform_core::error::transaction as conflicts;
use keyform_core::expression::{Update, update};
use keyform_core::operation::{DeleteItem, PutItem, ReturnValues, UpdateItem, WriteItemOutput, WriteOptions};
use keyform_core::{Error, ErrorCode, Item};

use super::action::Action;
use crate::change::Change;
use crate::engine::{Engine, Started};
use crate::store::Batch;

impl Engine {
    pub(crate) fn put_item(&self, request: PutItem) -> Result<Started<WriteItemOutput>, Error> {
        let catalog = self.catalog.read();
        let action = Action::put(catalog.table(&request.table)?, &request.item)?;
        self.write_one(action, &request.options, None)
    }

    pub(crate) fn update_item(&self, request: UpdateItem) -> Result<Started<WriteItemOutput>, Error> {
        let catalog = self.catalog.read();
        let action = Action::update(catalog.table(&request.table)?, &request.key, request.update.as_ref())?;
        self.write_one(action, &request.options, request.update.as_ref())
    }

    pub(crate) fn delete_item(&self, request: DeleteItem) -> Result<Started<WriteItemOutput>, Error> {
        let catalog = self.catalog.read();
        let action = Action::delete(catalog.table(&request.table)?, &request.key)?;
        self.write_one(action, &request.options, None)
    }

    fn write_one<'a>(
        &self,
        action: Action<'a>,
        options: &'a WriteOptions,
        update: Option<&Update>,
    ) -> Result<Started<WriteItemOutput>, Error> {
        let action = action.conditioned(options.condition.as_ref(), options.return_item_on_failure)?;
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
        let output = WriteItemOutput {
            attributes: returned(options.return_values, update, old, new.as_ref()),
            capacity: cost.report(&action.table.name, options.return_capacity, 1.0),
            metrics: action.collection_metrics(options.return_metrics),
        };
        Ok(Started::after(commit, output))
    }
}

fn returned(values: ReturnValues, update: Option<&Update>, old: Option<Item>, new: Option<&Item>) -> Option<Item> {
    let touched = |item: &Item| update.map(|change| update::updated_attributes(change, item));
    let attributes = match values {
        ReturnValues::None => None,
        ReturnValues::AllOld => old,
        ReturnValues::UpdatedOld => old.as_ref().and_then(touched),
        ReturnValues::AllNew => new.cloned(),
        ReturnValues::UpdatedNew => new.and_then(touched),
    };
    attributes.filter(|item| !item.as_map().is_empty())
}
