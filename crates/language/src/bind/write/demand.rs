//! Collects the conditions of an action, each with the outcome if it does not hold.

use keyform_core::expression::{Condition, Path};

use crate::document::ast::{Presence, Verb};
use crate::schema::Outcome;

use super::super::BindError;
use super::super::condition::{Logic, and};
use super::super::evaluate::Scope;
use super::super::expiry::Expiry;
use super::walk::Visited;
use super::{Demand, Refusal};

/// Conditions of one action.
#[derive(Default)]
pub(super) struct Demands<'a> {
    pub(super) list: Vec<Demand>,
    /// Refusal by a condition that is known not to hold before anything is sent.
    pub(super) refused: Option<Refusal>,
    expiry: Option<Expiry<'a>>,
}

impl<'a> Demands<'a> {
    /// Collects the conditions of an action. `unchanged` tests the values that were read before.
    pub(super) fn of(
        scope: &Scope<'_>,
        visited: Visited<'a, '_>,
        unchanged: Vec<Condition>,
    ) -> Result<Self, BindError> {
        let Visited { action, entity, table, .. } = visited;
        let key = table.partition.as_ref().map_or("", |key| key.name.as_str());
        let expiry = Expiry::of(table, entity, scope.inputs.now_millis);
        let mut demands = Self { expiry, ..Self::default() };
        if let Some(expiry) = expiry.filter(|_| action.verb == Verb::Upsert) {
            // ADR 0017: an update would keep the attributes of an expired item, so that item is deleted first.
            demands.expiry = None;
            demands.add(Logic::Test(expiry.lives()), None);
        }
        let presence = match action.verb {
            Verb::Create => Some(Presence::Absent),
            Verb::Update => Some(Presence::Exists),
            Verb::Put | Verb::Upsert | Verb::Delete | Verb::Check => action.presence,
        };
        if let Some(presence) = presence {
            demands.add(present(key, presence), action.outcome.as_ref());
        }
        for condition in &action.conditions {
            let logic = scope.condition(&condition.condition, key)?;
            if logic == Logic::Known(false) && demands.refused.is_none() {
                demands.refused = Some(Refusal::of(condition.outcome.as_ref()));
            }
            demands.add(logic, condition.outcome.as_ref());
        }
        for test in unchanged {
            demands.add(Logic::Test(test), None);
        }
        Ok(demands)
    }

    fn add(&mut self, logic: Logic, outcome: Option<&Outcome>) {
        if let Logic::Test(test) = logic {
            let condition = match self.expiry {
                Some(expiry) => expiry.as_absent(test),
                None => test,
            };
            self.list.push(Demand { condition, refusal: Refusal::of(outcome) });
        }
    }

    /// Combines all conditions into one.
    pub(super) fn condition(&self) -> Option<Condition> {
        let condition = match self.list.as_slice() {
            [one] => one.condition.clone(),
            all => match and(all.iter().map(|demand| Logic::Test(demand.condition.clone()))) {
                Logic::Test(condition) => condition,
                Logic::Known(_) => return None,
            },
        };
        Some(without_repetition(condition))
    }
}

/// Removes duplicate conditions, such as a repeated `attribute_exists`.
fn without_repetition(condition: Condition) -> Condition {
    let Condition::And(tests) = condition else { return condition };
    let mut kept: Vec<Condition> = Vec::new();
    for test in tests {
        if !kept.contains(&test) {
            kept.push(test);
        }
    }
    if kept.len() == 1 { kept.remove(0) } else { Condition::And(kept) }
}

fn present(key: &str, presence: Presence) -> Logic {
    let path = Path::attribute(key);
    Logic::Test(match presence {
        Presence::Exists => Condition::AttributeExists(path),
        Presence::Absent => Condition::AttributeNotExists(path),
    })
}
