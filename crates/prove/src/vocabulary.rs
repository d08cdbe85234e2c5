//! Values of fields, claims and parameters in each world, per round.

use keyform_core::{AttributeValue, Attributes};
use keyform_language::explain::sample;
use keyform_language::scalar::Resolution;
use keyform_language::schema::{EntityId, FieldId, Model, Type};
use keyform_language::template::render;

use super::concepts::{Concept, Concepts, Node, is_name};

/// Fixed time of all trials.
pub(super) const NOW_MILLIS: i64 = 1_773_480_413_589;
const DAY_MILLIS: i64 = 86_400_000;

/// Owner of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Caller of the trial.
    Caller,
    /// Caller whose data must stay isolated.
    Other,
}

/// Source of values for one round.
pub(super) struct Vocabulary<'a> {
    pub(super) model: &'a Model,
    pub(super) concepts: &'a Concepts<'a>,
    pub(super) round: usize,
}

impl Vocabulary<'_> {
    /// Returns the value of a concept in a world.
    fn called(&self, concept: Concept, kind: &Type, owner: Owner) -> AttributeValue {
        let number = match owner {
            _ if self.concepts.is_shared(concept) => 0,
            Owner::Caller => 1,
            Owner::Other => 2,
        };
        sample::value(kind, self.concepts.word(concept), number)
    }

    /// Returns the claims of a caller's token. Booleans are privileges, which the callers do not have.
    pub(super) fn claims(&self, owner: Owner) -> Attributes {
        let claims = self.model.caller.iter().flat_map(|caller| caller.fields.iter().enumerate());
        let value = |number: usize, kind: &Type, name: &str| match kind.resolved() {
            kind if kind.is_bool() => AttributeValue::Bool(false),
            _ if is_name(kind) => self.called(self.concepts.concept(Node::Claim(number)), kind, owner),
            _ => self.content(kind, name),
        };
        claims.map(|(number, claim)| (claim.name.clone(), value(number, &claim.kind, &claim.name))).collect()
    }

    /// Returns the value of a field in a world.
    pub(super) fn field(&self, entity: EntityId, field: FieldId, owner: Owner) -> AttributeValue {
        let node = Node::Field(entity, field);
        let (concept, kind) = (self.concepts.concept(node), self.concepts.kind(node));
        if self.concepts.is_naming(concept) {
            self.value(concept, kind, owner)
        } else {
            self.content(kind, self.concepts.name(node))
        }
    }

    /// Returns the value of a concept; a list of identifiers has one element.
    pub(super) fn value(&self, concept: Concept, kind: &Type, owner: Owner) -> AttributeValue {
        match kind.resolved() {
            Type::List(of, _) => AttributeValue::L(vec![self.called(concept, of, owner)]),
            _ => self.called(concept, kind, owner),
        }
    }

    /// Returns a value that identifies nothing: equal in both worlds, different in each round.
    pub(super) fn content(&self, kind: &Type, name: &str) -> AttributeValue {
        let round = i64::try_from(self.round).unwrap_or(0);
        let days = if self.round.is_multiple_of(2) { 1 + round } else { -1 - round };
        if is_ordered_time(kind) {
            return moment(kind, NOW_MILLIS + days * DAY_MILLIS);
        }
        match kind.value_bounds() {
            Some(bounds) => {
                let low = bounds.min.unwrap_or(0);
                AttributeValue::from((low + round).min(bounds.max.unwrap_or(i64::MAX)))
            }
            None => sample::value(kind, name, self.round),
        }
    }

    /// Returns whether items have their optional fields in this round.
    pub(super) fn has_optional(&self) -> bool {
        self.round % 4 < 2
    }

    /// Returns a time in the future.
    pub(super) fn ahead(&self, kind: &Type) -> AttributeValue {
        moment(kind, NOW_MILLIS + DAY_MILLIS)
    }
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
