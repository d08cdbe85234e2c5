//! Judges the items that a pattern touches: each must have a field that equals an authorised value, in every
//! alternative of the pattern's `allow`.

use std::collections::BTreeSet;

use crate::document::ast::Verb;
use crate::plan::Plans;
use crate::schema::{
    Action, ChangeKind, EntityId, Expr, ExprKind, FieldId, Guard, LetSource, Model, Read, ReadId, Write, WriteStep,
};
use crate::span::Span;

use super::admitted;
use super::call::{is_of_caller, is_tied};
use super::disjunct::{claim, disjuncts, equality, is_for_operators};
use super::domain::Domains;
use super::enforced::{self, Enforced};
use super::fact::{Facts, Pattern};
use super::given::Given;
use super::reach;

/// What a pattern does with an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Returns, counts or streams it.
    Read,
    /// Runs a step on it.
    Step(Verb),
    /// Deletes it because it refers to a deleted item, which need not exist.
    Cascade,
}

/// An item outside the scope that `allow` authorises.
#[derive(Clone, Debug)]
pub struct Unbound {
    /// Entity of the item.
    pub entity: EntityId,
    /// What the pattern does with it.
    pub act: Act,
    /// Source range of the step, or of the entity in the result.
    pub span: Span,
    /// Index of the alternative of `allow` that lets it through.
    pub alternative: usize,
    /// Field that decides what a guard grants and is not authorised; `None` if nothing of the item is.
    pub authority: Option<Authority>,
}

/// Field of an item that a guard reads, which the caller chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority {
    /// An argument of the guard stands in this field.
    Scope(FieldId),
    /// The guard's condition tests this field.
    Right(FieldId),
    /// The field has `grants`: the item authorises its holder for what the field names.
    Grant(FieldId),
}

/// Verdict on a pattern.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// Items outside the scope.
    pub unbound: Vec<Unbound>,
    /// `unscoped` clauses without effect, by index.
    pub needless: Vec<usize>,
}

/// Judges a read.
#[must_use]
pub fn read<'a>(model: &'a Model, plans: &'a Plans, domains: &'a Domains<'a>, id: ReadId) -> Judged {
    let read = model.read(id);
    let (Some(allow), Some(plan)) = (&read.allow, plans.read(id)) else { return Judged::default() };
    if allow.condition().is_some_and(is_unresolved) {
        return Judged::default();
    }
    let pattern = Pattern { parameters: &read.parameters, lets: &[], requires: &[], write: None, allow };
    let mut judged = Vec::new();
    for (alternative, conditions) in disjuncts(allow).into_iter().enumerate() {
        if is_for_operators(model, &conditions) {
            continue;
        }
        let facts = Facts::of(model, plans, domains, pattern, &conditions);
        for entity in read.result.entities() {
            let values = enforced::of_read(model, read, plan, entity);
            let is_bound = values.iter().any(|it| {
                model.entity(entity).field(it.field).flags.bearer.is_some() || facts.binds(entity, it.field, &it.value)
            });
            if !is_bound {
                let span = result_span(read, entity);
                judged.push(Unbound { entity, act: Act::Read, span, alternative, authority: None });
            }
        }
    }
    without_unscoped(judged, &read.unscoped)
}

fn result_span(read: &Read, entity: EntityId) -> Span {
    match &read.result {
        crate::schema::Result::Parts(parts) => {
            parts.iter().find(|(of, _, _)| *of == Some(entity)).map_or(read.name_span, |(_, _, span)| *span)
        }
        crate::schema::Result::Count(_, span) => *span,
    }
}

/// Judges a write.
#[must_use]
pub fn write<'a>(model: &'a Model, plans: &'a Plans, domains: &'a Domains<'a>, write: &'a Write) -> Judged {
    let Some(allow) = &write.allow else { return Judged::default() };
    let reads = write.lets.iter().any(|it| matches!(it.source, LetSource::Unknown));
    let requires = write.requires.iter().any(|require| is_unresolved(&require.condition));
    if reads || requires || allow.condition().is_some_and(is_unresolved) {
        return Judged::default();
    }
    let pattern = Pattern {
        parameters: &write.parameters,
        lets: &write.lets,
        requires: &write.requires,
        write: Some(write),
        allow,
    };
    let mut unbound = Vec::new();
    for (alternative, conditions) in disjuncts(allow).into_iter().enumerate() {
        if is_for_operators(model, &conditions) {
            continue;
        }
        let facts = Facts::of(model, plans, domains, pattern, &conditions);
        for (number, entity) in reach::lets(&facts, write) {
            let span = write.lets[number].span;
            unbound.push(Unbound { entity, act: Act::Read, span, alternative, authority: None });
        }
        let unbound = &mut unbound;
        let given = Given::of(write);
        let mut pass =
            Pass { model, plans, domains, write, given, conditions: &conditions, facts, alternative, unbound };
        pass.steps(&write.steps);
    }
    without_unscoped(unbound, &write.unscoped)
}

/// Removes the items that `unscoped` clauses name.
fn without_unscoped(mut unbound: Vec<Unbound>, clauses: &[crate::schema::Unscoped]) -> Judged {
    let names = |clause: &crate::schema::Unscoped, it: &Unbound| clause.entity == Some(it.entity);
    let is_needless = |(_, clause): &(usize, &crate::schema::Unscoped)| {
        clause.entity.is_some() && !unbound.iter().any(|it| names(clause, it))
    };
    let needless = clauses.iter().enumerate().filter(is_needless).map(|(number, _)| number).collect();
    // What a guard reads decides who may do what, so no reason opens it to every caller.
    unbound.retain(|it| it.authority.is_some() || !clauses.iter().any(|clause| names(clause, it)));
    let mut seen: Vec<(Span, EntityId, Option<Authority>)> = Vec::new();
    unbound.retain(|it| {
        let is_new = !seen.contains(&(it.span, it.entity, it.authority));
        seen.push((it.span, it.entity, it.authority));
        is_new
    });
    Judged { unbound, needless }
}

struct Pass<'p, 'a> {
    model: &'a Model,
    plans: &'a Plans,
    domains: &'a Domains<'a>,
    write: &'a Write,
    given: Given<'a>,
    conditions: &'p [&'a Expr],
    facts: Facts<'a>,
    alternative: usize,
    unbound: &'p mut Vec<Unbound>,
}

impl<'a> Pass<'_, 'a> {
    fn steps(&mut self, steps: &'a [WriteStep]) {
        for step in steps {
            match step {
                WriteStep::Action(action) => self.action(action),
                WriteStep::For(each) => {
                    self.facts.enter(&each.list);
                    self.given.enter(&each.list);
                    self.steps(&each.steps);
                    self.given.leave();
                    self.facts.leave();
                }
            }
        }
    }

    fn action(&mut self, action: &'a Action) {
        let Some(entity) = action.entity.filter(|&id| is_resolved(self.model, id, action)) else { return };
        let is_bound = match action.verb {
            Verb::Create => self.is_new_bound(entity, action),
            Verb::Put | Verb::Upsert | Verb::Update => {
                self.is_stored_bound(entity, action) && self.is_new_bound(entity, action)
            }
            Verb::Delete | Verb::Check => self.is_stored_bound(entity, action),
        };
        if !is_bound {
            self.found(entity, action, None);
        } else if action.verb == Verb::Delete && !self.facts.is_read_item(entity, &action.keys) {
            for entity in reach::cascade(self.plans, &self.facts, entity, action) {
                let (act, span) = (Act::Cascade, action.entity_span);
                self.unbound.push(Unbound { entity, act, span, alternative: self.alternative, authority: None });
            }
        }
        if !matches!(action.verb, Verb::Delete | Verb::Check) {
            for authority in self.authorities(entity, action) {
                // An item outside every scope is reported as such.
                if is_bound || !matches!(authority, Authority::Grant(_)) {
                    self.found(entity, action, Some(authority));
                }
            }
        }
    }

    fn found(&mut self, entity: EntityId, action: &Action, authority: Option<Authority>) {
        let (act, span) = (Act::Step(action.verb), action.entity_span);
        self.unbound.push(Unbound { entity, act, span, alternative: self.alternative, authority });
    }

    /// Returns the fields of the stored item that are compared. A batch has no conditions.
    fn stored(&self, entity: EntityId, action: &Action) -> Vec<Enforced> {
        let mut values = enforced::of_step(self.model.entity(entity), action);
        values.retain(|it| it.by_key || self.write.batch.is_none());
        values
    }

    fn is_stored_bound(&self, entity: EntityId, action: &Action) -> bool {
        let item = self.model.entity(entity);
        let is_bound = |it: &Enforced| {
            item.field(it.field).flags.bearer.is_some() || self.facts.binds(entity, it.field, &it.value)
        };
        self.facts.is_read_item(entity, &action.keys) || self.stored(entity, action).iter().any(is_bound)
    }

    /// Returns true if the item is in the scope after the step: by a value that the step sets, or by one that it keeps.
    fn is_new_bound(&self, entity: EntityId, action: &Action) -> bool {
        let is_set = |field: FieldId| action.value_of(field).is_some();
        let set = (0..self.model.entity(entity).fields.len()).map(FieldId);
        let mut set = set.filter_map(|field| Some((field, action.value_of(field)?)));
        let is_placed = reach::is_placed(self.domains, &self.facts, entity, action);
        if set.any(|(field, value)| self.facts.binds(entity, field, value) && !(is_placed && self.facts.is_made(value)))
        {
            return true;
        }
        let kept = || self.stored(entity, action).into_iter().filter(|it| !is_set(it.field));
        action.verb != Verb::Create
            && (self.facts.is_read_item(entity, &action.keys)
                || kept().any(|it| {
                    let is_bearer = self.model.entity(entity).field(it.field).flags.bearer.is_some();
                    is_bearer || self.facts.binds(entity, it.field, &it.value)
                }))
    }

    /// Returns the fields with which the caller would grant itself or others a right that it does not have.
    fn authorities(&self, entity: EntityId, action: &'a Action) -> Vec<Authority> {
        let mut found = Vec::new();
        for (number, guard) in self.model.guards.iter().enumerate() {
            let callers = self.domains.caller_parameters(number);
            if guard.entity != Some(entity) || !is_tied(guard, callers) {
                continue;
            }
            let value = |field: FieldId| action.value_of(field).or_else(|| key_value(action, field));
            for (field, of) in &guard.keys {
                let is_argument = !of.parameters().is_empty() && !is_of_caller(of, callers);
                let is_bound = value(*field).is_none_or(|value| self.facts.binds(entity, *field, value));
                if is_argument && !is_bound && !self.facts.is_read_item(entity, &action.keys) {
                    found.push(Authority::Scope(*field));
                }
            }
            for field in guard.condition.iter().flat_map(Expr::own_fields) {
                // A guard that compares the field with a claim decides by the scope of the item.
                let is_bound = action.value_of(field).is_some_and(|value| self.facts.binds(entity, field, value));
                let is_chosen = self.is_chosen(action, field) && self.may_hold(guard, action, field) && !is_bound;
                if (is_chosen || self.is_raised(guard, action, field)) && !self.implies(guard) {
                    found.push(Authority::Right(field));
                }
            }
        }
        found.extend(self.granted(entity, action).map(Authority::Grant));
        found.dedup();
        found
    }

    /// Returns the references with `grants` that a step sets to a value that the caller is not authorised for.
    fn granted(&self, entity: EntityId, action: &'a Action) -> impl Iterator<Item = FieldId> {
        let item = self.model.entity(entity);
        let grants = (0..item.fields.len()).map(FieldId).filter(|&field| item.field(field).flags.grants.is_some());
        grants.filter(move |&field| {
            let value = action.value_of(field).or_else(|| key_value(action, field).filter(|_| may_make(action.verb)));
            let is_known = |value| {
                let domain = self.domains.field(entity, field);
                domain.is_some_and(|domain| self.facts.knows(value, &domain))
            };
            value.is_some_and(|value| reach::is_given(value) && !is_known(value))
        })
    }

    /// Returns true if the caller chooses the value that a step gives a field.
    fn is_chosen(&self, action: &'a Action, field: FieldId) -> bool {
        action.changes.iter().filter(|change| change.field == Some(field)).any(|change| match &change.kind {
            ChangeKind::Set(value)
            | ChangeKind::Increase(value)
            | ChangeKind::Decrease(value)
            | ChangeKind::Append(value)
            | ChangeKind::Add(value) => self.given.is_chosen(value),
            ChangeKind::Take(_) | ChangeKind::Remove => false,
        })
    }

    /// Returns true if a step gives a literal that satisfies a guard to a caller who has passed another guard on the same
    /// entity. Conditions of the step may demand more of the item, so such a step is not judged.
    fn is_raised(&self, wanted: &Guard, action: &'a Action, field: FieldId) -> bool {
        let value = action.value_of(field).filter(|_| action.conditions.is_empty());
        let value = value.map(|value| self.given.resolved(value));
        let is_passed = || {
            self.conditions.iter().any(|condition| {
                matches!(&condition.kind, ExprKind::Guard { guard, .. }
                    if self.model.guards[guard.0].entity == wanted.entity)
            })
        };
        let condition = wanted.condition.as_ref();
        value
            .zip(condition)
            .is_some_and(|(value, condition)| admitted::satisfies(self.model, value, condition, field) && is_passed())
    }

    /// Returns true if the caller has passed a guard on the same entity that demands at least as much, or a permission
    /// that cannot be compared with it: the owner of the scope itself, or a right that the token states.
    fn implies(&self, wanted: &Guard) -> bool {
        self.conditions.iter().any(|condition| {
            let ExprKind::Guard { guard, .. } = &condition.kind else { return states_right(condition) };
            let has = &self.model.guards[guard.0];
            if has.entity != wanted.entity {
                return is_owner(has, self.domains.caller_parameters(guard.0));
            }
            match (&has.condition, &wanted.condition) {
                (_, None) => true,
                (Some(has), Some(wanted)) => admitted::implies(self.model, has, wanted),
                (None, Some(_)) => false,
            }
        })
    }

    /// Returns true if a value that callers may give satisfies a guard's condition.
    fn may_hold(&self, guard: &Guard, action: &'a Action, field: FieldId) -> bool {
        let kind = action.value_of(field).and_then(|value| self.given.kind(value));
        guard
            .condition
            .as_ref()
            .zip(kind)
            .is_none_or(|(condition, kind)| admitted::may_satisfy(self.model, kind, condition, field))
    }
}

/// Returns true if a condition compares a claim with a literal, or is a boolean claim.
fn states_right(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::In(of, _) => claim(of).is_some(),
        _ => match equality(condition) {
            Some((left, right)) => {
                let is_stated = |one: &Expr, other: &Expr| claim(one).is_some() && other.constant().is_some();
                is_stated(left, right) || is_stated(right, left)
            }
            None => claim(condition).is_some(),
        },
    }
}

/// Returns true if a guard compares a field of its item with the caller and has no claim in the item's key: the item
/// names its owner.
fn is_owner(guard: &Guard, callers: &BTreeSet<usize>) -> bool {
    is_tied(guard, callers) && !guard.keys.iter().any(|(_, value)| is_of_caller(value, callers))
}

/// Returns true if a part of an expression did not resolve, which was already reported.
fn is_unresolved(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| found |= matches!(part.kind, ExprKind::Unknown));
    found
}

/// Returns true if the item, the values and the conditions of a step resolved.
pub fn is_resolved(model: &Model, entity: EntityId, action: &Action) -> bool {
    let keys = action.keys.iter().map(|(_, value)| value);
    let equal = action.equalities.iter().map(|it| &it.value);
    let values = action.changes.iter().filter_map(crate::schema::Change::value);
    let conditions = action.conditions.iter().map(|it| &it.condition);
    let is_whole = action.keys.len() == model.entity(entity).key_fields().len();
    (is_whole || matches!(action.verb, Verb::Create | Verb::Put))
        && !keys.chain(equal).chain(values).chain(conditions).any(is_unresolved)
}

const fn may_make(verb: Verb) -> bool {
    matches!(verb, Verb::Create | Verb::Put | Verb::Upsert)
}

fn key_value(action: &Action, field: FieldId) -> Option<&Expr> {
    action.keys.iter().find(|(key, _)| *key == field).map(|(_, value)| value)
}
