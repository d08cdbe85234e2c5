//! Calls every pattern in the worlds of one seed and judges the answers.

use std::collections::BTreeSet;

use keyform_check::surface::Pattern;
use keyform_core::Attributes;
use keyform_language::schema::{EntityId, FieldId, Permission, Read, Write};
use keyform_runtime::run::{Answer, Call, Caller, Found, RunError};

use super::arguments::{Callable, Class as Given, Trial};
use super::caller::Persona;
use super::effect::{self, Effect};
use super::exception;
use super::report::{Class, Kind, Leak, Promise, Proof, Tried};
use super::right::{self, Right};
use super::seed::Seeded;
use super::show;
use super::vocabulary::Vocabulary;
use super::world::World;

/// The stores of a seed: the caller's tenant alone, both tenants, and both with another content of the other one.
pub(super) struct Worlds<'a> {
    pub(super) alone: World,
    pub(super) both: World,
    pub(super) changed: World,
    pub(super) vocabulary: Vocabulary<'a>,
    /// Rights before any call.
    pub(super) rights: BTreeSet<Right>,
}

/// Answer of a write.
pub(super) type Written = Result<Option<Found>, RunError>;

/// Violation, before it becomes a transcript.
pub(super) struct Violation {
    pub(super) kind: Kind,
    pub(super) what: String,
    /// Items that matter, in words.
    pub(super) items: Vec<String>,
}

impl Violation {
    pub(super) fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), items: Vec::new() }
    }

    pub(super) fn with(mut self, worlds: &Worlds<'_>, item: &Seeded) -> Self {
        self.items.push(format!("{} of the other tenant", show::seeded(worlds.both.model(), item)));
        self
    }
}

/// Answers of a call in the two stores, as text.
struct Answers {
    both: String,
    alone: String,
}

pub(super) fn promise(allow: Option<&Permission>) -> Promise {
    match allow {
        Some(Permission::Public(_)) => Promise::Public,
        Some(Permission::System(_)) | None => Promise::Forbidden,
        Some(Permission::When(_)) => Promise::Isolated,
    }
}

/// Result of all calls so far.
#[derive(Default)]
pub(super) struct Session {
    pub(super) proof: Proof,
    /// References that were accepted with a foreign value.
    pub(super) crossed: BTreeSet<(EntityId, FieldId)>,
    /// Number of calls, from which each gets a token of its own.
    tokens: usize,
}

impl Session {
    /// Calls a read with all its arguments.
    pub(super) fn read(&mut self, worlds: &mut Worlds<'_>, read: &Read) {
        let concepts = worlds.vocabulary.concepts.of_read(read);
        let callable = Callable { pattern: Pattern::Read(read), concepts };
        let promise = promise(read.allow.as_ref());
        self.tried(&read.name, promise);
        for trial in callable.trials(&worlds.vocabulary, promise) {
            let Some(call) = self.call(worlds, &callable, &trial) else { continue };
            let both = worlds.both.read(&read.name, &call);
            self.answered(worlds, &read.name, class_of_read(&both));
            let alone = if promise == Promise::Forbidden { both.clone() } else { worlds.alone.read(&read.name, &call) };
            let found = match promise {
                Promise::Forbidden => closed(both.as_ref().err()),
                _ if trial.persona == Persona::Both => {
                    let reached = seen_in(worlds, &both);
                    self.misuse(worlds, &callable, &trial, &reached)
                }
                _ => judge_read(worlds, &alone, &both),
            };
            let found = found.or_else(|| private(worlds, read, &both));
            let shown = |answer: &_| show::read(worlds.both.model(), answer);
            if found.is_none() && promise != Promise::Forbidden && trial.persona != Persona::Both {
                let changed = worlds.changed.read(&read.name, &call);
                let found = judge_changed_read(worlds, &alone, &changed);
                let answers = Answers { both: shown(&changed), alone: shown(&alone) };
                self.leaked(worlds, &callable, &trial, found, answers);
            }
            let answers = Answers { both: shown(&both), alone: shown(&alone) };
            self.leaked(worlds, &callable, &trial, found, answers);
        }
    }

    /// Calls a write with all its arguments.
    pub(super) fn write(&mut self, worlds: &mut Worlds<'_>, write: &Write) {
        let concepts = worlds.vocabulary.concepts.of_write(write);
        let callable = Callable { pattern: Pattern::Write(write), concepts };
        let promise = promise(write.allow.as_ref());
        self.tried(&write.name, promise);
        for trial in callable.trials(&worlds.vocabulary, promise) {
            let Some(call) = self.call(worlds, &callable, &trial) else { continue };
            let both = worlds.both.write(&write.name, &call);
            self.answered(worlds, &write.name, class_of_write(&both));
            if promise == Promise::Forbidden {
                let found = closed(both.as_ref().err());
                let shown = show::write(worlds.both.model(), &both);
                self.leaked(worlds, &callable, &trial, found, Answers { both: shown.clone(), alone: shown });
            } else {
                let alone = worlds.alone.write(&write.name, &call);
                self.judge_write(worlds, &callable, &trial, &call, (&alone, &both));
            }
            worlds.alone.restore();
            worlds.both.restore();
            worlds.changed.restore();
        }
    }

    fn judge_write(
        &mut self,
        worlds: &Worlds<'_>,
        callable: &Callable<'_>,
        trial: &Trial,
        call: &Call,
        (alone, both): (&Written, &Written),
    ) {
        let effect = Effect::of(worlds);
        let found = if trial.persona == Persona::Both {
            let touched: Vec<&Seeded> = effect.changed_others(worlds).collect();
            self.misuse(worlds, callable, trial, &touched)
        } else {
            effect.harm(worlds, trial.persona, alone, both)
        };
        let found = found.or_else(|| self.right(worlds, callable, trial, call, &effect, both));
        let found = found.or_else(|| effect.misfit(worlds));
        let shown = |answer: &_| show::write(worlds.both.model(), answer);
        if found.is_none() {
            self.note(worlds, callable, trial, &effect, (alone, both));
            if trial.persona != Persona::Both {
                let changed = worlds.changed.write(callable.pattern.name(), call);
                let found = effect::of_change(worlds, alone, &changed);
                self.leaked(worlds, callable, trial, found, Answers { both: shown(&changed), alone: shown(alone) });
            }
        }
        self.leaked(worlds, callable, trial, found, Answers { both: shown(both), alone: shown(alone) });
    }

    /// Returns the right that a write gave although its caller does not have it.
    fn right(
        &self,
        worlds: &Worlds<'_>,
        callable: &Callable<'_>,
        trial: &Trial,
        call: &Call,
        effect: &Effect<'_>,
        both: &Written,
    ) -> Option<Violation> {
        let model = worlds.both.model();
        let Pattern::Write(write) = callable.pattern else { return None };
        if both.is_err() || exception::grants(model, write) || !effect.touches_authority(worlds) {
            return None;
        }
        let after = right::of_items(model, &worlds.vocabulary, &effect.after);
        let gained = right::gained(model, &worlds.rights, &after, trial.persona, &call.arguments)?;
        let guard = &model.guards[gained.guard].name;
        let tenant = show::tenant(gained.tenant);
        let what = format!(
            "makes the guard `{guard}` hold on {tenant} for the {}, and the caller does not have that right",
            gained.persona
        );
        let mut violation = Violation::new(Kind::Right, what);
        violation.items.extend(effect.new_items(worlds).map(|(_, words)| format!("{words}, which the call wrote")));
        Some(violation)
    }

    /// Notes what is no violation: foreign values that were accepted, and refusals that tell what exists.
    fn note(
        &mut self,
        worlds: &Worlds<'_>,
        callable: &Callable<'_>,
        trial: &Trial,
        effect: &Effect<'_>,
        (alone, both): (&Written, &Written),
    ) {
        let name = callable.pattern.name();
        let model = worlds.both.model();
        // Values of both tenants are the caller's own.
        if trial.persona == Persona::Both {
            return;
        }
        if both.is_ok() {
            for reference in effect.references(worlds, trial.persona) {
                let (entity, field) = reference;
                let of = model.entity(entity);
                let is_key = of.key_fields().contains(&field);
                if !is_key && of.field(field).flags.grants.is_none() {
                    self.crossed.insert(reference);
                }
                let what = format!("accepts a value of the other tenant for `{}.{}`", of.name, of.field(field).name);
                self.proof.note(name, what);
            }
            return;
        }
        let is_other = alone.as_ref().err() != both.as_ref().err();
        if let Some(outcome) = both.as_ref().err().filter(|_| is_other).and_then(outcome) {
            self.proof.note(name, format!("tells by `{outcome}` whether an item of another tenant exists"));
        }
    }

    /// Returns how a member of both tenants used a right in one of them for the other: with arguments of both tenants it
    /// reached items that the same call with arguments of that tenant alone is forbidden to reach.
    fn misuse(
        &mut self,
        worlds: &Worlds<'_>,
        callable: &Callable<'_>,
        trial: &Trial,
        reached: &[&Seeded],
    ) -> Option<Violation> {
        let is_mixed = trial.classes.contains(&Given::Own) && trial.classes.contains(&Given::Foreign);
        let item = reached.first().filter(|_| is_mixed)?;
        let classes = callable.concepts.iter().map(|concept| concept.map_or(Given::Own, |_| Given::Foreign));
        let pure = callable.trial(&worlds.vocabulary, Persona::Both, classes.collect());
        let call = Call { arguments: pure.arguments.ok()?, ..self.fresh_call(worlds, Persona::Both) };
        worlds.both.restore();
        let name = callable.pattern.name();
        let refused = match callable.pattern {
            Pattern::Read(_) => worlds.both.read(name, &call).err(),
            Pattern::Write(_) => worlds.both.write(name, &call).err(),
        };
        let what = "uses a right in one tenant for an item of the other, where the caller does not have it";
        (refused == Some(RunError::Forbidden)).then(|| Violation::new(Kind::Right, what).with(worlds, item))
    }

    /// Prepares a call, and the stores for its exceptions. Arguments that do not parse are counted, and not called.
    fn call(&mut self, worlds: &mut Worlds<'_>, callable: &Callable<'_>, trial: &Trial) -> Option<Call> {
        let Ok(arguments) = &trial.arguments else {
            self.answered(worlds, callable.pattern.name(), Class::Invalid);
            return None;
        };
        let opened = exception::opened(worlds.vocabulary.model, worlds.vocabulary.concepts, callable, trial);
        worlds.alone.open(&opened);
        worlds.both.open(&opened);
        worlds.changed.open(&opened);
        Some(Call { arguments: arguments.clone(), ..self.fresh_call(worlds, trial.persona) })
    }

    /// Returns a call without arguments. Each call has its own token.
    pub(super) fn fresh_call(&mut self, worlds: &Worlds<'_>, persona: Persona) -> Call {
        self.tokens += 1;
        Call {
            arguments: Attributes::new(),
            caller: Caller::Claims(worlds.vocabulary.claims(persona)),
            cursor: None,
            token: Some(format!("call-{}", self.tokens)),
        }
    }

    fn tried(&mut self, name: &str, promise: Promise) {
        if self.proof.patterns.iter().all(|tried| tried.name != name) {
            let name = name.to_owned();
            self.proof.patterns.push(Tried { name, promise, calls: 0, entered: 0, successes: 0, requests: 0 });
        }
    }

    fn answered(&mut self, worlds: &Worlds<'_>, name: &str, class: Class) {
        let requests = if class == Class::Invalid { 0 } else { worlds.both.requests() };
        *self.proof.answers.entry(class).or_default() += 1;
        self.proof.requests += requests;
        let Some(tried) = self.proof.patterns.iter_mut().find(|tried| tried.name == name) else { return };
        tried.calls += 1;
        tried.requests = tried.requests.max(requests);
        tried.entered += usize::from(!matches!(class, Class::Forbidden | Class::Invalid));
        tried.successes += usize::from(class == Class::Answered);
    }

    /// Records a call that reuses something of an earlier one.
    pub(super) fn replayed(
        &mut self,
        worlds: &Worlds<'_>,
        callable: &Callable<'_>,
        trial: &Trial,
        violation: Option<Violation>,
        answer: String,
    ) {
        self.leaked(worlds, callable, trial, violation, Answers { alone: answer.clone(), both: answer });
    }

    fn leaked(
        &mut self,
        worlds: &Worlds<'_>,
        callable: &Callable<'_>,
        trial: &Trial,
        violation: Option<Violation>,
        answers: Answers,
    ) {
        let Some(Violation { kind, what, items }) = violation else { return };
        self.proof.leak(Leak {
            pattern: callable.pattern.name().to_owned(),
            kind,
            what,
            tenants: show::tenants(&worlds.vocabulary, callable),
            items,
            caller: show::caller(&worlds.vocabulary, trial.persona),
            arguments: show::arguments(&trial.json),
            alone: Some(answers.alone).filter(|alone| *alone != answers.both),
            answer: answers.both,
            seed: worlds.vocabulary.variant.seed,
            calls: 1,
        });
    }
}

/// Returns the violation of a pattern for code that did not forbid the call.
fn closed(error: Option<&RunError>) -> Option<Violation> {
    (error != Some(&RunError::Forbidden)).then(|| Violation::new(Kind::System, "is for code, and callers reach it"))
}

fn judge_read(
    worlds: &Worlds<'_>,
    alone: &Result<Answer, RunError>,
    both: &Result<Answer, RunError>,
) -> Option<Violation> {
    if alone == both {
        return None;
    }
    let shown = seen_in(worlds, both);
    let what =
        if shown.is_empty() { "depends on items of the other tenant" } else { "shows items of the other tenant" };
    let violation = Violation::new(Kind::Read, what);
    Some(shown.into_iter().take(2).fold(violation, |violation, item| violation.with(worlds, item)))
}

/// Returns the violation of a read whose answer depends on what the other tenant contains.
fn judge_changed_read(
    worlds: &Worlds<'_>,
    alone: &Result<Answer, RunError>,
    changed: &Result<Answer, RunError>,
) -> Option<Violation> {
    let shown = || found(changed).into_iter().filter_map(|found| worlds.changed.other_of(found)).take(2);
    let violation = || Violation::new(Kind::Read, "depends on the contents of the other tenant");
    (alone != changed).then(|| shown().fold(violation(), |violation, item| violation.with(worlds, item)))
}

/// Returns the other tenant's items in an answer.
fn seen_in<'w>(worlds: &'w Worlds<'_>, answer: &Result<Answer, RunError>) -> Vec<&'w Seeded> {
    found(answer).iter().filter_map(|found| worlds.both.other_of(found)).collect()
}

/// Returns the items in an answer.
fn found(answer: &Result<Answer, RunError>) -> Vec<&Found> {
    match answer {
        Ok(Answer::One(found)) => found.iter().collect(),
        Ok(Answer::Page { items, .. }) => items.iter().collect(),
        Ok(Answer::Collection { parts, .. }) => parts.iter().flat_map(|(_, items)| items).collect(),
        Ok(Answer::Count(_)) | Err(_) => Vec::new(),
    }
}

/// Returns the violation of a read that shows private fields of items without a scope.
fn private(worlds: &Worlds<'_>, read: &Read, answer: &Result<Answer, RunError>) -> Option<Violation> {
    let model = worlds.both.model();
    let is_unscoped = |entity: EntityId| read.unscoped.iter().any(|clause| clause.entity == Some(entity));
    found(answer).into_iter().filter(|found| is_unscoped(found.entity)).find_map(|found| {
        let other = worlds.both.other_of(found)?;
        let entity = model.entity(found.entity);
        let is_shown = |name: &str| found.fields.get(name).is_some();
        let mut fields = entity.fields.iter().filter(|field| is_shown(&field.name));
        let field = fields.find(|field| field.flags.personal.is_some() || field.flags.internal.is_some())?;
        let what = format!("shows `{}.{}`, which is private, to every caller", entity.name, field.name);
        Some(Violation::new(Kind::Private, what).with(worlds, other))
    })
}

fn class_of_read(answer: &Result<Answer, RunError>) -> Class {
    match answer {
        Ok(Answer::Count(count)) if *count > 0 => Class::Answered,
        Ok(_) if found(answer).is_empty() => Class::Empty,
        Ok(_) => Class::Answered,
        Err(error) => class_of_error(error),
    }
}

fn class_of_write(answer: &Written) -> Class {
    answer.as_ref().map_or_else(class_of_error, |_| Class::Answered)
}

fn class_of_error(error: &RunError) -> Class {
    match error {
        RunError::Forbidden => Class::Forbidden,
        RunError::NotFound(_) => Class::Empty,
        RunError::Refused { .. } | RunError::Conflict(_) => Class::Refused,
        RunError::Arguments(_) => Class::Invalid,
        _ => Class::Failed,
    }
}

/// Returns the name of a refusal.
fn outcome(error: &RunError) -> Option<&str> {
    match error {
        RunError::Refused { outcome, .. } => Some(outcome),
        RunError::Conflict(_) => Some("Conflict"),
        _ => None,
    }
}
