//! Executes a write: its reads, then one atomic request, retried under one token after contention.

use std::sync::Arc;
use std::time::Duration;

use keyform_core::error::Detail;
use keyform_core::operation::{BatchWriteItem, DeleteItem, GetItem, PutItem, ReturnValues, TransactAction};
use keyform_core::{AttributeValue, Attributes, Error, ErrorCode, Item, Operation, Output};
use keyform_language::bind::{self, BoundAction, BoundWrite, Inputs, LEASE_MILLIS, Parent, Seal};
use keyform_language::bookkeeping::CASCADES;
use keyform_language::plan::WritePlan;
use keyform_language::schema::{LetSource, Permission, Write, WriteId};

use crate::seal::Sealing;

use super::found::{Answer, Found};
use super::known::Known;
use super::once::{self, Once};
use super::remembered::Remembered;
use super::{Call, Caller, RunError, Runner, outcome};

const TRIES_MAX: u32 = 8;
const PAUSE_FIRST: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// Limit of BatchWriteItem.
const BATCH_ITEMS_MAX: usize = 25;
/// Random bytes per call that its nonces are derived from.
const SALT_BYTES: usize = 16;

/// Source of the item that a write returns.
enum Promised {
    /// The request puts the item, so it is already known.
    Known(Found),
    /// Item under this key after the request.
    At(String, Attributes),
    /// Item under this key before the request, which deletes it.
    Before(String, Attributes),
}

/// Items that were read before the request, by table and key.
type Current = Vec<(String, Attributes, Option<Attributes>)>;

/// One attempt of a write, after the caller was permitted.
#[derive(Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) write: &'a Write,
    pub(super) plan: &'a WritePlan,
    pub(super) call: &'a Call,
    /// Idempotency key of the caller.
    once: Option<&'a Once>,
    /// Reads that the permission was decided by.
    pub(super) known: Option<&'a Arc<Known>>,
}

/// Result of a write that was not refused.
enum Written {
    /// Applied; holds the item that the write returns.
    Applied(Option<Found>),
    /// Nothing to do, or a failed condition whose outcome is `keep`.
    Kept,
}

impl Runner {
    /// Runs a write. With `once`, it is applied exactly once per idempotency key.
    pub(super) async fn run_write(
        &self,
        id: WriteId,
        write: &Write,
        call: &Call,
        once: Option<&Once>,
    ) -> Result<Option<Found>, RunError> {
        let Some(plan) = &self.checked.plans.writes[id.0] else {
            return Err(RunError::NotRunnable(format!("`{}` has no plan: see `keyform check`", write.name)));
        };
        if let Some(why) = self.obstacle(write, plan) {
            return Err(RunError::NotRunnable(why));
        }
        // ADR 0010: ids, time, token and salt are fixed for all attempts. A retry sends the identical request, so a
        // store that already applied it recognises the token.
        let fresh = Remembered::new(&self.surroundings);
        let now_millis = self.surroundings.now_millis();
        let token = write.idempotent.map(|_| call.token.clone().unwrap_or_else(|| self.surroundings.uuid()));
        let salt = self.settings.field_keys.as_ref().map(|_| self.surroundings.token(SALT_BYTES));
        let mut tries = 0;
        loop {
            fresh.rewind();
            let mut inputs = self.inputs(call);
            inputs.fresh = &fresh;
            inputs.now_millis = now_millis;
            inputs.token.clone_from(&token);
            inputs.sealing = self.sealing(&salt);
            match self.try_write(write, plan, call, &mut inputs, once).await {
                Err(RunError::Busy) if tries + 1 < TRIES_MAX => {
                    tries += 1;
                    self.pause(tries).await?;
                }
                Ok(Written::Applied(found)) => return Ok(found),
                Ok(Written::Kept) => return self.unless_repeated(write, once, Ok(None)).await,
                Err(error) => return self.unless_repeated(write, once, Err(error)).await,
            }
        }
    }

    /// Returns the encryption of a call. It uses the same salt in each attempt.
    fn sealing<'a>(&'a self, salt: &Option<String>) -> Option<Arc<dyn Seal + 'a>> {
        let (ring, salt) = self.settings.field_keys.as_ref().zip(salt.as_ref())?;
        Some(Arc::new(Sealing { ring, salt: salt.clone() }))
    }

    /// Returns `otherwise` for a write that was not applied, unless an earlier call under the same idempotency key
    /// was: then returns the answer of that call.
    async fn unless_repeated(
        &self,
        write: &Write,
        once: Option<&Once>,
        otherwise: Result<Option<Found>, RunError>,
    ) -> Result<Option<Found>, RunError> {
        match once {
            Some(once) => Box::pin(self.repeated(write, once)).await?.unwrap_or(otherwise),
            None => otherwise,
        }
    }

    /// Sleeps before the next attempt: exponential backoff with jitter. Fails with `Busy` after the last attempt.
    pub(super) async fn pause(&self, tries: u32) -> Result<(), RunError> {
        if tries >= TRIES_MAX {
            return Err(RunError::Busy);
        }
        let longest = PAUSE_FIRST.saturating_mul(1 << tries.min(10)).min(PAUSE_MAX);
        self.surroundings.sleep(longest.mul_f64(self.surroundings.jitter())).await;
        Ok(())
    }

    /// Runs one attempt: reads, binds, sends.
    async fn try_write(
        &self,
        write: &Write,
        plan: &WritePlan,
        call: &Call,
        inputs: &mut Inputs<'_>,
        once: Option<&Once>,
    ) -> Result<Written, RunError> {
        let known = self.knowing(write, call);
        match &known {
            Some(known) => Box::pin(self.on(known.clone()).enter(write, call, inputs)).await?,
            None => self.enter(write, call, inputs).await?,
        }
        let attempt = Attempt { write, plan, call, once, known: known.as_ref() };
        if self.evolving.is_some() {
            Box::pin(self.settle(write, plan, inputs)).await?;
        }
        for get in bind::read_first(&self.checked.model, write, inputs)? {
            let (table, key) = (get.table.clone(), get.key.clone());
            if let Output::GetItem(output) = self.send(Operation::GetItem(get)).await? {
                inputs.current.push((table, key, output.item.map(|item| item.to_attributes())));
            }
        }
        let mut bound = bind::write(&self.checked.model, write, plan, inputs)?;
        if let Some(refused) = &bound.refused {
            return outcome::refused(&refused.outcome, None).map(|_| Written::Kept);
        }
        let current = std::mem::take(&mut inputs.current);
        if bound.parents.is_empty() {
            return self.apply(attempt, &mut bound, current).await;
        }
        Box::pin(self.apply_with_dependents(attempt, &mut bound, current)).await
    }

    /// Runs the reads of the write's `let`s and checks permission.
    async fn enter(&self, write: &Write, call: &Call, inputs: &mut Inputs<'_>) -> Result<(), RunError> {
        if !write.lets.is_empty() {
            Box::pin(self.read_lets(write, call, inputs)).await?;
        }
        self.permit(write.allow.as_ref(), &write.parameters, call, &inputs.lets).await
    }

    /// Returns a store that records what [`Runner::enter`] reads, if it reads anything for an external caller. A
    /// refusal includes the item only if these reads permit it.
    fn knowing(&self, write: &Write, call: &Call) -> Option<Arc<Known>> {
        let asks = matches!(write.allow, Some(Permission::When(_))) || !write.lets.is_empty();
        let is_outside = matches!(call.caller, Caller::Claims(_));
        (asks && is_outside).then(|| Arc::new(Known::on(self.store.clone())))
    }

    /// Applies a write that deletes items which others refer to.
    async fn apply_with_dependents(
        &self,
        attempt: Attempt<'_>,
        bound: &mut BoundWrite,
        current: Current,
    ) -> Result<Written, RunError> {
        let called = outcome::Called { runner: self, attempt, bound };
        self.refuse_restricted(&called).await?;
        let parents = std::mem::take(&mut bound.parents);
        let apart = self.put_intents_apart(attempt.write, bound, &parents).await?;
        let written = self.apply(attempt, bound, current).await;
        match &written {
            Ok(Written::Applied(_)) => self.remove_dependents(&parents).await,
            // It is unknown whether the parent was deleted. The process that resumes the intent checks.
            Err(RunError::Unknown(_)) => {}
            _ if apart => self.withdraw(&parents).await,
            _ => {}
        }
        written
    }

    /// Writes the intents before the request if they cannot be part of it; returns whether it did.
    async fn put_intents_apart(
        &self,
        write: &Write,
        bound: &mut BoundWrite,
        parents: &[Parent],
    ) -> Result<bool, RunError> {
        let intents: Vec<Attributes> = match &mut bound.operation {
            Some(Operation::BatchWriteItem(_)) => {
                let due = Some(self.surroundings.now_millis() + LEASE_MILLIS);
                let cascading = parents.iter().filter(|parent| parent.cascades);
                cascading.map(|parent| parent.intent(&self.checked.model, due, false)).collect()
            }
            Some(Operation::TransactWriteItems(transaction)) if self.settings.without_transactions => {
                let is_intent = |action: &mut TransactAction| action.table() == CASCADES;
                let intents: Vec<TransactAction> = transaction.actions.extract_if(.., is_intent).collect();
                let only = transaction.actions.pop();
                bound.operation = only.map(|only| bind::single(write, only));
                let item = |action| match action {
                    TransactAction::Put { item, .. } => Some(item),
                    _ => None,
                };
                intents.into_iter().filter_map(item).collect()
            }
            _ => return Ok(false),
        };
        for item in intents {
            let put = PutItem { table: CASCADES.to_owned(), item, ..PutItem::default() };
            self.send(Operation::PutItem(put)).await.map_err(without_intents)?;
        }
        Ok(true)
    }

    /// Deletes the intents of a write that was not applied.
    async fn withdraw(&self, parents: &[Parent]) {
        for parent in parents.iter().filter(|parent| parent.cascades) {
            let (table, key) = (CASCADES.to_owned(), parent.intent_key(&self.checked.model));
            let delete = DeleteItem { table, key, ..DeleteItem::default() };
            // A remaining intent is dropped when it is resumed, because its parent still exists.
            drop(self.send(Operation::DeleteItem(delete)).await);
        }
    }

    async fn read_lets(&self, write: &Write, call: &Call, inputs: &mut Inputs<'_>) -> Result<(), RunError> {
        let model = &self.checked.model;
        for binding in &write.lets {
            let LetSource::Read { read, arguments } = &binding.source else {
                inputs.lets.push(None);
                continue;
            };
            let values = bind::arguments(model, write, arguments, inputs)?;
            let read_pattern = model.read(*read);
            let names = read_pattern.parameters.iter().flat_map(|parameter| parameter.arguments.iter().cloned());
            let arguments: Attributes = names.zip(values).filter_map(|(name, value)| Some((name, value?))).collect();
            let inner = Call { arguments, caller: call.caller.clone(), cursor: None, token: None };
            let answer = match self.run_read(*read, read_pattern, &inner).await {
                Ok(answer) => let_value(answer),
                Err(RunError::NotFound(_)) => None,
                Err(error) => return Err(error),
            };
            if answer.is_none() && binding.outcome.is_none() && is_one(read_pattern) {
                return Err(RunError::NotFound(binding.name.clone()));
            }
            inputs.lets.push(answer);
        }
        Ok(())
    }

    async fn apply(&self, attempt: Attempt<'_>, bound: &mut BoundWrite, current: Current) -> Result<Written, RunError> {
        let Attempt { write, plan, once, .. } = attempt;
        if once.is_some() {
            bound.operation = bound.operation.take().map(once::as_transaction);
        }
        let mut promised = self.promised(write, plan, bound)?;
        let Some(mut operation) = bound.operation.take() else { return Ok(Written::Kept) };
        if let Operation::BatchWriteItem(batch) = operation {
            return Box::pin(self.apply_batch(batch)).await.map(|()| Written::Applied(None));
        }
        if let Some(once) = once {
            operation = Box::pin(self.with_record(write, plan, &bound.actions, once, operation)).await?;
        } else if let Some(Promised::Before(table, key)) = promised {
            promised = Box::pin(self.before_delete(write, table, key, current)).await?.map(Promised::Known);
        }
        let deletes = matches!(operation, Operation::DeleteItem(_));
        let has_token = matches!(&operation, Operation::TransactWriteItems(transaction) if transaction.token.is_some());
        ask_for_images(&mut operation);
        match self.send(operation).await {
            Ok(Output::WriteItem(output)) => Ok(Written::Applied(match (promised, output.attributes) {
                (Some(Promised::Known(found)), _) => Some(found),
                (_, Some(item)) if deletes => self.returned_living(write, &item)?,
                (_, Some(item)) => self.returned(write, &item)?,
                (_, None) => None,
            })),
            Ok(Output::TransactWriteItems(_)) => Ok(Written::Applied(match once {
                Some(once) => Box::pin(self.returned_once(write, once, promised)).await?,
                None => Box::pin(self.returned_after(write, promised)).await?,
            })),
            Ok(_) => Ok(Written::Applied(None)),
            // ADR 0017: the write may have been applied, so it is not retried.
            Err(error) if *error.detail() == Detail::OutcomeUnknown => Err(error.into()),
            // Without our token the next attempt would be a different transaction.
            Err(error) if error.code() == ErrorCode::TransactionInProgress && !has_token => {
                Err(RunError::Unknown(error.message().to_owned()))
            }
            Err(error) if error.code() == ErrorCode::ResourceNotFound && plan.cascades() => Err(without_intents(error)),
            // ADR 0017: an expired item made the upsert fail. Delete it and retry the whole write.
            Err(error) if let Some(clearing) = outcome::clearing(bound, &error) => {
                Box::pin(self.clear(clearing)).await?;
                Err(RunError::Busy)
            }
            Err(error) => match error.code() {
                ErrorCode::TransactionConflict
                | ErrorCode::TransactionInProgress
                | ErrorCode::Throttling
                | ErrorCode::ProvisionedThroughputExceeded
                | ErrorCode::RequestLimitExceeded => Err(RunError::Busy),
                _ => {
                    let called = outcome::Called { runner: self, attempt, bound };
                    Box::pin(outcome::of(&called, error)).await.map(|_| Written::Kept)
                }
            },
        }
    }

    /// Deletes an expired item. A failed condition means that the store or another process was faster.
    async fn clear(&self, clearing: DeleteItem) -> Result<(), RunError> {
        match self.send(Operation::DeleteItem(clearing)).await {
            Err(error) if error.code() != ErrorCode::ConditionalCheckFailed => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Converts the item of a response, if the write returns it.
    fn returned(&self, write: &Write, item: &Item) -> Result<Option<Found>, RunError> {
        match write.result.and_then(|(entity, _)| entity) {
            Some(entity) => self.found(&[entity], item),
            None => Ok(None),
        }
    }

    /// Converts the item of a response; `None` if it had expired and therefore counts as absent.
    fn returned_living(&self, write: &Write, item: &Item) -> Result<Option<Found>, RunError> {
        let found = self.returned(write, item)?;
        Ok(found.filter(|found| !self.is_over(found.entity, item)))
    }

    /// Reads the item that a transaction is about to delete, because its response does not include it.
    async fn before_delete(
        &self,
        write: &Write,
        table: String,
        key: Attributes,
        current: Current,
    ) -> Result<Option<Found>, RunError> {
        let item = match current.into_iter().find(|(name, of, _)| *name == table && *of == key) {
            Some((_, _, item)) => item.map(|item| Item::from(&item)),
            None => self.current(table, key).await?,
        };
        item.map(|item| self.returned_living(write, &item)).transpose().map(Option::flatten)
    }

    /// Returns the source of the item that the write returns: the first action that creates or changes an item of its
    /// entity, otherwise the first that deletes one.
    fn promised(&self, write: &Write, plan: &WritePlan, bound: &BoundWrite) -> Result<Option<Promised>, RunError> {
        let Some(entity) = write.result.and_then(|(entity, _)| entity) else { return Ok(None) };
        let known = |action: Option<&BoundAction>, item| {
            let planned = action.and_then(|action| plan.at(&action.step));
            let outline = planned.and_then(|planned| planned.outline.as_deref());
            self.found_in_request(entity, outline, item).map(|found| Some(Promised::Known(found)))
        };
        match &bound.operation {
            Some(Operation::PutItem(put)) => known(bound.actions.first(), &put.item),
            Some(Operation::TransactWriteItems(transaction)) => {
                let is_its =
                    |action: &BoundAction| plan.at(&action.step).is_some_and(|planned| planned.entity == entity);
                let its = transaction.actions.iter().zip(&bound.actions).filter(|(_, action)| is_its(action));
                match returned_action(its.clone().map(|(action, _)| action)) {
                    Some(put @ TransactAction::Put { item, .. }) => {
                        let of_put = its.clone().find(|(action, _)| std::ptr::eq(*action, put));
                        known(of_put.map(|(_, action)| action), item)
                    }
                    Some(TransactAction::Update { table, key, .. }) => {
                        Ok(Some(Promised::At(table.clone(), key.clone())))
                    }
                    Some(TransactAction::Delete { table, key, .. }) => {
                        Ok(Some(Promised::Before(table.clone(), key.clone())))
                    }
                    Some(TransactAction::Check { .. }) | None => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    /// After a transaction: a put item is known, an updated one is read.
    async fn returned_after(&self, write: &Write, promised: Option<Promised>) -> Result<Option<Found>, RunError> {
        Ok(match promised {
            Some(Promised::Known(found)) => Some(found),
            Some(Promised::At(table, key)) => {
                let item = self.current(table, key).await?;
                item.map(|item| self.returned(write, &item)).transpose()?.flatten()
            }
            Some(Promised::Before(..)) | None => None,
        })
    }

    /// Returns the answer of a transaction with an idempotency key. The record holds what the store no longer has: a
    /// deleted item.
    async fn returned_once(
        &self,
        write: &Write,
        once: &Once,
        promised: Option<Promised>,
    ) -> Result<Option<Found>, RunError> {
        match promised {
            Some(Promised::Known(found)) => Ok(Some(found)),
            Some(Promised::At(table, key)) => {
                let Some(item) = self.current(table, key).await? else { return Ok(None) };
                self.complete_record(write, once, &item).await;
                self.returned(write, &item)
            }
            Some(Promised::Before(..)) => self.repeated(write, once).await?.unwrap_or(Ok(None)),
            None => Ok(None),
        }
    }

    pub(super) async fn current(&self, table: String, key: Attributes) -> Result<Option<Item>, RunError> {
        let get = GetItem { table, key, consistent: true, ..GetItem::default() };
        match self.send(Operation::GetItem(get)).await? {
            Output::GetItem(output) => Ok(output.item),
            _ => Ok(None),
        }
    }

    /// Sends a batch in chunks that the service accepts, and retries unprocessed requests.
    pub(super) async fn apply_batch(&self, batch: BatchWriteItem) -> Result<(), RunError> {
        let requests = batch
            .tables
            .into_iter()
            .flat_map(|(table, requests)| requests.into_iter().map(move |request| (table.clone(), request)));
        let mut left: Vec<_> = requests.collect();
        let mut tries = 0;
        while !left.is_empty() {
            let rest = left.split_off(left.len().min(BATCH_ITEMS_MAX));
            let mut tables: Vec<(String, Vec<_>)> = Vec::new();
            for (table, request) in left {
                match tables.iter_mut().find(|(name, _)| *name == table) {
                    Some((_, requests)) => requests.push(request),
                    None => tables.push((table, vec![request])),
                }
            }
            let piece =
                BatchWriteItem { tables, return_capacity: Default::default(), return_metrics: Default::default() };
            left = rest;
            if let Output::BatchWriteItem(output) = self.send(Operation::BatchWriteItem(piece)).await? {
                let undone = output
                    .unprocessed
                    .into_iter()
                    .flat_map(|(table, requests)| requests.into_iter().map(move |request| (table.clone(), request)));
                let undone: Vec<_> = undone.collect();
                if !undone.is_empty() {
                    tries += 1;
                    self.pause(tries).await?;
                    left.extend(undone);
                }
            }
        }
        Ok(())
    }
}

/// Maps a missing table to the message about the intent table, which is the most likely one to be missing.
fn without_intents(error: Error) -> RunError {
    match error.code() {
        ErrorCode::ResourceNotFound => RunError::NotRunnable(format!(
            "the table {CASCADES}, which keeps what deletes have still to remove, or a table of the model is not there: `keyform deploy apply` or --create-tables makes them"
        )),
        _ => error.into(),
    }
}

/// Returns the action whose item the write returns: the first that creates or changes one, otherwise the first that
/// deletes one.
pub(super) fn returned_action<'a>(its: impl Iterator<Item = &'a TransactAction> + Clone) -> Option<&'a TransactAction> {
    let makes = |action: &&TransactAction| matches!(action, TransactAction::Put { .. } | TransactAction::Update { .. });
    let deletes = |action: &&TransactAction| matches!(action, TransactAction::Delete { .. });
    its.clone().find(makes).or_else(|| its.clone().find(deletes))
}

fn is_one(read: &keyform_language::schema::Read) -> bool {
    use keyform_language::document::ast::Number;
    matches!(&read.result, keyform_language::schema::Result::Parts(parts) if matches!(parts.as_slice(), [(_, Number::One, _)]))
}

/// Returns the value of a `let`: an item as a map, items as a list.
fn let_value(answer: Answer) -> Option<AttributeValue> {
    match answer {
        Answer::One(found) => found.map(as_map),
        Answer::Page { items, .. } => Some(AttributeValue::L(items.into_iter().map(as_map).collect())),
        Answer::Count(count) => Some(AttributeValue::N(i64::try_from(count).unwrap_or(i64::MAX).into())),
        Answer::Collection(parts) => {
            let first = parts.into_iter().next().and_then(|(_, items)| items.into_iter().next());
            first.map(as_map)
        }
    }
}

fn as_map(found: Found) -> AttributeValue {
    AttributeValue::M(found.fields.into())
}

/// Requests the images from which outcomes are derived, and the item after an update.
fn ask_for_images(operation: &mut Operation) {
    match operation {
        Operation::PutItem(put) => put.return_item_on_failure = true,
        Operation::UpdateItem(update) => {
            update.return_item_on_failure = true;
            update.return_values = ReturnValues::AllNew;
        }
        Operation::DeleteItem(delete) => delete.return_item_on_failure = true,
        Operation::TransactWriteItems(transaction) => {
            for action in &mut transaction.actions {
                let (TransactAction::Put { return_item_on_failure, .. }
                | TransactAction::Update { return_item_on_failure, .. }
                | TransactAction::Delete { return_item_on_failure, .. }
                | TransactAction::Check { return_item_on_failure, .. }) = action;
                *return_item_on_failure = true;
            }
        }
        _ => {}
    }
}
