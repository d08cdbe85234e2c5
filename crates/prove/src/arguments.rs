//! Calls of a pattern: who calls, and with which arguments.
//!
//! The owner tries every mixture of own and foreign identifiers. Further calls are sampled: any caller, and each
//! argument on its own is own, foreign, absent, unknown or of another meaning. The arguments of a write that a caller may
//! choose have each of their values, or the bounds of a number. Arguments are built as JSON and parsed as the HTTP API
//! parses them.

use keyform_check::surface::Pattern;
use keyform_core::{AttributeValue, Attributes};
use keyform_language::schema::{Parameter, Test, Type};
use keyform_runtime::run::{given, json};
use serde_json::{Map, Value};

use super::caller::{Owner, Persona};
use super::concepts::Concept;
use super::report::Promise;
use super::variant::Sequence;
use super::vocabulary::{Vocabulary, far};

/// Maximum number of parameters for trying all combinations. Beyond it: all own, all foreign, exactly one foreign, and
/// exactly one own.
const MIXED_MAX: usize = 4;

/// Number of sampled calls of each pattern per seed.
const SAMPLES: usize = 7;

/// Number of values of an enumeration that are tried.
const CHOICES_MAX: usize = 20;

/// Callers that choose: all who may have less than every right in the tenant.
const CHOOSERS: [Persona; 4] = [Persona::Owner, Persona::Member, Persona::Both, Persona::Removed];

/// Origin of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// The caller's own value.
    Own,
    /// The other tenant's value; in a list, beside the caller's own.
    Foreign,
    /// Left out.
    Absent,
    /// A value that no item has.
    Unknown,
    /// A foreign value of another meaning, or a list of own and foreign values.
    Stray,
    /// The value with this number among those that a caller may choose from: of an enumeration, or a bound.
    Chosen(usize),
}

const CLASSES: [Class; 8] =
    [Class::Own, Class::Own, Class::Own, Class::Foreign, Class::Foreign, Class::Absent, Class::Unknown, Class::Stray];

/// Call of a pattern.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) persona: Persona,
    /// Class of each parameter.
    pub(super) classes: Vec<Class>,
    /// Arguments as a client sends them.
    pub(super) json: Map<String, Value>,
    /// Parsed arguments, or the message of the parser.
    pub(super) arguments: Result<Attributes, String>,
}

/// Pattern with the meaning of its parameters.
pub(super) struct Callable<'a> {
    pub(super) pattern: Pattern<'a>,
    pub(super) concepts: Vec<Option<Concept>>,
}

impl Callable<'_> {
    /// Returns the calls of a pattern in one seed. A pattern for code forbids every caller, so each calls it once.
    pub(super) fn trials(&self, vocabulary: &Vocabulary<'_>, promise: Promise) -> Vec<Trial> {
        if promise == Promise::Forbidden {
            let own = vec![Class::Own; self.concepts.len()];
            return Persona::SAMPLED.map(|persona| self.trial(vocabulary, persona, own.clone())).into();
        }
        let mixtures = self.mixtures(vocabulary).into_iter().map(|classes| (Persona::Owner, classes));
        let mut all: Vec<Trial> = Vec::new();
        for (persona, classes) in mixtures.chain(self.samples(vocabulary)).chain(self.choices(vocabulary)) {
            let trial = self.trial(vocabulary, persona, classes);
            if all.iter().all(|other| other.persona != persona || other.json != trial.json) {
                all.push(trial);
            }
        }
        all
    }

    /// Builds a call.
    pub(super) fn trial(&self, vocabulary: &Vocabulary<'_>, persona: Persona, classes: Vec<Class>) -> Trial {
        let mut json = Map::new();
        for (number, parameter) in self.pattern.parameters().iter().enumerate() {
            if let Some(value) = self.value(vocabulary, persona, number, classes[number]) {
                json.extend(named(parameter, &value));
            }
        }
        let arguments = given::from_object(vocabulary.model, self.pattern, json.clone());
        Trial { persona, classes, json, arguments }
    }

    /// Returns the calls of the owner with own and foreign identifiers.
    fn mixtures(&self, vocabulary: &Vocabulary<'_>) -> Vec<Vec<Class>> {
        let count = self.pattern.parameters().len();
        let value = |number, class| self.value(vocabulary, Persona::Owner, number, class);
        let differs = |number: &usize| value(*number, Class::Own) != value(*number, Class::Foreign);
        let varied: Vec<usize> = (0..count).filter(|number| self.concepts[*number].is_some()).filter(differs).collect();
        let class = |foreign: &[usize], number: usize| match self.concepts[number] {
            Some(_) if foreign.contains(&number) => Class::Foreign,
            // Content of the other tenant beside its identifiers.
            None if !foreign.is_empty() && vocabulary.variant.seed % 2 == 1 => Class::Foreign,
            _ => Class::Own,
        };
        let of = |foreign: &Vec<usize>| (0..count).map(|number| class(foreign, number)).collect();
        mixtures(&varied).iter().map(of).collect()
    }

    /// Returns sampled calls.
    fn samples(&self, vocabulary: &Vocabulary<'_>) -> Vec<(Persona, Vec<Class>)> {
        let mut sequence = Sequence::of(vocabulary.variant.seed, self.pattern.name());
        let count = self.pattern.parameters().len();
        let all = |class| Persona::SAMPLED.into_iter().map(move |persona| (persona, vec![class; count]));
        let mut sample = |_| {
            let persona = Persona::SAMPLED[sequence.below(Persona::SAMPLED.len())];
            (persona, (0..count).map(|_| CLASSES[sequence.below(CLASSES.len())]).collect())
        };
        all(Class::Own).chain(all(Class::Foreign)).chain((0..SAMPLES).map(&mut sample)).collect()
    }

    /// Returns calls that choose each value of an enumeration and the bounds of a number, for the caller's own person
    /// and for another one. A seed gives its items one value of each, which alone would not show that a member may
    /// choose a role above its own.
    fn choices(&self, vocabulary: &Vocabulary<'_>) -> Vec<(Persona, Vec<Class>)> {
        if matches!(self.pattern, Pattern::Read(_)) {
            return Vec::new();
        }
        let is_personal = |concept: &Option<Concept>| concept.is_some_and(|of| vocabulary.concepts.is_personal(of));
        let own = vec![Class::Own; self.concepts.len()];
        let another =
            self.concepts.iter().map(|of| if is_personal(of) { Class::Foreign } else { Class::Own }).collect();
        let mut calls = Vec::new();
        for (number, parameter) in self.pattern.parameters().iter().enumerate() {
            let count = if self.concepts[number].is_none() { choices(&parameter.kind).len() } else { 0 };
            for (chosen, persona) in (0..count).flat_map(|chosen| CHOOSERS.map(|persona| (chosen, persona))) {
                for classes in [&own, &another] {
                    let mut classes = classes.clone();
                    classes[number] = Class::Chosen(chosen);
                    calls.push((persona, classes));
                }
            }
        }
        calls
    }

    fn value(
        &self,
        vocabulary: &Vocabulary<'_>,
        persona: Persona,
        number: usize,
        class: Class,
    ) -> Option<AttributeValue> {
        let parameter = &self.pattern.parameters()[number];
        let Some(concept) = self.concepts[number] else {
            let owner = if matches!(class, Class::Foreign | Class::Stray) { Owner::Other } else { Owner::Caller };
            let content = match class {
                Class::Chosen(number) => choices(&parameter.kind).into_iter().nth(number)?,
                _ => vocabulary.content(&parameter.kind, &parameter.field_name, owner),
            };
            let content = if parameter.test == Test::In { AttributeValue::L(vec![content]) } else { content };
            return (class != Class::Absent).then_some(content);
        };
        let one = |owner| vocabulary.value(concept, &parameter.kind, owner);
        let own = || one(vocabulary.owner_of(concept, persona));
        let chosen = match class {
            Class::Own | Class::Chosen(_) => own(),
            Class::Foreign => one(Owner::Other),
            Class::Absent => return None,
            Class::Unknown => one(Owner::Unknown),
            // A list of own and foreign values.
            Class::Stray if matches!(parameter.kind.resolved(), Type::List(..)) => joined(own(), one(Owner::Other)),
            Class::Stray => vocabulary.stray(concept, &parameter.kind)?,
        };
        let is_list = parameter.test == Test::In;
        Some(match class {
            Class::Own if is_list => AttributeValue::L(vec![chosen]),
            _ if is_list => AttributeValue::L(vec![own(), chosen]),
            _ => chosen,
        })
    }
}

/// Returns the values of a type that a caller may choose from, if they are few.
fn choices(kind: &Type) -> Vec<AttributeValue> {
    match kind.resolved() {
        Type::OneOf(texts) => texts.iter().take(CHOICES_MAX).map(|text| text.as_str().into()).collect(),
        Type::List(of, _) => choices(of).into_iter().map(|value| AttributeValue::L(vec![value])).collect(),
        kind if kind.is_bool() => [false, true].map(AttributeValue::Bool).into(),
        kind => [false, true].into_iter().filter_map(|is_upper| bound(kind, is_upper)).collect(),
    }
}

/// Returns a bound of a number, or a number beyond those of all items.
fn bound(kind: &Type, is_upper: bool) -> Option<AttributeValue> {
    kind.value_bounds()?;
    far(kind, is_upper)
}

fn joined(one: AttributeValue, other: AttributeValue) -> AttributeValue {
    match (one, other) {
        (AttributeValue::L(one), AttributeValue::L(other)) => AttributeValue::L(one.into_iter().chain(other).collect()),
        (_, other) => other,
    }
}

/// Returns the parameters that are foreign, for each call.
fn mixtures(varied: &[usize]) -> Vec<Vec<usize>> {
    if varied.len() <= MIXED_MAX {
        let chosen = |mask: usize| varied.iter().enumerate().filter(move |(place, _)| mask >> place & 1 == 1);
        return (0..1 << varied.len()).map(|mask| chosen(mask).map(|(_, number)| *number).collect()).collect();
    }
    let one = varied.iter().map(|number| vec![*number]);
    let all_but = |left: &usize| varied.iter().copied().filter(|number| number != left).collect();
    [Vec::new(), varied.to_vec()].into_iter().chain(one).chain(varied.iter().map(all_but)).collect()
}

/// Returns the arguments of a parameter by name.
fn named(parameter: &Parameter, value: &AttributeValue) -> Vec<(String, Value)> {
    let own = std::slice::from_ref(&parameter.field_name);
    let names = if parameter.arguments.is_empty() { own } else { &parameter.arguments };
    let each = names.iter().enumerate();
    each.map(|(number, name)| (name.clone(), json::to_json(&limit(parameter, number, value.clone())))).collect()
}

/// Converts a value to a bound: ranges are wide open, and a prefix is the first letter.
fn limit(parameter: &Parameter, number: usize, value: AttributeValue) -> AttributeValue {
    let is_upper = number == 1 || matches!(parameter.test, Test::Before | Test::Until);
    match (parameter.test, value) {
        (Test::Equal | Test::In, value) => value,
        (Test::Begins, AttributeValue::S(text)) => AttributeValue::S(text.chars().take(1).collect()),
        (_, value) => far(&parameter.kind, is_upper).unwrap_or(value),
    }
}
