//! Repeats a write that a condition refused although the model may allow it, with the item that the store returned.
//!
//! `add` of several elements to a set with a maximum: how many of them are new is unknown before the request, so its
//! condition counts all of them. Once the item is known, the next attempt tests that it is unchanged instead. A `put`
//! that continues the version of the item it replaces is repeated with the version that a concurrent write has made.

use keyform_core::Item;
use keyform_language::bind::CurrentItem;

use super::state::{Attempt, Sent, Written};
use super::step::{Hook, Step};
use crate::contention::first_failed_condition;
use crate::run::RunError;

#[derive(Debug)]
pub(super) struct Exact;

impl Step for Exact {
    fn decide<'r>(&self, attempt: &'r mut Attempt<'_, Sent>) -> Option<Hook<'r, Result<Written, RunError>>> {
        let seen = refused_by_strict(&attempt.state)?;
        attempt.fixed.see(seen);
        Some(Hook::Ready(Err(RunError::Busy)))
    }
}

/// Returns the item that failed a condition which is stricter than the model.
fn refused_by_strict(sent: &Sent) -> Option<CurrentItem> {
    let failed = first_failed_condition(sent.response.error()?)?;
    let action = sent.actions.get(failed.action)?;
    let demand = action.demands.iter().find(|demand| !demand.condition.holds(failed.item))?;
    let strict = action.strict.as_ref().filter(|_| demand.is_strict)?;
    Some(CurrentItem { item: failed.item.map(Item::to_attributes), ..strict.clone() })
}
