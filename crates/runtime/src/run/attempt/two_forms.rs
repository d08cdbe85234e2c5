//! Before a write of an evolving entity, migrates the old items that it touches, so that the write only meets the new
//! form.
//!
//! A settled item stays settled: only a rollback turns new items into old ones, and it waits until no instance writes
//! (ADR 0015). So the write that follows need not know about forms.

use std::sync::{Mutex, PoisonError};

use keyform_core::operation::{TransactAction, WriteRequest};
use keyform_core::{AttributeValue, Attributes};

use crate::evolve::find::{Lookup, candidates, get};
use crate::evolve::{Carried, Class, Form, carry};
use keyform_language::bind::{self, Fresh, Inputs, WriteOperation};
use keyform_language::plan::WritePlan;
use keyform_language::schema::{EntityId, Write};

use super::state::{Attempt, Read};
use super::step::{Hook, Step};
use crate::run::evolving::lookup;
use crate::run::{RunError, Runner};

/// A shorter id could occur in a key by chance.
const ID_LENGTH_MIN: usize = 8;
/// Old items that one key may turn out to have before the write gives up.
const ROUNDS_MAX: u32 = 16;

#[derive(Debug)]
pub(super) struct TwoForms;

impl Step for TwoForms {
    fn read<'r, 'a>(&self, attempt: &'r mut Attempt<'a, Read<'a>>) -> Hook<'r, Result<(), RunError>> {
        let (of, inputs) = (attempt.of, &attempt.state.inputs);
        match of.runner.evolving {
            Some(_) => Hook::wait(of.runner.settle(of.write, of.plan, inputs)),
            None => Hook::pass(),
        }
    }
}

impl Runner {
    /// Migrates the old items that a write touches.
    async fn settle(&self, write: &Write, plan: &WritePlan, inputs: &Inputs<'_>) -> Result<(), RunError> {
        let entities: Vec<EntityId> = plan.actions.iter().map(|action| action.entity).collect();
        let forms = self.open_forms_for_write(&entities).await?;
        if forms.is_empty() {
            return Ok(());
        }
        let fresh = Noted { fresh: &self.world, given: Mutex::default() };
        let previewed = Inputs { fresh: &fresh, ..inputs.clone() };
        let bound = bind::write(&self.checked.model, write, plan, &previewed)?;
        for (table, item) in bound.operation.iter().flat_map(targets) {
            for form in forms.iter().filter(|form| form.new.name == table && form.new.has_key(&item)) {
                let key = form.new.key_of(&item);
                if !fresh.is_in(&key) {
                    self.settle_item(form, key).await?;
                }
            }
        }
        Ok(())
    }

    pub(in crate::run) async fn settle_item(&self, form: &Form, key: Attributes) -> Result<(), RunError> {
        let (mut tries, mut rounds) = (0, 0);
        while let Some(old) = self.unsettled(form, &key).await? {
            if !form.in_place && self.settings.without_transactions {
                let name = &form.new.entity.name;
                return Err(RunError::NotRunnable(format!(
                    "an item of {name} must move in a transaction, which this store does not support"
                )));
            }
            match carry(&*self.store, form, &old, self.world.now_millis()).await?.0 {
                // The next iteration finds nothing, or an item that another process wrote in the meantime; the limit
                // keeps this from going on forever.
                Carried::Moved | Carried::Superseded | Carried::Already if rounds < ROUNDS_MAX => rounds += 1,
                Carried::Moved | Carried::Superseded | Carried::Already => return Err(RunError::Busy),
                Carried::Busy => {
                    tries += 1;
                    self.pause(tries).await?;
                }
                Carried::Stuck(why) => {
                    let name = &form.new.entity.name;
                    return Err(RunError::NotRunnable(format!("an old item of {name} cannot be migrated: {why}")));
                }
            }
        }
        Ok(())
    }

    /// Returns the old item that is still authoritative for this key.
    async fn unsettled(&self, form: &Form, key: &Attributes) -> Result<Option<Attributes>, RunError> {
        let is_old = |item: &Attributes| form.class(item) == Class::Old;
        if form.in_place {
            return Ok(get(&*self.store, &form.new.name, key.clone()).await?.filter(is_old));
        }
        match lookup(form, key) {
            Lookup::Nothing => Ok(None),
            Lookup::Get(old) => {
                let found = get(&*self.store, &form.old.name, old).await?.filter(is_old);
                let becomes = |old: &Attributes| form.converted(old, 0).is_ok_and(|new| form.new.key_of(&new) == *key);
                Ok(found.filter(becomes))
            }
            search => {
                // An existing new item is authoritative.
                if get(&*self.store, &form.new.name, key.clone()).await?.is_some_and(|item| !is_old(&item)) {
                    return Ok(None);
                }
                let found = candidates(&*self.store, form, &search, self.world.now_millis()).await?;
                Ok(found.into_iter().find(|found| form.new.key_of(&found.new) == *key).and_then(|found| found.old))
            }
        }
    }
}

/// Returns the items that a request touches: for a put the whole item, otherwise the key.
pub(super) fn targets(operation: &WriteOperation) -> Vec<(String, Attributes)> {
    match operation {
        WriteOperation::Put(put) => vec![(put.table.clone(), put.item.clone())],
        WriteOperation::Update(update) => vec![(update.table.clone(), update.key.clone())],
        WriteOperation::Delete(delete) => vec![(delete.table.clone(), delete.key.clone())],
        WriteOperation::Transact(transaction) => transaction.actions.iter().map(target).collect(),
        WriteOperation::Batch(batch) => {
            let each = |(table, requests): &(String, Vec<WriteRequest>)| -> Vec<(String, Attributes)> {
                let item = |request: &WriteRequest| match request {
                    WriteRequest::Put(item) => item.clone(),
                    WriteRequest::Delete(key) => key.clone(),
                };
                requests.iter().map(|request| (table.clone(), item(request))).collect()
            };
            batch.tables.iter().flat_map(each).collect()
        }
    }
}

fn target(action: &TransactAction) -> (String, Attributes) {
    match action {
        TransactAction::Put { table, item, .. } => (table.clone(), item.clone()),
        TransactAction::Update { table, key, .. }
        | TransactAction::Delete { table, key, .. }
        | TransactAction::Check { table, key, .. } => (table.clone(), key.clone()),
    }
}

/// Records the fresh ids it generates: an item whose key contains one cannot exist yet.
struct Noted<'a> {
    fresh: &'a dyn Fresh,
    given: Mutex<Vec<String>>,
}

impl Noted<'_> {
    fn note(&self, value: String) -> String {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).push(value.clone());
        value
    }

    fn is_in(&self, key: &Attributes) -> bool {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |value: &AttributeValue| {
            let is_fresh = |text: &str| given.iter().any(|id| id.len() >= ID_LENGTH_MIN && text.contains(id.as_str()));
            matches!(value, AttributeValue::S(text) if is_fresh(text))
        };
        key.values().any(holds)
    }
}

impl Fresh for Noted<'_> {
    fn ulid(&self) -> String {
        self.note(self.fresh.ulid())
    }

    fn uuid(&self) -> String {
        self.note(self.fresh.uuid())
    }

    fn code(&self, length: usize) -> String {
        self.note(self.fresh.code(length))
    }

    fn token(&self, bytes: usize) -> String {
        self.note(self.fresh.token(bytes))
    }
}

#[cfg(test)]
mod tests {
    use keyform_core::Operation;

    use super::TwoForms;
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{Rig, attributes, got, now, written};
    use crate::run::{RunError, RunSettings};

    const MODEL: &str = r#"
        model shop
        table Orders { key pk }
        entity Order in Orders {
          key "ORDER#{orderId}"
          orderId:  slug(1..20)
          currency: string(3)
        }
        evolve Order { set currency = "EUR" }
        write convert(orderId, currency) { update Order(orderId) { currency = currency } else UnknownOrder }
    "#;

    fn convert() -> Rig {
        Rig::of(MODEL, "convert", &[("orderId", "a".into()), ("currency", "USD".into())], RunSettings::default())
    }

    fn read(rig: &Rig) -> Result<(), RunError> {
        let fixed = rig.fixed();
        now(TwoForms.read(&mut rig.reading(&fixed)).result())
    }

    #[test]
    fn an_old_item_is_converted_before_the_write() {
        let old = attributes(&[("pk", "ORDER#a".into()), ("orderId", "a".into())]);
        let new = attributes(&[("pk", "ORDER#a".into()), ("orderId", "a".into()), ("currency", "EUR".into())]);
        let rig = convert().answers([got(None), got(Some(&old)), written(None), got(Some(&new))]);
        assert_eq!(read(&rig), Ok(()));
        assert!(
            matches!(&rig.requests()[2], Operation::PutItem(put) if put.item == new && put.options.condition.is_some())
        );
    }

    #[test]
    fn writes_are_refused_during_a_rollback() {
        let state = attributes(&[("id", "shop".into()), ("phase", "rolling-back".into())]);
        let rig = convert().answers([got(Some(&state))]);
        assert!(matches!(read(&rig), Err(RunError::NotRunnable(why)) if why.contains("rolled back")));
    }

    #[test]
    fn a_model_without_evolutions_reads_nothing() {
        let rig = Rig::new("leave", &[("room", "r".into())]);
        assert_eq!((read(&rig), rig.requests().len()), (Ok(()), 0));
    }
}
