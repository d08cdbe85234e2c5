//! Words of a transcript.

use keyform_core::Attributes;
use keyform_language::schema::{EntityId, Model};
use keyform_runtime::run::{Answer, Found, RunError, json};
use serde_json::{Map, Value};

use super::arguments::Callable;
use super::caller::{Owner, Persona};
use super::concepts::{Concept, is_name};
use super::seed::Seeded;
use super::trial::Written;
use super::vocabulary::Vocabulary;

/// Longest answer of a transcript, in characters.
const ANSWER_MAX: usize = 400;

/// Formats an item with the fields of its entity.
pub(super) fn item(model: &Model, entity: EntityId, item: &Attributes) -> String {
    let entity = model.entity(entity);
    let fields = entity.fields.iter().filter_map(|field| {
        let value = item.get(&field.name)?;
        Some(format!("{}: {}", field.name, json::to_json(value)))
    });
    cut(format!("{} {{ {} }}", entity.name, fields.collect::<Vec<_>>().join(", ")))
}

/// Formats an item of a world. A sentinel of a unique field has no fields of its entity.
pub(super) fn seeded(model: &Model, of: &Seeded) -> String {
    let entity = model.entity(of.entity);
    let is_item = entity.fields.iter().filter(|field| of.item.contains_key(&field.name)).count() > 1;
    if is_item { item(model, of.entity, &of.item) } else { format!("the unique value of a field of {}", entity.name) }
}

/// Names a tenant from the caller's point of view.
pub(super) const fn tenant(tenant: Owner) -> &'static str {
    match tenant {
        Owner::Other => "the other tenant",
        _ => "the caller's tenant",
    }
}

/// Lists the identifiers by which the two tenants differ, of the caller and of the pattern's parameters.
pub(super) fn tenants(vocabulary: &Vocabulary<'_>, callable: &Callable<'_>) -> Vec<String> {
    let claims = vocabulary.model.caller.iter().flat_map(|caller| caller.fields.iter().enumerate());
    let claimed = claims.map(|(number, claim)| (vocabulary.concepts.claim(number), &claim.name, &claim.kind));
    let parameters = callable.pattern.parameters().iter().zip(&callable.concepts);
    let given = parameters.filter_map(|(of, concept)| Some(((*concept)?, &of.field_name, &of.kind)));
    let mut seen: Vec<Concept> = Vec::new();
    let mut lines = Vec::new();
    for (concept, name, kind) in claimed.chain(given) {
        let value = |owner| json::to_json(&vocabulary.value(concept, kind, owner));
        let (own, other) = (value(Owner::Caller), value(Owner::Other));
        if !seen.contains(&concept) && is_name(kind) && own != other {
            seen.push(concept);
            lines.push(format!("{name} is {own} in the caller's tenant, {other} in the other"));
        }
    }
    lines
}

/// Formats a caller with its claims.
pub(super) fn caller(vocabulary: &Vocabulary<'_>, persona: Persona) -> String {
    let claims = vocabulary.claims(persona);
    let claims = claims.iter().map(|(name, value)| format!("{name}: {}", json::to_json(value)));
    format!("{persona} {{ {} }}", claims.collect::<Vec<_>>().join(", "))
}

/// Formats the arguments of a call.
pub(super) fn arguments(given: &Map<String, Value>) -> String {
    given.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join(", ")
}

/// Formats the answer of a read.
pub(super) fn read(model: &Model, answer: &Result<Answer, RunError>) -> String {
    match answer {
        Ok(answer) => cut(json::answer(model, answer).to_string()),
        Err(error) => refusal(model, error),
    }
}

/// Formats the answer of a write.
pub(super) fn write(model: &Model, answer: &Written) -> String {
    match answer {
        Ok(Some(found)) => cut(one(model, found)),
        Ok(None) => "success".to_owned(),
        Err(error) => refusal(model, error),
    }
}

fn one(model: &Model, found: &Found) -> String {
    json::found(model, found).to_string()
}

fn refusal(model: &Model, error: &RunError) -> String {
    let (RunError::Refused { item: Some(item), .. } | RunError::Conflict(Some(item))) = error else {
        return cut(error.to_string());
    };
    cut(format!("{error}, with the item {}", one(model, item)))
}

fn cut(text: String) -> String {
    if text.chars().count() <= ANSWER_MAX {
        return text;
    }
    text.chars().take(ANSWER_MAX).chain(['…']).collect()
}
