//! Values of fields, claims and parameters in each world, per seed.
//!
//! Free text is a canary: it differs between the tenants, so that a value shows where it comes from. Enumerations,
//! numbers and times are equal in both tenants, because guards and conditions compare them.

use std::collections::BTreeSet;

use keyform_core::{AttributeValue, Attributes};
use keyform_language::bind::sample;
use keyform_language::scalar::Resolution;
use keyform_language::schema::{EntityId, FieldId, Model, Part, Type, fits};
use keyform_language::template::render;

use super::caller::{Owner, Persona};
use super::concepts::{Concept, Concepts, Node, is_name};
use super::variant::{Spelling, Variant};

/// Fixed time of all trials.
pub(super) const NOW_MILLIS: i64 = 1_773_480_413_589;
const DAY_MILLIS: i64 = 86_400_000;

/// Source of values for one seed.
pub(super) struct Vocabulary<'a> {
    pub(super) model: &'a Model,
    pub(super) concepts: &'a Concepts<'a>,
    pub(super) variant: Variant,
    /// References that calls of earlier seeds set to a foreign value.
    pub(super) crossed: BTreeSet<(EntityId, FieldId)>,
}

impl Vocabulary<'_> {
    /// Returns the value of a concept in a world.
    fn called(&self, concept: Concept, kind: &Type, owner: Owner) -> AttributeValue {
        let is_shared = self.variant.equal_ids && self.concepts.is_shared(concept);
        let number = if is_shared && owner != Owner::Unknown { 0 } else { owner.number() };
        let word = self.concepts.word(concept);
        let value = distinct(kind, word, number);
        if kind.free_text().is_none() || number == 0 {
            return value;
        }
        let base = distinct(kind, word, Owner::Caller.number());
        self.spelled(kind, owner, &base).unwrap_or_else(|| value.clone())
    }

    /// Returns the free-text name of a tenant that is a variation of the base name.
    fn spelled(&self, kind: &Type, owner: Owner, base: &AttributeValue) -> Option<AttributeValue> {
        let AttributeValue::S(base) = base else { return None };
        let continued = || format!("{base}{}b", delimiter(self.model));
        let text = match (self.variant.spelling, owner) {
            (Spelling::OtherContinues, Owner::Other) | (Spelling::CallerContinues, Owner::Caller) => continued(),
            (Spelling::CallerContinues, Owner::Other) => base.clone(),
            (Spelling::Case, Owner::Other) => base.to_uppercase(),
            _ => return None,
        };
        let text = AttributeValue::S(text);
        // A short type has no room for the suffix; both tenants then keep their plain names.
        let longest = AttributeValue::S(continued());
        (fits(&text, kind) && fits(&longest, kind)).then_some(text)
    }

    /// Returns the claims of a caller's token. Booleans are privileges, which most callers do not have.
    pub(super) fn claims(&self, persona: Persona) -> Attributes {
        let Some(caller) = &self.model.caller else { return Attributes::new() };
        let is_global = |number: usize| caller.global.iter().any(|(of, _)| *of == number);
        let value = |number: usize, kind: &Type, name: &str| match kind.resolved() {
            kind if kind.is_bool() => AttributeValue::Bool(persona == Persona::Flagged && !is_global(number)),
            _ if is_name(kind) => {
                let concept = self.concepts.concept(Node::Claim(number));
                self.called(concept, kind, self.owner_of(concept, persona))
            }
            _ => self.content(kind, name, Owner::Caller),
        };
        let claims = caller.fields.iter().enumerate();
        let given = claims.filter(|(_, claim)| !(persona == Persona::Bare && claim.optional));
        given.map(|(number, claim)| (claim.name.clone(), value(number, &claim.kind, &claim.name))).collect()
    }

    /// Returns the owner of the values that a caller regards as its own.
    pub(super) fn owner_of(&self, concept: Concept, persona: Persona) -> Owner {
        if self.concepts.is_personal(concept) { persona.person() } else { persona.tenant() }
    }

    /// Returns the value of a field in a tenant, for a person of that tenant.
    pub(super) fn field(&self, entity: EntityId, field: FieldId, tenant: Owner, person: Owner) -> AttributeValue {
        let node = Node::Field(entity, field);
        let (concept, kind) = (self.concepts.concept(node), self.concepts.kind(node));
        if !self.concepts.is_naming(concept) {
            return self.content(kind, self.concepts.name(node), tenant);
        }
        let is_crossed = self.variant.crosses && tenant == Owner::Caller && self.crossed.contains(&(entity, field));
        let owner = match tenant {
            _ if is_crossed => Owner::Other,
            tenant if self.concepts.is_personal(concept) && tenant != person => person,
            tenant => tenant,
        };
        self.value(concept, kind, owner)
    }

    /// Returns the value of a concept; a list of identifiers has one element.
    pub(super) fn value(&self, concept: Concept, kind: &Type, owner: Owner) -> AttributeValue {
        match kind.resolved() {
            Type::List(of, _) => AttributeValue::L(vec![self.called(concept, of, owner)]),
            _ => self.called(concept, kind, owner),
        }
    }

    /// Returns a value that identifies nothing, different in each seed. Free text differs between the tenants.
    pub(super) fn content(&self, kind: &Type, name: &str, owner: Owner) -> AttributeValue {
        let round = i64::try_from(self.variant.round).unwrap_or(0);
        let days = if self.variant.round.is_multiple_of(2) { 1 + round } else { -1 - round };
        if is_ordered_time(kind) {
            return moment(kind, NOW_MILLIS + days * DAY_MILLIS);
        }
        if let Some(bounds) = kind.value_bounds() {
            let low = bounds.min.unwrap_or(0);
            return AttributeValue::from((low + round).min(bounds.max.unwrap_or(i64::MAX)));
        }
        match kind.resolved() {
            Type::Json => AttributeValue::M([("of".to_owned(), self.canary(name, owner))].into()),
            _ if kind.free_text().is_some() => {
                let value = self.canary(name, owner);
                if fits(&value, kind) { value } else { distinct(kind, name, 10 * self.variant.round + owner.number()) }
            }
            _ => sample::value(kind, name, self.variant.round),
        }
    }

    /// Returns a text that names its tenant.
    fn canary(&self, name: &str, owner: Owner) -> AttributeValue {
        let of = if owner == Owner::Other { "other" } else { "own" };
        AttributeValue::S(format!("{name} of {of} {}", self.variant.round))
    }

    /// Returns a foreign value of another meaning that has the type.
    pub(super) fn stray(&self, concept: Concept, kind: &Type) -> Option<AttributeValue> {
        let others = self.concepts.all().filter(|other| *other != concept && self.concepts.is_naming(*other));
        let mut values = others.map(|other| self.called(other, kind, Owner::Other));
        values.find(|value| fits(value, kind))
    }

    /// Returns the expiry of an item.
    pub(super) fn expiry(&self, kind: &Type) -> AttributeValue {
        let days = if self.variant.is_expired { -1 } else { 1 };
        moment(kind, NOW_MILLIS + days * DAY_MILLIS)
    }
}

/// Returns a sample value that differs for each number. Samples of some types repeat after a few numbers.
fn distinct(kind: &Type, word: &str, number: usize) -> AttributeValue {
    let value = sample::value(kind, word, number);
    let AttributeValue::S(text) = &value else { return value };
    if !(0..number).any(|other| sample::value(kind, word, other) == value) {
        return value;
    }
    let (name, rest) = text.split_at(text.find('@').unwrap_or(text.len()));
    let shorter = name.char_indices().next_back().map_or("", |(last, _)| &name[..last]);
    let mut spellings = [name, shorter].into_iter().map(|name| AttributeValue::S(format!("{name}{number}{rest}")));
    spellings.find(|text| fits(text, kind)).unwrap_or_else(|| value.clone())
}

/// Returns the text that separates two fields in a key template.
fn delimiter(model: &Model) -> &str {
    let templates = model.entities.iter().flat_map(|entity| &entity.key).flat_map(|key| key.parts());
    let between = templates.flat_map(|part| part.template.parts.windows(2)).find_map(|pair| match pair {
        [Part::Field { .. }, Part::Text(text)] => Some(text.as_str()),
        _ => None,
    });
    between.unwrap_or("#")
}

/// Returns a value of the type below or above all values of items.
pub(super) fn far(kind: &Type, is_upper: bool) -> Option<AttributeValue> {
    let days = if is_upper { 1000 } else { -1000 };
    if is_ordered_time(kind) {
        return Some(moment(kind, NOW_MILLIS + days * DAY_MILLIS));
    }
    let bounds = kind.value_bounds()?;
    Some(if is_upper { bounds.max.unwrap_or(1_000_000) } else { bounds.min.unwrap_or(0) }.into())
}

fn is_ordered_time(kind: &Type) -> bool {
    kind.time().is_some_and(|time| time.resolution != Resolution::Mixed)
}

fn moment(kind: &Type, millis: i64) -> AttributeValue {
    let text = render::stored(kind.resolved(), millis).unwrap_or_default();
    if kind.is_numeric() { text.parse().map_or(AttributeValue::Null, AttributeValue::N) } else { text.into() }
}
