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
//! call evaluates it again. A repeated call evaluates `allow` again too: if it no longer holds, the answer is the success
//! of the first call without its item.

use keyform_core::expression::{Comparator, Condition, Operand, Path, SetAction, SetValue, Update, UpdateOperand};
use keyform_core::operation::{CreateTable, GetItem, TimeToLive, TransactAction, UpdateItem, UpdateTimeToLive};
use keyform_core::table::{KeySchema, ScalarType};
use keyform_core::{AttributeValue, Attributes, ErrorCode, Item, Output};
use keyform_language::bookkeeping::ANSWERS;
use sha2::{Digest as _, Sha256};

use keyform_language::bind::{BoundAction, WriteOperation};
use keyform_language::plan::WriteKind;
use keyform_language::schema::Write;

use super::returned_item::{Promised, returned, returned_action};
use super::state::{Attempt, Bound, Decided, Sent, WriteCall, Written};
use super::step::{Hook, Step};
use crate::run::found::Extent;
use crate::run::{Call, Caller, Found, RunError, Runner, arguments};

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

#[derive(Debug)]
pub(super) struct Idempotency;

/// Identity of a call under an idempotency key.
#[derive(Clone, Debug)]
pub(in crate::run) struct Once {
    /// Hash of model, tables, pattern, caller and key: the key of the record.
    scope: String,
    /// Hash of the arguments.
    request: String,
    now_secs: i64,
}

impl Step for Idempotency {
    fn admit(&self, call: &WriteCall<'_>) -> Result<(), RunError> {
        call.once.map_or(Ok(()), |_| refuse_keyless(call))
    }

    /// Turns the request into a transaction that also puts the record.
    fn before<'r>(&self, attempt: &'r mut Attempt<'_, Bound>) -> Hook<'r, Result<(), RunError>> {
        let (of, state) = (attempt.of, &mut attempt.state);
        let Some(once) = of.once else { return Hook::pass() };
        state.operation.make_transaction();
        if let WriteOperation::Transact(transaction) = &mut state.operation {
            // The store would compare the token with other calls under the same key, which have other fresh ids.
            transaction.token = None;
        }
        Hook::wait(add_record(of, once, state))
    }

    /// Answers like the record will: it holds what the store no longer has, a deleted item.
    fn decide<'r>(&self, attempt: &'r mut Attempt<'_, Sent>) -> Option<Hook<'r, Result<Written, RunError>>> {
        let (of, state) = (attempt.of, &mut attempt.state);
        let once = of.once?;
        match (state.response.output()?, state.promised.take()) {
            (Output::TransactWriteItems(_), Some(Promised::At { table, key })) => Some(Hook::wait(async move {
                let Some(item) = of.runner.current(table, key).await? else { return Ok(Written::Applied(None)) };
                complete_record(&of, once, &item).await;
                returned(&of, &item).map(Written::Applied)
            })),
            (Output::TransactWriteItems(_), Some(Promised::Before { .. })) => {
                Some(Hook::wait(async move { repeated(&of, once).await?.unwrap_or(Ok(None)).map(Written::Applied) }))
            }
            (_, promised) => {
                state.promised = promised;
                None
            }
        }
    }

    /// Replaces the result of a write that was not applied by the answer of an earlier call under the same key.
    fn after<'r>(&self, attempt: &'r mut Attempt<'_, Decided>) -> Hook<'r, ()> {
        let (of, permitted, state) = (attempt.of, attempt.permitted, &mut attempt.state);
        let Some(once) = of.once.filter(|_| !state.again) else { return Hook::Ready(()) };
        // A guard that the request carries may have failed after it held when it was read.
        let permitted = permitted && state.written != Err(RunError::Forbidden);
        Hook::wait(async move {
            if !matches!(state.written, Ok(Written::Applied(_))) {
                match repeated(&of, once).await {
                    // A repeated `leave` still succeeds, but shows nothing to a caller who has left.
                    Ok(Some(answer)) => {
                        state.written = answer.map(|found| Written::Applied(found.filter(|_| permitted)));
                    }
                    Ok(None) => {}
                    Err(error) => state.written = Err(error),
                }
            }
            // The record has no secret fields, and the first answer must equal the repeated ones.
            if let Ok(Written::Applied(Some(found))) = &mut state.written {
                secrets(&of).for_each(|name| drop(found.fields.remove(name)));
            }
        })
    }
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
        arguments::check(&self.checked.model, &write.parameters, &call.arguments)?;
        self.ensure_accepted().await?;
        self.run_write(id, write, call, Some(&self.once(write, call, key))).await
    }

    /// Creates the table of the records if it does not exist; returns whether it did.
    ///
    /// # Errors
    ///
    /// Returns an error if the store rejects the table.
    pub async fn create_answer_table(&self) -> Result<bool, RunError> {
        match self.call(answer_table()).await {
            Ok(_) => {}
            // Another process may be creating it right now.
            Err(error) if error.code() == ErrorCode::ResourceInUse => {
                return self.wait_until_active(ANSWERS).await.map(|()| false);
            }
            Err(error) => return Err(error.into()),
        }
        self.wait_until_active(ANSWERS).await?;
        let setting = TimeToLive { attribute: EXPIRES.to_owned(), enabled: true };
        self.call(UpdateTimeToLive { table: ANSWERS.to_owned(), setting }).await?;
        Ok(true)
    }

    /// Returns the identity of a call. The same key from another caller, for another pattern or for other tables is a
    /// different call.
    pub(super) fn once(&self, write: &Write, call: &Call, key: &str) -> Once {
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
            now_secs: self.world.now_millis() / 1000,
        }
    }
}

fn refuse_keyless(call: &WriteCall<'_>) -> Result<(), RunError> {
    let why = if call.runner.settings.without_transactions {
        "this store does not support transactions"
    } else if call.plan.request == WriteKind::Batch {
        "it is a batch, which is not atomic"
    } else {
        return Ok(());
    };
    Err(RunError::NotRunnable(format!("`{}` cannot be called with an idempotency key: {why}", call.write.name)))
}

/// Adds the record to the transaction.
async fn add_record(of: WriteCall<'_>, once: &Once, state: &mut Bound) -> Result<(), RunError> {
    let WriteOperation::Transact(transaction) = &mut state.operation else { return Ok(()) };
    if transaction.actions.len() >= ACTIONS_MAX {
        return Err(RunError::NotRunnable(format!(
            "`{}` uses the whole transaction and leaves no room for an idempotency key",
            of.write.name
        )));
    }
    let mut record = once.record();
    match foreseen(&of, &transaction.actions, &state.actions).await? {
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
    Ok(())
}

/// Returns what is known of the returned item before the write is applied.
async fn foreseen(
    of: &WriteCall<'_>,
    actions: &[TransactAction],
    bound: &[BoundAction],
) -> Result<Option<Foreseen>, RunError> {
    let Some(entity) = of.write.returned_entity() else { return Ok(None) };
    Ok(match returned_action(of.plan, entity, actions, bound).map(|(action, _)| action) {
        Some(TransactAction::Put { item, .. }) => Some(Foreseen::Item(without_secrets(of, item.clone()))),
        Some(TransactAction::Update { table, key, .. }) => Some(Foreseen::Place(table.clone(), key.clone())),
        Some(TransactAction::Delete { table, key, .. }) => {
            let item = of.runner.current(table.clone(), key.clone()).await?;
            let item = item.filter(|item| !of.runner.is_over(entity, item));
            item.map(|item| Foreseen::Item(without_secrets(of, item.to_attributes())))
        }
        Some(TransactAction::Check { .. }) | None => None,
    })
}

fn without_secrets(of: &WriteCall<'_>, mut item: Attributes) -> Attributes {
    secrets(of).for_each(|name| drop(item.remove(name)));
    item
}

/// Returns the names of the secret fields of the entity that a write returns.
fn secrets<'a>(of: &WriteCall<'a>) -> impl Iterator<Item = &'a String> + use<'a> {
    let model = &of.runner.checked.model;
    let fields = of.write.returned_entity().into_iter().flat_map(|entity| &model.entity(entity).fields);
    fields.filter(|field| field.flags.secret.is_some()).map(|field| &field.name)
}

/// Adds the result of an update to its record.
async fn complete_record(of: &WriteCall<'_>, once: &Once, item: &Item) {
    let item = AttributeValue::M(without_secrets(of, item.to_attributes()));
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
    drop(of.runner.call(update).await);
}

/// Returns the answer of the first call, if this is a repeated one.
async fn repeated(of: &WriteCall<'_>, once: &Once) -> Result<Option<Result<Option<Found>, RunError>>, RunError> {
    let Some(record) = record(of.runner, once).await? else { return Ok(None) };
    if record.get(REQUEST) != Some(&once.request.as_str().into()) {
        return Ok(Some(Err(RunError::KeyReused)));
    }
    let Some(entity) = of.write.returned_entity() else { return Ok(Some(Ok(None))) };
    let item = match (record.get(ANSWER), record.get(PLACE_TABLE), record.get(PLACE_KEY)) {
        (Some(AttributeValue::M(item)), ..) => Some(Item::from(item)),
        (_, Some(AttributeValue::S(table)), Some(AttributeValue::M(key))) => {
            of.runner.current(table.clone(), key.clone()).await?
        }
        _ => None,
    };
    Ok(Some(item.map(|item| of.runner.found_of(entity, &item, Extent::Present)).transpose()))
}

/// Returns the record of a call, unless it has expired.
async fn record(runner: &Runner, once: &Once) -> Result<Option<Attributes>, RunError> {
    let get = GetItem { table: ANSWERS.to_owned(), key: once.key(), consistent: true, ..GetItem::default() };
    let output = runner.call(get).await.map_err(|error| match error.code() {
        ErrorCode::ResourceNotFound => RunError::NotRunnable(format!(
            "the table {ANSWERS}, which stores the results of idempotency keys, does not exist: create the tables of the model first"
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

/// Hashes each part with its length, so that two different lists never produce the same input.
fn hash(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex::encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use keyform_core::Operation;

    use super::*;
    use crate::run::attempt::testing::{Rig, account, attributes, got, now, transacted, written};

    fn open() -> Rig {
        Rig::new("open", &[("name", "a".into()), ("owner", "ada".into()), ("pin", "1234".into())])
    }

    /// Returns the record of a call, with this answer.
    fn recorded(rig: &Rig, answer: Option<Attributes>) -> Attributes {
        let mut record = rig.write_call().once.unwrap().record();
        record.extend(answer.map(|answer| (ANSWER.to_owned(), AttributeValue::M(answer))));
        record
    }

    fn after(rig: &Rig, result: Result<Written, RunError>) -> Result<Written, RunError> {
        let fixed = rig.fixed();
        let mut attempt = rig.reading(&fixed).decided(result);
        now(Idempotency.after(&mut attempt).result());
        attempt.state.written
    }

    #[test]
    fn a_batch_cannot_have_a_key() {
        let import = Rig::new("import", &[("names", AttributeValue::L(Vec::new()))]);
        assert_eq!(Idempotency.admit(&import.write_call()), Ok(()));
        let refused = Idempotency.admit(&import.under_key("k").write_call());
        assert!(matches!(refused, Err(RunError::NotRunnable(why)) if why.contains("it is a batch")));
    }

    #[test]
    fn a_put_becomes_a_transaction_with_its_record_without_secrets() {
        let rig = open().under_key("k");
        let fixed = rig.fixed();
        let mut attempt = rig.bound(&fixed);
        now(Idempotency.before(&mut attempt).result()).unwrap();
        let WriteOperation::Transact(transaction) = attempt.state.operation else { panic!("no transaction") };
        let [TransactAction::Put { .. }, TransactAction::Put { table, item, condition: Some(_), .. }] =
            transaction.actions.as_slice()
        else {
            panic!("{transaction:?}")
        };
        let Some(AttributeValue::M(answer)) = item.get(ANSWER) else { panic!("{item:?}") };
        assert_eq!((table.as_str(), answer.get("owner"), answer.get("pin")), (ANSWERS, Some(&"ada".into()), None));
    }

    #[test]
    fn a_write_without_key_stays_as_it_is() {
        let rig = open();
        let fixed = rig.fixed();
        let mut attempt = rig.bound(&fixed);
        now(Idempotency.before(&mut attempt).result()).unwrap();
        assert!(matches!(attempt.state.operation, WriteOperation::Put(_)));
    }

    #[test]
    fn the_result_of_an_update_is_added_to_its_record() {
        let stored = account("a", "ada");
        let rig = Rig::new("pay", &[("name", "a".into()), ("amount", 1.into())]).under_key("k");
        let rig = rig.answers([transacted(), got(Some(&stored)), written(None)]);
        let fixed = rig.fixed();
        let mut attempt = rig.sent(&fixed);
        let key = attributes(&[("pk", "ACCOUNT#a".into()), ("sk", "META".into())]);
        attempt.state.promised = Some(Promised::At { table: "Main".to_owned(), key });
        let result = now(Idempotency.decide(&mut attempt).unwrap().result());
        assert!(matches!(result, Ok(Written::Applied(Some(_)))), "{result:?}");
        assert!(matches!(rig.requests().last(), Some(Operation::UpdateItem(update)) if update.table == ANSWERS));
    }

    #[test]
    fn a_repeated_call_gets_the_answer_of_the_first() {
        let rig = open().under_key("k");
        let record = recorded(&rig, Some(account("a", "first")));
        let rig = rig.answers([got(Some(&record))]);
        let refused = RunError::Refused { outcome: "Taken".to_owned(), item: None };
        let result = after(&rig, Err(refused));
        let Ok(Written::Applied(Some(found))) = result else { panic!("{result:?}") };
        assert_eq!((found.fields.get("owner"), found.fields.get("pin")), (Some(&"first".into()), None));
    }

    #[test]
    fn a_repeated_call_that_is_no_longer_permitted_succeeds_without_the_item() {
        let rig = open().under_key("k");
        let record = recorded(&rig, Some(account("a", "first")));
        let rig = rig.answers([got(Some(&record))]);
        let fixed = rig.fixed();
        let mut attempt = rig.reading(&fixed).decided(Err(RunError::Forbidden));
        attempt.permitted = false;
        now(Idempotency.after(&mut attempt).result());
        assert_eq!(attempt.state.written, Ok(Written::Applied(None)));
    }

    #[test]
    fn a_key_that_was_used_for_other_arguments_is_refused() {
        let rig = open().under_key("k");
        let mut record = recorded(&rig, None);
        record.insert(REQUEST.to_owned(), "another".into());
        assert_eq!(after(&rig.answers([got(Some(&record))]), Ok(Written::Kept)), Err(RunError::KeyReused));
    }

    #[test]
    fn a_refused_first_call_stays_refused_and_leaves_no_record() {
        let rig = open().under_key("k").answers([got(None)]);
        assert_eq!(after(&rig, Err(RunError::Forbidden)), Err(RunError::Forbidden));
    }

    #[test]
    fn an_attempt_that_is_repeated_is_not_compared_with_the_record() {
        let rig = open().under_key("k");
        let fixed = rig.fixed();
        let mut attempt = rig.reading(&fixed).decided(Err(RunError::Busy));
        attempt.state.again = true;
        now(Idempotency.after(&mut attempt).result());
        assert!(rig.requests().is_empty());
    }
}
