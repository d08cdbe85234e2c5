//! Holds guards in the request: a permission that ends after its guard was read makes the request fail with 403.
//!
//! The plan names the guards, and `bind` adds them to the request.

use keyform_language::bind::{BoundAction, Demand, Holder, Refusal};

use super::state::{Attempt, Bound};
use super::step::{Hook, Step};
use crate::run::RunError;
use crate::run::permit::Evidence;

#[derive(Debug)]
pub(super) struct Held;

impl Step for Held {
    fn before<'r>(&self, attempt: &'r mut Attempt<'_, Bound>) -> Hook<'r, Result<(), RunError>> {
        let has_transactions = !attempt.of.runner.settings.without_transactions;
        for evidence in std::mem::take(&mut attempt.guards) {
            hold(&mut attempt.state, &evidence, has_transactions);
        }
        Hook::pass()
    }
}

fn hold(state: &mut Bound, evidence: &Evidence, has_transactions: bool) {
    let condition = evidence.bound.condition(evidence.verdict);
    let refusal = Refusal { is_permission: true, ..Refusal::default() };
    let demand = Demand { condition: condition.clone(), refusal, is_equality: false, is_strict: false };
    let place = (evidence.bound.get.table.as_str(), &evidence.bound.get.key);
    match state.operation.hold(place, &condition, has_transactions) {
        Some(Holder::Action(number)) => {
            if let Some(action) = state.actions.get_mut(number) {
                action.demands.insert(0, demand);
            }
        }
        Some(Holder::Check) => {
            state.actions.insert(0, BoundAction { demands: vec![demand], ..BoundAction::default() });
        }
        None => {}
    }
}
