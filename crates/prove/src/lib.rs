//! Tests that a model isolates its callers. The test is derived from the model alone, so that it covers new patterns
//! automatically.
//!
//! The trial builds two worlds from the model, each with an item of every entity: one for the caller, one for another
//! caller. Identifiers (ids, in keys or by reference) differ between the worlds where claims or keys demand it and are
//! equal everywhere else, so two tenants have the same ids wherever the model allows that. Memberships belong to their
//! own world like everything else, so every guard of one caller is false for the items of the other.
//!
//! 1. `concepts` finds the fields, references, claims and parameters that identify the same thing; `vocabulary` gives
//!    each a value per world.
//! 2. Two stores are seeded: one with the caller's world *alone*, one with *both* worlds.
//! 3. Each pattern is called as the caller, with arguments that refer to own items, foreign items, and combinations.
//! 4. The property: **the results and effects of a call are the same whether the other world exists or not.** A read
//!    must return the same in both stores, errors included. A write that succeeds must succeed in both, return the
//!    same, and leave the stores different by exactly the other world, unchanged. A write may be refused because of the
//!    other world (a name is taken), but then it must not change anything, and the refusal must not expose an item of
//!    the other world.
//!
//! Items that a public read returns are not confidential: the other caller's items of such an entity are in both
//! stores. They must not be changed either, unless they do not name an owner (products of a catalogue, whose stock
//! every order lowers).
//!
//! Patterns with `allow public` promise no isolation: their reads are only counted, and their writes are only checked
//! for what a refusal exposes. Patterns for the system must be forbidden.
//!
//! A refusal may include an item of the other world only if a public read returns such items with all fields; a read
//! that selects some fields is not sufficient.

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

/// Number of rounds. Each round uses other enumeration values, numbers and times, so that guards and conditions are
/// satisfied in some.
const ROUNDS: usize = 6;

/// Result of the trial.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    /// All patterns of the model with their counts.
    pub patterns: Vec<Tried>,
    /// Violations of the property.
    pub leaks: Vec<Leak>,
}

/// Pattern with the counts of its trial calls.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Pattern name as in the model.
    pub name: String,
    /// Isolation that the pattern promises.
    pub promise: Promise,
    /// Number of calls.
    pub calls: usize,
    /// Number of calls that passed authorization, whatever their result.
    pub entered: usize,
    /// Number of calls that found or wrote something.
    pub successes: usize,
    /// Maximum number of store requests of one call.
    pub requests: usize,
}

/// Isolation that a pattern promises by its `allow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Callers are isolated from each other.
    Isolated,
    /// Open to everyone: `allow public`.
    Public,
    /// Closed to all callers: `allow system`.
    Forbidden,
}

/// Call that exposed, changed or depended on data of another caller.
#[derive(Clone, Debug)]
pub struct Leak {
    /// Pattern name as in the model.
    pub pattern: String,
    /// Arguments of the call, for the message.
    pub arguments: String,
    /// Description of the violation.
    pub what: String,
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}): {}", self.pattern, self.arguments, self.what)
    }
}

impl Proof {
    /// Returns the patterns that no trial call entered, not even for own items: they need a privilege or data that the
    /// worlds lack.
    pub fn closed(&self) -> impl Iterator<Item = &Tried> {
        self.patterns.iter().filter(|tried| tried.promise == Promise::Isolated && tried.entered == 0)
    }
}

/// Tries every pattern of a model.
///
/// ```
/// let checked = keyform_language::Checked::read("model empty\n\ncaller userId: ulid\n\ntable T { key pk }\n");
/// assert!(keyform_prove::prove(&checked)?.leaks.is_empty());
/// # Ok::<(), keyform_runtime::run::RunError>(())
/// ```
///
/// # Errors
///
/// The model has errors, or its tables cannot be created. A model without `caller` has nothing to test.
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

/// Store with the caller's world alone, and store with both worlds.
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
                (Promise::Forbidden, got) => Some(format!("a pattern for code only answered {got:?}")),
                _ if alone == both => None,
                _ => Some(format!("answers {both:?}, but {alone:?} without the other caller's data")),
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
                (Promise::Forbidden, got) => Some(format!("a pattern for code only answered {got:?}")),
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

/// Returns how a write violated the property, if it did.
fn harm(worlds: &Worlds<'_>, alone: &Written, both: &Written) -> Option<String> {
    let after = worlds.both.dump();
    let others = worlds.both.others();
    if let Some((place, _)) = worlds.both.fixed().find(|(place, item)| after.get(*place) != Some(*item)) {
        return Some(format!("changed {place:?} of the other caller"));
    }
    match both {
        Ok(_) if alone != both => Some(format!("returns {both:?}, but {alone:?} without the other caller's data")),
        Ok(_) => {
            let own: world::Items = after.into_iter().filter(|(place, _)| !others.contains_key(place)).collect();
            (own != worlds.alone.dump()).then(|| "writes something else because of the other caller's data".to_owned())
        }
        Err(_) if after != *worlds.both.seeded() => Some("was refused, but changed data".to_owned()),
        Err(_) => exposed(worlds, both),
    }
}

/// Returns a description of the other caller's item that a refusal exposes, if any.
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
        Answer::Collection { parts, .. } => parts.iter().any(|(_, items)| !items.is_empty()),
    }
}

/// Returns the names of a parameter's arguments.
fn names(parameter: &Parameter) -> &[String] {
    if parameter.arguments.is_empty() { std::slice::from_ref(&parameter.field_name) } else { &parameter.arguments }
}
