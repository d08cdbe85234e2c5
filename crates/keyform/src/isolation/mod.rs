//! A proof by trial that a model keeps its callers apart: made from the model alone, so that a new pattern is covered without a new test.
//!
//! Two worlds are made of the model: an item of every entity for one caller, and one for another. What names something (ids, in keys or by
//! reference) is the caller's own where the caller's claims or the keys demand it, and the same in both worlds everywhere else; so two tenants have the
//! same ids wherever the model allows that. Memberships lie in their own world like everything else, which makes every guard of one caller
//! false for the things of the other.
//!
//! 1. `concepts` finds out what names the same thing: fields, references, claims, parameters; `vocabulary` gives it a value in each world.
//! 2. A store with the caller's world *alone* and one with *both* worlds are seeded with items.
//! 3. Each pattern is called as the one caller, with arguments that name own things, things of the other, and mixtures.
//! 4. The law: **what a caller gets and what a call changes is the same whether the other world is there or not.** A read must answer the same
//!    in both stores, errors included. A write that succeeds must succeed in both, return the same, and leave both stores different by
//!    exactly the other world, untouched. A write may be refused because of the other world (a name that is taken), but then nothing has changed,
//!    and the refusal must not show an item of the other.
//!
//! What a public read returns is no secret: the other's items of such an entity are in both stores. They may not be changed either, unless nothing in
//! them says whose they are (a catalogue's products, whose stock every order lowers).
//!
//! Patterns that are `public` promise nothing of the kind: reads are only counted, and of writes only refusals are judged. Those for the system must
//! be forbidden.
//!
//! A refusal shows an item of the other only if a public read returns such items whole: a read that selects some fields does not.

mod arguments;
mod concepts;
mod vocabulary;
mod world;

use std::fmt;

use keyform_language::Checked;
use keyform_language::schema::{Parameter, Permission, Read, Write};
use keyform_runtime::run::{Answer, Caller, Found, RunError};

use concepts::Concepts;
use vocabulary::{Owner, Vocabulary};
use world::{Share, World};

/// In each round enumerations, numbers and times have other values, so that guards and conditions are met in some.
const ROUNDS: usize = 6;

/// What was tried, and what leaked.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// Each pattern.
    pub patterns: Vec<Tried>,
    /// Where the law did not hold.
    pub leaks: Vec<Leak>,
}

/// A pattern, as it was tried.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Its name.
    pub name: String,
    /// What it promises.
    pub promise: Promise,
    /// How often it was called.
    pub calls: usize,
    /// How often the caller was let through, whatever came of it.
    pub entered: usize,
    /// How often it found or wrote something.
    pub successes: usize,
    /// The most requests that a call has sent.
    pub requests: usize,
}

/// What a pattern promises by its `allow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Callers are kept apart.
    Isolated,
    /// Everyone may: `allow public`.
    Public,
    /// No caller may: `allow system`.
    Forbidden,
}

/// A call that showed or changed something of another caller, or depended on it.
#[derive(Clone, Debug)]
pub struct Leak {
    /// The pattern.
    pub pattern: String,
    /// Its arguments.
    pub arguments: String,
    /// What happened.
    pub what: String,
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}): {}", self.pattern, self.arguments, self.what)
    }
}

impl Proof {
    /// Patterns that let nobody through, not even to own things: they need a privilege, or something the worlds do not have.
    pub fn closed(&self) -> impl Iterator<Item = &Tried> {
        self.patterns.iter().filter(|tried| tried.promise == Promise::Isolated && tried.entered == 0)
    }
}

/// Tries every pattern of a model.
///
/// ```
/// let checked = keyform::language::Checked::read("model empty\n\ncaller userId: ulid\n\ntable T { key pk }\n");
/// assert!(keyform::isolation::prove(&checked)?.leaks.is_empty());
/// # Ok::<(), keyform::runtime::run::RunError>(())
/// ```
///
/// # Errors
///
/// If the model has errors, or its tables cannot be made. A model without `caller` has nothing to prove.
pub fn prove(checked: &Checked) -> Result<Proof, RunError> {
    let mut trial = Trial { proof: Proof::default() };
    if checked.model.caller.is_none() {
        return Ok(trial.proof);
    }
    let concepts = Concepts::of(&checked.model);
    for round in 0..ROUNDS {
        let vocabulary = Vocabulary { model: &checked.model, concepts: &concepts, round };
        let mut worlds = Worlds {
            alone: World::new(checked, &vocabulary, Share::Known)?,
            both: World::new(checked, &vocabulary, Share::Everything)?,
            vocabulary,
        };
        for (number, read) in checked.model.reads.iter().enumerate() {
            if checked.plans.read(keyform_language::schema::ReadId(number)).is_some() {
                trial.read(&mut worlds, read);
            }
        }
        for write in &checked.model.writes {
            trial.write(&mut worlds, write);
        }
    }
    Ok(trial.proof)
}

struct Trial {
    proof: Proof,
}

/// The store of one caller, and that of two.
struct Worlds<'a> {
    alone: World,
    both: World,
    vocabulary: Vocabulary<'a>,
}

fn promise(allow: Option<&Permission>) -> Promise {
    match allow {
        Some(Permission::Public(_)) => Promise::Public,
        Some(Permission::System(_)) | None => Promise::Forbidden,
        Some(Permission::When(_)) => Promise::Isolated,
    }
}

impl Trial {
    fn read(&mut self, worlds: &mut Worlds<'_>, read: &Read) {
        let promise = promise(read.allow.as_ref());
        self.tried(&read.name, promise);
        if promise == Promise::Public {
            return;
        }
        let concepts = worlds.vocabulary.concepts.of_read(read);
        for arguments in arguments::of(&read.parameters, &concepts, &worlds.vocabulary) {
            let caller = Caller::Claims(worlds.vocabulary.claims(Owner::Caller));
            let alone = worlds.alone.read(&read.name, &arguments, &caller);
            let both = worlds.both.read(&read.name, &arguments, &caller);
            self.called(&read.name, alone.as_ref().map(has_something), worlds.both.requests());
            let what = match (promise, &both) {
                (Promise::Forbidden, Err(RunError::Forbidden)) => None,
                (Promise::Forbidden, got) => Some(format!("a pattern of the system answered {got:?}")),
                _ if alone == both => None,
                _ => Some(format!("answers {both:?} where the caller alone gets {alone:?}")),
            };
            self.leaked(&read.name, &arguments, what);
        }
    }

    fn write(&mut self, worlds: &mut Worlds<'_>, write: &Write) {
        let promise = promise(write.allow.as_ref());
        self.tried(&write.name, promise);
        let concepts = worlds.vocabulary.concepts.of_write(write);
        for arguments in arguments::of(&write.parameters, &concepts, &worlds.vocabulary) {
            let caller = Caller::Claims(worlds.vocabulary.claims(Owner::Caller));
            let alone = worlds.alone.write(&write.name, &arguments, &caller);
            let both = worlds.both.write(&write.name, &arguments, &caller);
            self.called(&write.name, alone.as_ref().map(|_| true), worlds.both.requests());
            let what = match (promise, &both) {
                (Promise::Forbidden, Err(RunError::Forbidden)) => None,
                (Promise::Forbidden, got) => Some(format!("a pattern of the system answered {got:?}")),
                (Promise::Public, refused) => exposed(worlds, refused),
                (Promise::Isolated, _) => harm(worlds, &alone, &both),
            };
            self.leaked(&write.name, &arguments, what);
            worlds.alone.restore();
            worlds.both.restore();
        }
    }

    fn tried(&mut self, name: &str, promise: Promise) {
        if self.proof.patterns.iter().all(|tried| tried.name != name) {
            let name = name.to_owned();
            self.proof.patterns.push(Tried { name, promise, calls: 0, entered: 0, successes: 0, requests: 0 });
        }
    }

    /// Counts a call.
    fn called(&mut self, name: &str, success: Result<bool, &RunError>, requests: usize) {
        let Some(tried) = self.proof.patterns.iter_mut().find(|tried| tried.name == name) else { return };
        tried.calls += 1;
        tried.requests = tried.requests.max(requests);
        tried.entered += usize::from(success != Err(&RunError::Forbidden));
        tried.successes += usize::from(success == Ok(true));
    }

    fn leaked(&mut self, pattern: &str, arguments: &keyform_core::Attributes, what: Option<String>) {
        let Some(what) = what else { return };
        let arguments: Vec<String> = arguments.iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
        self.proof.leaks.push(Leak { pattern: pattern.to_owned(), arguments: arguments.join(", "), what });
    }
}

type Written = Result<Option<Found>, RunError>;

/// What a write did against the law.
fn harm(worlds: &Worlds<'_>, alone: &Written, both: &Written) -> Option<String> {
    let after = worlds.both.dump();
    let others = worlds.both.others();
    if let Some((place, _)) = worlds.both.fixed().find(|(place, item)| after.get(*place) != Some(*item)) {
        return Some(format!("changed {place:?} of the other"));
    }
    match both {
        Ok(_) if alone != both => Some(format!("returns {both:?} where the caller alone gets {alone:?}")),
        Ok(_) => {
            let own: world::Items = after.into_iter().filter(|(place, _)| !others.contains_key(place)).collect();
            (own != worlds.alone.dump()).then(|| "writes otherwise because of the other".to_owned())
        }
        Err(_) if after != *worlds.both.seeded() => Some("was refused, and has changed something".to_owned()),
        Err(_) => exposed(worlds, both),
    }
}

/// An item of the other that a refusal shows.
fn exposed(worlds: &Worlds<'_>, written: &Written) -> Option<String> {
    match written {
        Err(RunError::Refused { item: Some(item), .. } | RunError::Conflict(Some(item))) => {
            worlds.both.is_only_others(item).then(|| format!("the refusal shows {item:?}"))
        }
        _ => None,
    }
}

fn has_something(answer: &Answer) -> bool {
    match answer {
        Answer::One(found) => found.is_some(),
        Answer::Page { items, .. } => !items.is_empty(),
        Answer::Count(count) => *count > 0,
        Answer::Collection(parts) => parts.iter().any(|(_, items)| !items.is_empty()),
    }
}

/// The names of a parameter's arguments.
fn names(parameter: &Parameter) -> &[String] {
    if parameter.arguments.is_empty() { std::slice::from_ref(&parameter.field_name) } else { &parameter.arguments }
}
