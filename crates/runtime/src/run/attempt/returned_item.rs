//! Determines the item that a write returns: from the request, from the response, or by reading it.
//!
//! A request of one item returns it. A transaction returns nothing: an item that it puts is known from the request, one
//! that it updates is read afterwards, and one that it deletes is read before.

use keyform_core::operation::{GetItem, ReturnValues, TransactAction};
use keyform_core::{Attributes, Item, Output};
use keyform_language::bind::{BoundAction, WriteOperation};
use keyform_language::plan::WritePlan;
use keyform_language::schema::EntityId;

use super::state::{Attempt, Bound, Sent, WriteCall, Written};
use super::step::{Hook, Step};
use crate::run::found::Extent;
use crate::run::{Found, RunError, Runner};

#[derive(Debug)]
pub(super) struct ReturnedItem;

/// Source of the item that a write returns.
#[derive(Debug, PartialEq)]
pub(super) enum Promised {
    /// The request puts the item, or it was read before the request deletes it.
    Known(Found),
    /// Item under this key after the request.
    At { table: String, key: Attributes },
    /// Item under this key before the request, which deletes it.
    Before { table: String, key: Attributes },
}

impl Step for ReturnedItem {
    fn before<'r>(&self, attempt: &'r mut Attempt<'_, Bound>) -> Hook<'r, Result<(), RunError>> {
        let (of, state) = (attempt.of, &mut attempt.state);
        if let WriteOperation::Update(update) = &mut state.operation {
            update.options.return_values = ReturnValues::AllNew;
        }
        match promised(&of, state) {
            Err(error) => Hook::Ready(Err(error)),
            // With an idempotency key, the record holds the deleted item.
            Ok(Some(Promised::Before { table, key })) if of.once.is_none() => Hook::wait(async move {
                let found = before_delete(&of, state, table, key).await?;
                state.promised = found.map(Promised::Known);
                Ok(())
            }),
            Ok(promised) => {
                state.promised = promised;
                Hook::pass()
            }
        }
    }

    fn decide<'r>(&self, attempt: &'r mut Attempt<'_, Sent>) -> Option<Hook<'r, Result<Written, RunError>>> {
        let (of, state) = (attempt.of, &mut attempt.state);
        let output = state.response.output()?;
        let promised = state.promised.take();
        match output {
            Output::PutItem(output) | Output::UpdateItem(output) | Output::DeleteItem(output) => Some(Hook::Ready(
                match (promised, &output.attributes) {
                    (Some(Promised::Known(found)), _) => Ok(Some(found)),
                    (_, Some(item)) if state.is_delete => returned_living(&of, item),
                    (_, Some(item)) => returned(&of, item),
                    (_, None) => Ok(None),
                }
                .map(Written::Applied),
            )),
            Output::TransactWriteItems(_) => Some(match promised {
                Some(Promised::Known(found)) => Hook::Ready(Ok(Written::Applied(Some(found)))),
                Some(Promised::At { table, key }) => Hook::wait(async move {
                    let item = of.runner.current(table, key).await?;
                    Ok(Written::Applied(item.map(|item| returned(&of, &item)).transpose()?.flatten()))
                }),
                Some(Promised::Before { .. }) | None => Hook::Ready(Ok(Written::Applied(None))),
            }),
            _ => Some(Hook::Ready(Ok(Written::Applied(None)))),
        }
    }
}

/// Converts the item of a response, if the write returns it.
pub(super) fn returned(of: &WriteCall<'_>, item: &Item) -> Result<Option<Found>, RunError> {
    match of.write.returned_entity() {
        Some(entity) => of.runner.found(&[entity], item, Extent::Whole),
        None => Ok(None),
    }
}

/// Converts the item of a response; `None` if it had expired and therefore counts as absent.
fn returned_living(of: &WriteCall<'_>, item: &Item) -> Result<Option<Found>, RunError> {
    let found = returned(of, item)?;
    Ok(found.filter(|found| !of.runner.is_over(found.entity, item)))
}

/// Reads the item that a transaction is about to delete, because its response does not include it.
async fn before_delete(
    of: &WriteCall<'_>,
    state: &Bound,
    table: String,
    key: Attributes,
) -> Result<Option<Found>, RunError> {
    let item = match state.current.iter().find(|current| current.table == table && current.key == key) {
        Some(current) => current.item.as_ref().map(Item::from),
        None => of.runner.current(table, key).await?,
    };
    item.map(|item| returned_living(of, &item)).transpose().map(Option::flatten)
}

/// Returns the source of the item that the write returns.
fn promised(of: &WriteCall<'_>, state: &Bound) -> Result<Option<Promised>, RunError> {
    let Some(entity) = of.write.returned_entity() else { return Ok(None) };
    let known = |action: Option<&BoundAction>, item| {
        let planned = action.and_then(|action| of.plan.at(&action.step));
        let outline = planned.and_then(|planned| planned.outline.as_deref());
        of.runner.found_in_request(entity, outline, item).map(|found| Some(Promised::Known(found)))
    };
    match &state.operation {
        WriteOperation::Put(put) => known(state.actions.first(), &put.item),
        WriteOperation::Transact(transaction) => {
            match returned_action(of.plan, entity, &transaction.actions, &state.actions) {
                Some((TransactAction::Put { item, .. }, action)) => known(Some(action), item),
                Some((TransactAction::Update { table, key, .. }, _)) => {
                    Ok(Some(Promised::At { table: table.clone(), key: key.clone() }))
                }
                Some((TransactAction::Delete { table, key, .. }, _)) => {
                    Ok(Some(Promised::Before { table: table.clone(), key: key.clone() }))
                }
                Some((TransactAction::Check { .. }, _)) | None => Ok(None),
            }
        }
        WriteOperation::Update(_) | WriteOperation::Delete(_) | WriteOperation::Batch(_) => Ok(None),
    }
}

/// Returns the action whose item the write returns: the first that creates or changes an item of the entity, otherwise
/// the first that deletes one.
pub(super) fn returned_action<'a>(
    plan: &WritePlan,
    entity: EntityId,
    actions: &'a [TransactAction],
    bound: &'a [BoundAction],
) -> Option<(&'a TransactAction, &'a BoundAction)> {
    let is_its = |bound: &BoundAction| plan.at(&bound.step).is_some_and(|planned| planned.entity == entity);
    let its = || actions.iter().zip(bound).filter(|(_, bound)| is_its(bound));
    let makes = |action: &TransactAction| matches!(action, TransactAction::Put { .. } | TransactAction::Update { .. });
    let deletes = |action: &TransactAction| matches!(action, TransactAction::Delete { .. });
    its().find(|(action, _)| makes(action)).or_else(|| its().find(|(action, _)| deletes(action)))
}

impl Runner {
    /// Reads an item, consistently.
    pub(in crate::run) async fn current(&self, table: String, key: Attributes) -> Result<Option<Item>, RunError> {
        let get = GetItem { table, key, consistent: true, ..GetItem::default() };
        Ok(self.call(get).await?.item)
    }
}

#[cfg(test)]
mod tests {
    use keyform_core::AttributeValue;

    use super::{Promised, ReturnedItem};
    use crate::run::attempt::state::Written;
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{Rig, account, got, now, transacted, written};
    use crate::run::{Found, RunError};

    fn owner(found: &Found) -> Option<&AttributeValue> {
        found.fields.get("owner")
    }

    /// Runs both hooks around a request with the next answers of the script.
    fn returned(rig: &Rig) -> Result<Written, RunError> {
        let fixed = rig.fixed();
        let mut attempt = rig.bound(&fixed);
        now(ReturnedItem.before(&mut attempt).result())?;
        let mut attempt = now(attempt.send());
        now(ReturnedItem.decide(&mut attempt).unwrap().result())
    }

    #[test]
    fn a_put_item_is_known_before_it_is_sent() {
        let rig = Rig::new("open", &[("name", "a".into()), ("owner", "ada".into()), ("pin", "1234".into())]);
        let fixed = rig.fixed();
        let mut attempt = rig.bound(&fixed);
        now(ReturnedItem.before(&mut attempt).result()).unwrap();
        assert!(matches!(&attempt.state.promised, Some(Promised::Known(found)) if owner(found) == Some(&"ada".into())));
    }

    #[test]
    fn an_updated_item_comes_from_the_response() {
        let stored = account("a", "ada");
        let rig = Rig::new("pay", &[("name", "a".into()), ("amount", 1.into())]).answers([written(Some(&stored))]);
        let result = returned(&rig);
        assert!(
            matches!(&result, Ok(Written::Applied(Some(found))) if owner(found) == Some(&"ada".into())),
            "{result:?}"
        );
    }

    #[test]
    fn an_item_updated_in_a_transaction_is_read_afterwards() {
        let stored = account("a", "ada");
        let rig =
            Rig::new("move", &[("name", "a".into()), ("to", "b".into())]).answers([transacted(), got(Some(&stored))]);
        let result = returned(&rig);
        assert!(
            matches!(&result, Ok(Written::Applied(Some(found))) if owner(found) == Some(&"ada".into())),
            "{result:?}"
        );
    }

    #[test]
    fn a_write_without_result_returns_nothing() {
        let rig = Rig::new("leave", &[("room", "r".into())]).answers([written(None)]);
        assert_eq!(returned(&rig), Ok(Written::Applied(None)));
    }

    #[test]
    fn an_error_is_left_to_the_other_steps() {
        let rig = Rig::new("leave", &[("room", "r".into())]);
        let rig = rig.answers([Err(keyform_core::error::transaction::conflict())]);
        let fixed = rig.fixed();
        assert!(ReturnedItem.decide(&mut rig.sent(&fixed)).is_none());
    }
}
