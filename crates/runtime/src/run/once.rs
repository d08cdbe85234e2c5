//! A write that is sent again under its caller's key: it applies once, whoever runs it, and is answered alike.
//!
//! The request of such a write is a transaction with one more action: it puts a record into a table of its own, on the condition that there is
//! none. So the record is there if and only if the write was applied, also when the process ended before it could answer:
//!
//! ```text
//! first call    TransactWriteItems [ the write's actions, put record if absent ]   → the answer
//! second call   TransactWriteItems → cancelled;  GetItem record                    → the same answer
//! ```
//!
//! The record has a hash of the arguments, and the item that the write returns: a new item as it was put, without secret fields. What an update
//! has made of an item is known only afterwards; it is added then, and until then the record says where the item is. Refusals leave no record: a
//! write that was refused was not applied, and is looked at anew.

use keyform_core::expression::{Comparator, Condition, Operand, Path, SetAction, SetValue, Update, UpdateOperand};
use keyform_core::operation::{
    CreateTable, GetItem, TimeToLive, TransactAction, TransactWriteItems, UpdateItem, UpdateTimeToLive,
};
use keyform_core::table::{KeySchema, ScalarType};
use keyform_core::{AttributeValue, Attributes, ErrorCode, Item, Operation, Output};
use keyform_language::bookkeeping::ANSWERS;
use sha2::{Digest as _, Sha256};

use keyform_language::bind::BoundAction;
use keyform_language::plan::{WriteKind, WritePlan};
use keyform_language::schema::Write;

use super::found::Found;
use super::write::returned_action;
use super::{Call, Caller, RunError, Runner};

/// How long a record counts: a day.
const KEPT_SECS: i64 = 24 * 60 * 60;
/// The actions that one transaction takes.
const ACTIONS_MAX: usize = 100;

const KEY: &str = "pk";
const REQUEST: &str = "request";
pub(crate) const EXPIRES: &str = "expires";
const ANSWER: &str = "answer";
const PLACE_TABLE: &str = "table";
const PLACE_KEY: &str = "key";

/// Which call it is.
#[derive(Clone, Debug)]
pub(super) struct Once {
    /// Who calls what under which key.
    scope: String,
    /// With what.
    request: String,
    now_secs: i64,
}

impl Runner {
    /// Calls a write under a key of its caller: called again with the same key and the same arguments within a day, it is not applied again, and
    /// gives the same answer. The store keeps the answers, in a table that [`Runner::create_answer_table`] makes; they have no secret fields.
    ///
    /// # Errors
    ///
    /// [`RunError`]; with other arguments [`RunError::KeyReused`]. A batch, and a store without transactions, cannot do it.
    pub async fn write_once(&self, name: &str, call: &Call, key: &str) -> Result<Option<Found>, RunError> {
        let (id, write) = self.find_write(name)?;
        super::arguments::check(&self.checked.model, &write.parameters, &call.arguments)?;
        if let Some(plan) = &self.checked.plans.writes[id.0] {
            self.refuse_keyless(write, plan)?;
        }
        let mut answer = self.run_write(id, write, call, Some(&self.once(write, call, key))).await?;
        // The record has no secrets, and all answers are alike.
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

    /// Makes the table of the records, if it is not there; says whether it did.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn create_answer_table(&self) -> Result<bool, RunError> {
        match self.send(Operation::CreateTable(answer_table())).await {
            Ok(_) => {}
            // Perhaps somebody else is making it right now.
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

    /// The same key of another caller, for another pattern, or for other tables is another call.
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

    /// The request with the record in it.
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

    /// What is known of the returned item before the write is applied.
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

    /// The names of the secret fields of what a write returns.
    fn secrets(&self, write: &Write) -> impl Iterator<Item = &String> {
        let entity = write.result.and_then(|(entity, _)| entity).map(|entity| self.checked.model.entity(entity));
        let fields = entity.into_iter().flat_map(|entity| &entity.fields);
        fields.filter(|field| field.flags.secret.is_some()).map(|field| &field.name)
    }

    /// Adds the item that an update has made to its record.
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
            condition: Some(Condition::AttributeNotExists(Path::attribute(ANSWER))),
            ..UpdateItem::default()
        };
        // The write is applied whatever becomes of this: a repeated call reads the item where it is.
        drop(self.send(Operation::UpdateItem(update)).await);
    }

    /// The answer of the first call, if this was not the first.
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

    /// The record of a call, if it counts still.
    async fn record(&self, once: &Once) -> Result<Option<Attributes>, RunError> {
        let get = GetItem { table: ANSWERS.to_owned(), key: once.key(), consistent: true, ..GetItem::default() };
        let output = self.send(Operation::GetItem(get)).await.map_err(|error| match error.code() {
            ErrorCode::ResourceNotFound => RunError::NotRunnable(format!(
                "the table {ANSWERS}, which keeps what idempotency keys have done, is not there: --create-tables makes it"
            )),
            _ => error.into(),
        })?;
        let Output::GetItem(output) = output else { return Ok(None) };
        let record = output.item.map(|item| item.to_attributes());
        let counts = |record: &Attributes| match record.get(EXPIRES) {
            Some(AttributeValue::N(expires)) => *expires >= once.now_secs.into(),
            _ => true,
        };
        Ok(record.filter(counts))
    }
}

/// The request that makes the table of the records.
pub(crate) fn answer_table() -> CreateTable {
    CreateTable {
        attributes: [(KEY.to_owned(), ScalarType::S)].into(),
        key: KeySchema { partition: vec![KEY.to_owned()], sort: Vec::new() },
        ..CreateTable::named(ANSWERS)
    }
}

/// What is known of an item before the write.
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

    /// No record, or one whose time is over: a store takes its time to delete those.
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

/// Any write but a batch, as a transaction.
pub(super) fn as_transaction(operation: Operation) -> Operation {
    let one = |action| TransactWriteItems { actions: vec![action], ..TransactWriteItems::default() };
    Operation::TransactWriteItems(match operation {
        // Its token would be compared with requests of other calls under the same key, whose fresh ids are others.
        Operation::TransactWriteItems(transaction) => TransactWriteItems { token: None, ..transaction },
        Operation::PutItem(put) => one(TransactAction::Put {
            table: put.table,
            item: put.item,
            condition: put.condition,
            return_item_on_failure: true,
        }),
        Operation::UpdateItem(update) => one(TransactAction::Update {
            table: update.table,
            key: update.key,
            update: update.update.unwrap_or_default(),
            condition: update.condition,
            return_item_on_failure: true,
        }),
        Operation::DeleteItem(delete) => one(TransactAction::Delete {
            table: delete.table,
            key: delete.key,
            condition: delete.condition,
            return_item_on_failure: true,
        }),
        other => return other,
    })
}

/// The parts, each with its length, so that no two lists of parts read the same.
fn hash(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
