//! Collects the conditions of an action, each with the outcome if it does not hold.

use keyform_core::expression::{Comparator, Condition, Operand, Path};

use crate::document::ast::{Presence, Verb};
use crate::schema::{Action, Entity, Equality, Outcome};

use super::super::BindError;
use super::super::absence::Subject;
use super::super::condition::{Logic, and};
use super::super::evaluate::Scope;
use super::super::expiry::Expiry;
use super::super::limit::Limit;
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
    /// Collects the conditions of an action. `unchanged` tests the values that were read before; `limits` keep its
    /// changes within the bounds of their types.
    pub(super) fn of(
        scope: &Scope<'_>,
        visited: Visited<'a, '_>,
        unchanged: Vec<Condition>,
        limits: Vec<Limit>,
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
        let equalities = equalities(scope, entity, action)?;
        let checks = action.verb == Verb::Check;
        if !checks {
            for test in &equalities {
                demands.verify(may_lack(action.verb, key, test.clone()), action.outcome.as_ref());
            }
        }
        let presence = match action.verb {
            Verb::Create => Some(Presence::Absent),
            Verb::Update => Some(Presence::Exists),
            Verb::Put | Verb::Upsert | Verb::Delete | Verb::Check => action.presence,
        };
        if let Some(presence) = presence {
            demands.add(present(key, presence), action.outcome.as_ref());
        }
        let subject = Subject { key, may_be_absent: presence != Some(Presence::Exists) };
        for condition in &action.conditions {
            let logic = scope.condition_on(&condition.condition, subject)?;
            if logic == Logic::Known(false) && demands.refused.is_none() {
                demands.refused = Some(Refusal::of(condition.outcome.as_ref()));
            }
            demands.add(logic, condition.outcome.as_ref());
        }
        for limit in limits {
            demands.limit(limit);
        }
        for test in unchanged {
            demands.add(Logic::Test(test), None);
        }
        if checks {
            demands.verify_check(&equalities, action.outcome.as_ref());
        }
        Ok(demands)
    }

    /// Adds an equality of the stored item before all other conditions. An item that fails it is treated as absent.
    fn verify(&mut self, condition: Condition, outcome: Option<&Outcome>) {
        let place = self.list.iter().take_while(|demand| demand.is_equality).count();
        let demand = Demand { condition, refusal: Refusal::of(outcome), is_equality: true, is_strict: false };
        self.list.insert(place, demand);
    }

    /// Adds the equalities of a check. If an absent item passes the check, an item that differs passes it too.
    fn verify_check(&mut self, equalities: &[Condition], outcome: Option<&Outcome>) {
        let passes = self.refused.is_none() && self.list.iter().all(|demand| demand.condition.holds(None));
        for test in equalities {
            if passes {
                let differs = Condition::Not(Box::new(test.clone()));
                for demand in &mut self.list {
                    let other = std::mem::replace(&mut demand.condition, differs.clone());
                    demand.condition = Condition::Or(vec![differs.clone(), other]);
                }
            } else {
                self.verify(test.clone(), outcome);
            }
        }
    }

    /// Adds a condition that a change keeps the type of its field.
    fn limit(&mut self, Limit { logic, outcome, is_strict }: Limit) {
        let refusal = Refusal { outcome, is_permission: false };
        if logic == Logic::Known(false) && self.refused.is_none() {
            self.refused = Some(refusal.clone());
        }
        if let Logic::Test(test) = logic {
            let condition = self.expiry.map_or_else(|| test.clone(), |expiry| expiry.as_absent(test.clone()));
            self.list.push(Demand { condition, refusal, is_equality: false, is_strict });
        }
    }

    fn add(&mut self, logic: Logic, outcome: Option<&Outcome>) {
        if let Logic::Test(test) = logic {
            let condition = match self.expiry {
                Some(expiry) => expiry.as_absent(test),
                None => test,
            };
            self.list.push(Demand { condition, refusal: Refusal::of(outcome), is_equality: false, is_strict: false });
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

/// Returns the tests of the fields that the stored item must have, besides its key. A value that is absent equals none.
pub(super) fn equalities(scope: &Scope<'_>, entity: &Entity, action: &Action) -> Result<Vec<Condition>, BindError> {
    let test = |equality: &Equality| {
        let field = entity.field(equality.field);
        let path = Path::attribute(field.name.clone());
        Ok(match scope.typed(&equality.value, &field.kind)? {
            Some(value) => Condition::Compare {
                left: Operand::Path(path),
                comparator: Comparator::Equal,
                right: Operand::Value(value.into()),
            },
            None => Condition::And(vec![Condition::AttributeExists(path.clone()), Condition::AttributeNotExists(path)]),
        })
    };
    action.equalities.iter().map(test).collect()
}

/// Lets a step that does not need the item succeed without it.
fn may_lack(verb: Verb, key: &str, test: Condition) -> Condition {
    match verb {
        Verb::Create | Verb::Update | Verb::Check => test,
        Verb::Put | Verb::Upsert | Verb::Delete => {
            Condition::Or(vec![Condition::AttributeNotExists(Path::attribute(key)), test])
        }
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
