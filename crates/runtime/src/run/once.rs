//! Applies a write once per idempotency key, in whichever process it runs, and repeats the same answer.
//!
//! The request of such a write is a transaction with one more action: it puts a record into a separate table, on the
//! condition that none exists. So the record exists if and only if the write was applied, even if the process ended
//! before it could answer (ADR 0013):
//!
//! ```text
//! first call    TransactWriteItems [ the write's actions, put record if absent ]   → the answer
//! second call   TransactWriteItems → cancelled;  GetItem record                    → the same answer
//! ```
//!
//! The record holds a hash of the arguments and the item that the write returns: for a new item, the item as it was
//! put, without secret fields. The result of an update is known only after the transaction and is added then; until
//! then the record holds the item's key. Refusals leave no record: a refused write was not applied, and a repeated
//! call evaluates it again.

use keyform_core::expression::{Comparator, Condition, Operand, Path, SetAction, SetValue, Update, UpdateOperand};
use keyform_core::operation::{
    CreateTable, GetItem, TimeToLive, TransactAction, TransactWriteItems, UpdateItem, UpdateTimeToLive,
};
use keyform_core::table::{KeySchema, ScalarType};
use keyform_core::{AttributeValue, Attributes, ErrorCode, Item, Operation};
use keyform_language::bookkeeping::ANSWERS;
use sha2::{Digest as _, Sha256};

use keyform_language::bind::BoundAction;
use keyform_language::plan::{WriteKind, WritePlan};
use keyform_language::schema::Write;

use super::found::Found;
use super::write::returned_action;
use super::{Call, Caller, RunError, Runner};

/// Lifetime of a record: one day.
const KEPT_SECS: i64 = 24 * 60 * 60;
/// Limit of TransactWriteItems.
const ACTIONS_MAX: usize = 100;

const KEY: &str = "pk";
const REQUEST: &str = "request";
pub(crate) const EXPIRES: &str = "expires";
const ANSWER: &str = "answer";
const PLACE_TABLE: &str = "table";
const PLACE_KEY: &str = "key";

/// Identity of a call under an idempotency key.
#[derive(Clone, Debug)]
pub(super) struct Once {
    /// Hash of model, tables, pattern, caller and key: the key of the record.
    scope: String,
    /// Hash of the arguments.
    request: String,
    now_secs: i64,
}

impl Runner {
    /// Calls a write under an idempotency key: a call with the same key and arguments within a day is not applied
    /// again and returns the same answer. The store keeps the answers, without secret fields, in a table that
    /// [`Runner::create_answer_table`] creates.
    ///
    /// # Errors
    ///
    /// Returns a [`RunError`]: [`RunError::KeyReused`] if the arguments differ from those of the first call,
    /// [`RunError::NotRunnable`] for a batch and on a store without transactions.
    pub async fn write_once(&self, name: &str, call: &Call, key: &str) -> Result<Option<Found>, RunError> {
        let (id, write) = self.find_write(name)?;
        super::arguments::check(&self.checked.model, &write.parameters, &call.arguments)?;
        if let Some(plan) = &self.checked.plans.writes[id.0] {
            self.refuse_keyless(write, plan)?;
        }
        let mut answer = self.run_write(id, write, call, Some(&self.once(write, call, key))).await?;
        // The record has no secret fields, and the first answer must equal the repeated ones.
        if let Some(found) = &mut answer {
            self.secrets(write).for_each(|name| drop(found.fields.remove(name)));
        }
        Ok(answer)
    }

    fn refuse_keyless(&self, write: &Write, plan: &WritePlan) -> Result<(), RunError> {
        let why = if self.settings.without_transactions {
            "this store has no transactions"
        } else if plan.request == WriteKind::Batch {
            "it is a batch, which is not atomic"
        } else {
            return Ok(());
        };
        Err(RunError::NotRunnable(format!("`{}` cannot be called under an idempotency key: {why}", write.name)))
    }

    /// Creates the table of the records if it does not exist; returns whether it did.
    ///
    /// # Errors
    ///
    /// Returns an error if the store rejects the table.
    pub async fn create_answer_table(&self) -> Result<bool, RunError> {
        match self.send(Operation::CreateTable(answer_table())).await {
            Ok(_) => {}
            // Another process may be creating it right now.
            Err(error) if error.code() == ErrorCode::ResourceInUse => {
                return self.wait_until_active(ANSWERS).await.map(|()| false);
            }
            Err(error) => return Err(error.into()),
        }
        self.wait_until_active(ANSWERS).await?;
        let setting = TimeToLive { attribute: EXPIRES.to_owned(), enabled: true };
        self.send(Operation::UpdateTimeToLive(UpdateTimeToLive { table: ANSWERS.to_owned(), setting })).await?;
        Ok(true)
    }

    /// Returns the identity of a call. The same key from another caller, for another pattern or for other tables is a
    /// different call.
    fn once(&self, write: &Write, call: &Call, key: &str) -> Once {
        let model = &self.checked.model;
        let tables: Vec<&str> = model.tables.iter().map(|table| table.physical.as_str()).collect();
        let tables = tables.join("\n");
        let claims = match &call.caller {
            Caller::System => Vec::new(),
            Caller::Claims(claims) => Item::from(claims).as_bytes().to_vec(),
        };
        let (model, pattern) = (model.name.as_bytes(), write.name.as_bytes());
        Once {
            scope: hash(&[model, tables.as_bytes(), pattern, &claims, key.as_bytes()]),
            request: hash(&[Item::from(&call.arguments).as_bytes()]),
            now_secs: self.surroundings.now_millis() / 1000,
        }
    }

    /// Adds the record to the request.
    pub(super) async fn with_record(
        &self,
        write: &Write,
        plan: &WritePlan,
        bound: &[BoundAction],
        once: &Once,
        operation: Operation,
    ) -> Result<Operation, RunError> {
        let Operation::TransactWriteItems(mut transaction) = operation else { return Ok(operation) };
        if transaction.actions.len() >= ACTIONS_MAX {
            return Err(RunError::NotRunnable(format!(
                "`{}` fills its transaction, and leaves no room for an idempotency key",
                write.name
            )));
        }
        let mut record = once.record();
        match self.foreseen(write, plan, bound, &transaction.actions).await? {
            Some(Foreseen::Item(item)) => {
                record.insert(ANSWER.to_owned(), AttributeValue::M(item));
            }
            Some(Foreseen::Place(table, key)) => {
                record.insert(PLACE_TABLE.to_owned(), table.into());
                record.insert(PLACE_KEY.to_owned(), AttributeValue::M(key));
            }
            None => {}
        }
        transaction.actions.push(TransactAction::Put {
            table: ANSWERS.to_owned(),
            item: record,
            condition: Some(once.is_new()),
            return_item_on_failure: false,
        });
        Ok(Operation::TransactWriteItems(transaction))
    }

    /// Returns what is known of the returned item before the write is applied.
    async fn foreseen(
        &self,
        write: &Write,
        plan: &WritePlan,
        bound: &[BoundAction],
        actions: &[TransactAction],
    ) -> Result<Option<Foreseen>, RunError> {
        let Some(entity) = write.result.and_then(|(entity, _)| entity) else { return Ok(None) };
        let is_its = |bound: &BoundAction| plan.at(&bound.step).is_some_and(|planned| planned.entity == entity);
        let its = actions.iter().zip(bound).filter(|(_, bound)| is_its(bound)).map(|(action, _)| action);
        Ok(match returned_action(its) {
            Some(TransactAction::Put { item, .. }) => Some(Foreseen::Item(self.without_secrets(write, item.clone()))),
            Some(TransactAction::Update { table, key, .. }) => Some(Foreseen::Place(table.clone(), key.clone())),
            Some(TransactAction::Delete { table, key, .. }) => {
                let item = self.current(table.clone(), key.clone()).await?;
                let item = item.filter(|item| !self.is_over(entity, item));
                item.map(|item| Foreseen::Item(self.without_secrets(write, item.to_attributes())))
            }
            Some(TransactAction::Check { .. }) | None => None,
        })
    }

    fn without_secrets(&self, write: &Write, mut item: Attributes) -> Attributes {
        self.secrets(write).for_each(|name| drop(item.remove(name)));
        item
    }

    /// Returns the names of the secret fields of the entity that a write returns.
    fn secrets(&self, write: &Write) -> impl Iterator<Item = &String> {
        let entity = write.result.and_then(|(entity, _)| entity).map(|entity| self.checked.model.entity(entity));
        let fields = entity.into_iter().flat_map(|entity| &entity.fields);
        fields.filter(|field| field.flags.secret.is_some()).map(|field| &field.name)
    }

    /// Adds the result of an update to its record.
    pub(super) async fn complete_record(&self, write: &Write, once: &Once, item: &Item) {
        let item = AttributeValue::M(self.without_secrets(write, item.to_attributes()));
        let update = UpdateItem {
            table: ANSWERS.to_owned(),
            key: once.key(),
            update: Some(Update {
                set: vec![SetAction {
                    path: Path::attribute(ANSWER),
                    value: SetValue::Operand(UpdateOperand::Value(item.into())),
                }],
                ..Update::default()
            }),
            options: Condition::AttributeNotExists(Path::attribute(ANSWER)).into(),
        };
        // The write is already applied. If this fails, a repeated call reads the item by its key.
        drop(self.send(Operation::UpdateItem(update)).await);
    }

    /// Returns the answer of the first call, if this is a repeated one.
    pub(super) async fn repeated(
        &self,
        write: &Write,
        once: &Once,
    ) -> Result<Option<Result<Option<Found>, RunError>>, RunError> {
        let Some(record) = self.record(once).await? else { return Ok(None) };
        if record.get(REQUEST) != Some(&once.request.as_str().into()) {
            return Ok(Some(Err(RunError::KeyReused)));
        }
        let Some(entity) = write.result.and_then(|(entity, _)| entity) else { return Ok(Some(Ok(None))) };
        let item = match (record.get(ANSWER), record.get(PLACE_TABLE), record.get(PLACE_KEY)) {
            (Some(AttributeValue::M(item)), ..) => Some(Item::from(item)),
            (_, Some(AttributeValue::S(table)), Some(AttributeValue::M(key))) => {
                self.current(table.clone(), key.clone()).await?
            }
            _ => None,
        };
        Ok(Some(item.map(|item| self.found_of(entity, &item)).transpose()))
    }

    /// Returns the record of a call, unless it has expired.
    async fn record(&self, once: &Once) -> Result<Option<Attributes>, RunError> {
        let get = GetItem { table: ANSWERS.to_owned(), key: once.key(), consistent: true, ..GetItem::default() };
        let output = self.call(get).await.map_err(|error| match error.code() {
            ErrorCode::ResourceNotFound => RunError::NotRunnable(format!(
                "the table {ANSWERS}, which keeps what idempotency keys have done, is not there: --create-tables makes it"
            )),
            _ => error.into(),
        })?;
        let record = output.item.map(|item| item.to_attributes());
        let counts = |record: &Attributes| match record.get(EXPIRES) {
            Some(AttributeValue::N(expires)) => *expires >= once.now_secs.into(),
            _ => true,
        };
        Ok(record.filter(counts))
    }
}

/// Returns the request that creates the table of the records.
pub(crate) fn answer_table() -> CreateTable {
    CreateTable {
        attributes: [(KEY.to_owned(), ScalarType::S)].into(),
        key: KeySchema { partition: vec![KEY.to_owned()], sort: Vec::new() },
        ..CreateTable::named(ANSWERS)
    }
}

/// Knowledge about the returned item before the write.
enum Foreseen {
    Item(Attributes),
    Place(String, Attributes),
}

impl Once {
    fn key(&self) -> Attributes {
        [(KEY.to_owned(), self.scope.as_str().into())].into()
    }

    fn record(&self) -> Attributes {
        let mut record = self.key();
        record.insert(REQUEST.to_owned(), self.request.as_str().into());
        record.insert(EXPIRES.to_owned(), (self.now_secs + KEPT_SECS).into());
        record
    }

    /// Holds if there is no record or only an expired one, which the store may delete late.
    fn is_new(&self) -> Condition {
        Condition::Or(vec![
            Condition::AttributeNotExists(Path::attribute(KEY)),
            Condition::Compare {
                left: Operand::Path(Path::attribute(EXPIRES)),
                comparator: Comparator::Less,
                right: Operand::Value(AttributeValue::from(self.now_secs).into()),
            },
        ])
    }
}

/// Converts any write except a batch to a transaction.
pub(super) fn as_transaction(operation: Operation) -> Operation {
    let one = |action| TransactWriteItems { actions: vec![action], ..TransactWriteItems::default() };
    Operation::TransactWriteItems(match operation {
        // The store would compare the token with other calls under the same key, which have other fresh ids.
        Operation::TransactWriteItems(transaction) => TransactWriteItems { token: None, ..transaction },
        Operation::PutItem(put) => one(TransactAction::Put {
            table: put.table,
            item: put.item,
            condition: put.options.condition,
            return_item_on_failure: true,
        }),
        Operation::UpdateItem(update) => one(TransactAction::Update {
            table: update.table,
            key: update.key,
            update: update.update.unwrap_or_default(),
            condition: update.options.condition,
            return_item_on_failure: true,
        }),
        Operation::DeleteItem(delete) => one(TransactAction::Delete {
            table: delete.table,
            key: delete.key,
            condition: delete.options.condition,
            return_item_on_failure: true,
        }),
        other => return other,
    })
}

/// Hashes each part with its length, so that two different lists never produce the same input.
fn hash(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex::encode(hash.finalize())
}
