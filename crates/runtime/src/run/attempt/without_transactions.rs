//! Runs writes on a store without transactions, as far as one plain request is enough.

use keyform_core::operation::TransactAction;
use keyform_language::bind::{self, WriteOperation};
use keyform_language::bookkeeping::CASCADES;
use keyform_language::plan::{self, Role, WritePlan};
use keyform_language::schema::Write;

use super::state::{Attempt, Bound, WriteCall};
use super::step::{Hook, Step};
use crate::run::{RunError, Runner};

#[derive(Debug)]
pub(super) struct WithoutTransactions;

impl Step for WithoutTransactions {
    fn admit(&self, call: &WriteCall<'_>) -> Result<(), RunError> {
        obstacle(call.runner, call.write, call.plan).map_or(Ok(()), |why| Err(RunError::NotRunnable(why)))
    }

    /// Takes the intents out of the request of a cascading delete, which leaves one action.
    fn before<'r>(&self, attempt: &'r mut Attempt<'_, Bound>) -> Hook<'r, Result<(), RunError>> {
        let (write, state) = (attempt.of.write, &mut attempt.state);
        if !attempt.of.runner.settings.without_transactions || state.deleted.parents.is_empty() {
            return Hook::pass();
        }
        if let WriteOperation::Transact(transaction) = &mut state.operation {
            let is_intent = |action: &mut TransactAction| action.table() == CASCADES;
            let intents: Vec<TransactAction> = transaction.actions.extract_if(.., is_intent).collect();
            let item = |action| match action {
                TransactAction::Put { item, .. } => Some(item),
                TransactAction::Update { .. } | TransactAction::Delete { .. } | TransactAction::Check { .. } => None,
            };
            state.deleted.intents.extend(intents.into_iter().filter_map(item));
            if let Some(only) = transaction.actions.pop() {
                state.operation = bind::single(write, only);
            }
        }
        Hook::pass()
    }
}

/// Returns the reason why the runner's store cannot run a write, if there is one.
pub(in crate::run) fn obstacle(runner: &Runner, write: &Write, plan: &WritePlan) -> Option<String> {
    if !runner.settings.without_transactions {
        return None;
    }
    if plan.needs_transaction() {
        return Some(format!("`{}` is a transaction, which this store does not support", write.name));
    }
    let guarded = guarded_below(runner, plan)?;
    Some(format!(
        "`{}` also deletes items of {guarded}, whose unique values need transactions, which this store does not support",
        write.name
    ))
}

/// Returns an entity with unique fields among those that the write's deletes cascade to.
fn guarded_below<'a>(runner: &'a Runner, plan: &WritePlan) -> Option<&'a str> {
    let model = &runner.checked.model;
    let parents = plan.actions.iter().filter(|planned| planned.role == Role::Intend).map(|planned| planned.entity);
    let mut below = parents.flat_map(|parent| runner.checked.plans.dependents.reach(parent));
    let guarded = below.find(|id| plan::guarded_fields(model.entity(*id)).next().is_some());
    guarded.map(|id| model.entity(id).name.as_str())
}

#[cfg(test)]
mod tests {
    use keyform_language::bind::WriteOperation;

    use super::WithoutTransactions;
    use crate::run::RunError;
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{Rig, now};

    #[test]
    fn a_transaction_is_refused_only_where_the_store_has_none() {
        let arguments = [("name", "a".into()), ("to", "b".into())];
        let refused = WithoutTransactions.admit(&Rig::without_transactions("move", &arguments).write_call());
        let why = "`move` is a transaction, which this store does not support";
        assert_eq!(refused, Err(RunError::NotRunnable(why.to_owned())));
        assert_eq!(WithoutTransactions.admit(&Rig::new("move", &arguments).write_call()), Ok(()));
    }

    #[test]
    fn the_intents_of_a_delete_leave_its_request() {
        let rig = Rig::without_transactions("clear", &[("shelf", "s".into())]);
        let fixed = rig.fixed();
        let mut attempt = rig.bound(&fixed);
        now(WithoutTransactions.before(&mut attempt).result()).unwrap();
        assert!(matches!(attempt.state.operation, WriteOperation::Delete(_)));
        assert_eq!(attempt.state.deleted.intents.len(), 1);
    }

    #[test]
    fn the_request_stays_a_transaction_where_the_store_has_them() {
        let rig = Rig::new("clear", &[("shelf", "s".into())]);
        let fixed = rig.fixed();
        let mut attempt = rig.bound(&fixed);
        now(WithoutTransactions.before(&mut attempt).result()).unwrap();
        assert!(matches!(&attempt.state.operation, WriteOperation::Transact(request) if request.actions.len() == 2));
        assert!(attempt.state.deleted.intents.is_empty());
    }
}
