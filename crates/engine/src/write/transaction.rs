//! `TransactWriteItems`: up to 100 actions in one atomic batch.

use std::collections::{BTreeMap, HashSet};

use keyform_core::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use keyform_core::error::{CancellationReason, transaction as texts};
use keyform_core::limits::TRANSACTION_BYTES_MAX;
use keyform_core::operation::{TransactAction, TransactWriteItems, TransactWriteItemsOutput};
use keyform_core::{Error, Item};

use super::action::{Action, Effect};
use super::token::Token;
use crate::catalog::Catalog;
use crate::change::{Change, WriteCost};
use crate::engine::{Engine, Started, Waiting};
use crate::item_key;
use crate::store::Batch;

/// Factor of the consumed capacity of a transaction.
const TRANSACTION_FACTOR: f64 = 2.0;

/// Old and new item of an action.
struct Decided {
    old: Option<Item>,
    new: Option<Item>,
}

impl Engine {
    pub(crate) fn transact_write_items(
        &self,
        request: TransactWriteItems,
    ) -> Result<Started<TransactWriteItemsOutput>, Error> {
        let catalog = self.catalog.read();
        let actions = actions(&catalog, &request.actions)?;
        self.admit()?;
        let token = request.token.as_deref().map(|token| Token::new(token, &request.actions));
        let mut keys: Vec<Vec<u8>> = actions.iter().map(|action| action.key.store_key.clone()).collect();
        keys.extend(token.iter().map(|token| token.key().to_vec()));
        let _guard = self.locks.lock_all(keys.iter().map(Vec::as_slice));
        if let Some(token) = &token
            && token.was_applied(self)?
        {
            return Ok(self.after_all_before(Ok(self.replayed(&request, &actions)?)));
        }
        let decided = match self.decide_all(&actions)? {
            Ok(decided) => decided,
            Err(reasons) => return Ok(self.after_all_before(Err(texts::cancelled(reasons)))),
        };
        let mut batch = Batch::new();
        let output = self.stage_all(&mut batch, &request, &actions, &decided);
        if let Some(token) = &token {
            token.stage(&mut batch, self.now_ms());
        }
        let marks = self.in_flight.mark(keys);
        let commit = self.commit_changes(batch, actions.iter().map(|action| action.table));
        Ok(Started::Waiting(Waiting { commit, answer: Ok(output), marks: Some(marks) }))
    }

    /// Evaluates all actions; returns their results, or the cancellation reasons if one of them fails.
    fn decide_all(&self, actions: &[Action<'_>]) -> Result<Result<Vec<Decided>, Vec<CancellationReason>>, Error> {
        let mut decided = Vec::with_capacity(actions.len());
        let mut reasons = vec![CancellationReason::default(); actions.len()];
        let mut bytes = 0;
        for (action, reason) in actions.iter().zip(&mut reasons) {
            match self.decide_one(action)? {
                Ok(one) => {
                    bytes += action.bytes(one.new.as_ref());
                    decided.push(one);
                }
                Err(error) => *reason = texts::reason(&error),
            }
        }
        if decided.len() < actions.len() {
            return Ok(Err(reasons));
        }
        if bytes > TRANSACTION_BYTES_MAX { Err(texts::too_large()) } else { Ok(Ok(decided)) }
    }

    fn decide_one(&self, action: &Action<'_>) -> Result<Result<Decided, Error>, Error> {
        if self.in_flight.contains(&action.key.store_key) {
            return Ok(Err(texts::conflict()));
        }
        let old = self.newest(&action.key.store_key)?;
        Ok(action.decide(old.as_ref()).map(|new| Decided { old, new }))
    }

    fn stage_all(
        &self,
        batch: &mut Batch,
        request: &TransactWriteItems,
        actions: &[Action<'_>],
        decided: &[Decided],
    ) -> TransactWriteItemsOutput {
        let at_ms = self.now_ms();
        let mut output = TransactWriteItemsOutput::default();
        let mut costs: BTreeMap<&str, WriteCost> = BTreeMap::new();
        for (action, Decided { old, new }) in actions.iter().zip(decided) {
            let (old, new) = (old.as_ref(), new.as_ref());
            let cost = match action.effect {
                Effect::Check => WriteCost::of_unchanged(old),
                Effect::Put(_) | Effect::Update(_) | Effect::Delete => {
                    Change { table: action.table, key: &action.key, old, new, identity: None, at_ms }.stage(batch)
                }
            };
            costs.entry(&action.table.name).or_default().add(&cost);
            if let Some(metrics) = action.collection_metrics(request.return_metrics) {
                output.metrics.entry(action.table.name.clone()).or_default().push(metrics);
            }
        }
        output.capacity = costs.iter().filter_map(|(table, cost)| write_report(table, cost, request)).collect();
        output
    }

    /// Returns the response to a transaction that was already applied. DynamoDB charges it as a read.
    fn replayed(
        &self,
        request: &TransactWriteItems,
        actions: &[Action<'_>],
    ) -> Result<TransactWriteItemsOutput, Error> {
        let mut sizes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for action in actions {
            let size = self.newest(&action.key.store_key)?.as_ref().map_or(0, Item::size);
            sizes.entry(&action.table.name).or_default().push(size);
        }
        let reports = sizes.iter().filter_map(|(table, sizes)| {
            crate::read::transactional_report(table, sizes.iter().copied(), request.return_capacity)
        });
        Ok(TransactWriteItemsOutput { capacity: reports.collect(), ..Default::default() })
    }
}

fn write_report(table: &str, cost: &WriteCost, request: &TransactWriteItems) -> Option<ConsumedCapacity> {
    let wanted: ReturnConsumedCapacity = request.return_capacity;
    cost.report(table, wanted, TRANSACTION_FACTOR)
        .map(|report| ConsumedCapacity { write: Some(report.total), ..report })
}

/// Validates the actions; returns a cancellation with reasons if one is not valid. Empty keys and oversized items are
/// not cancellation reasons: like DynamoDB, they reject the whole request.
fn actions<'a>(catalog: &'a Catalog, requests: &'a [TransactAction]) -> Result<Vec<Action<'a>>, Error> {
    for request in requests {
        let table = catalog.table(request.table())?;
        match request {
            TransactAction::Put { item, .. } => Action::refuse_outright(table, item)?,
            TransactAction::Update { key, .. }
            | TransactAction::Delete { key, .. }
            | TransactAction::Check { key, .. } => item_key::refuse_empty_key(table, key)?,
        }
    }
    let mut actions = Vec::with_capacity(requests.len());
    let mut reasons = vec![CancellationReason::default(); requests.len()];
    for (request, reason) in requests.iter().zip(&mut reasons) {
        match action(catalog, request) {
            Ok(action) => actions.push(action),
            Err(error) => *reason = texts::reason(&error),
        }
    }
    if actions.len() < requests.len() {
        return Err(texts::cancelled(reasons));
    }
    let mut seen = HashSet::new();
    if actions.iter().all(|action| seen.insert(action.key.store_key.as_slice())) {
        Ok(actions)
    } else {
        Err(texts::duplicate_items())
    }
}

fn action<'a>(catalog: &'a Catalog, request: &'a TransactAction) -> Result<Action<'a>, Error> {
    let table = catalog.table(request.table())?;
    let (action, condition, return_item_on_failure) = match request {
        TransactAction::Put { item, condition, return_item_on_failure, .. } => {
            (Action::put(table, item)?, condition.as_ref(), *return_item_on_failure)
        }
        TransactAction::Update { key, update, condition, return_item_on_failure, .. } => {
            (Action::update(table, key, Some(update))?, condition.as_ref(), *return_item_on_failure)
        }
        TransactAction::Delete { key, condition, return_item_on_failure, .. } => {
            (Action::delete(table, key)?, condition.as_ref(), *return_item_on_failure)
        }
        TransactAction::Check { key, condition, return_item_on_failure, .. } => {
            (Action::check(table, key)?, Some(condition), *return_item_on_failure)
        }
    };
    action.conditioned(condition, return_item_on_failure)
}
