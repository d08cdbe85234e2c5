//! Reads as filters over all entities.

use keyform::AttributeValue;
use keyform_language::document::ast::Number as Quantity;
use keyform_language::schema::{Permission, Read, Result as ReadResult};

use super::compare::holds;
use super::value::Scope;
use super::{Call, Refusal, State, Stored, is_over};

/// Result of a read: entities in no particular order, or their number.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Items(Vec<Stored>),
    Count(usize),
}

/// Returns whether the read is defined by fields alone; a `key` clause refers to the text of keys.
pub fn is_interpreted(read: &Read) -> bool {
    read.key.is_none()
}

/// Answers a read after checking the caller's permission.
pub fn run(state: &State, call: &Call<'_>, read: &Read) -> Result<Answer, Refusal> {
    permit(&Scope::new(call, state, &read.parameters), read.allow.as_ref())?;
    answer(state, call, read)
}

/// Answers a read without a permission check.
pub fn answer(state: &State, call: &Call<'_>, read: &Read) -> Result<Answer, Refusal> {
    let entities = read.result.entities();
    let scope = Scope::new(call, state, &read.parameters);
    let is_meant = |stored: &&Stored| entities.contains(&stored.entity) && is_found(&scope, read, stored);
    let found: Vec<Stored> = state.items.iter().filter(is_meant).map(|stored| selected(call, read, stored)).collect();
    let ReadResult::Parts(parts) = &read.result else { return Ok(Answer::Count(found.len())) };
    let lacks = |(entity, number, _): &(Option<_>, Quantity, _)| {
        *number == Quantity::One && !found.iter().any(|stored| Some(stored.entity) == *entity)
    };
    if parts.iter().any(lacks) { Err(Refusal::NotFound) } else { Ok(Answer::Items(found)) }
}

fn is_found(scope: &Scope<'_>, read: &Read, stored: &Stored) -> bool {
    let entity = scope.call.model.entity(stored.entity);
    let is_there = read.with_expired.is_some() || !is_over(scope.call, stored);
    let index = read.via.as_ref().and_then(|(_, _, index)| *index);
    let is_in_index = index.is_none_or(|index| {
        let key = entity.key_of(Some(index));
        key.is_some_and(|key| key.fields().all(|field| stored.fields.contains_key(&entity.field(field).name)))
    });
    is_there
        && is_in_index
        && read.parameters.iter().all(|parameter| {
            entity.field_named(&parameter.field_name).is_none()
                || holds(parameter, entity, scope.call.arguments, &stored.fields)
        })
        && read.filter.as_ref().is_none_or(|filter| scope.holds_of(filter, Some(&stored.fields)))
}

/// Returns the fields that the read selects.
fn selected(call: &Call<'_>, read: &Read, stored: &Stored) -> Stored {
    let mut stored = stored.clone();
    if let Some(fields) = &read.select {
        let is_selected = |name: &str| {
            fields.iter().any(|((entity, field), _)| call.model.entity(*entity).field(*field).name == *name)
        };
        stored.fields.retain(|name, _| is_selected(name));
    }
    stored
}

/// Refuses a caller without permission.
pub fn permit(scope: &Scope<'_>, allow: Option<&Permission>) -> Result<(), Refusal> {
    let may = scope.call.caller.is_none()
        || match allow {
            Some(Permission::Public(_)) => true,
            Some(Permission::System(_)) => false,
            None => scope.call.model.caller.is_none(),
            Some(Permission::When(condition)) => scope.holds_of(condition, None),
        };
    if may { Ok(()) } else { Err(Refusal::Forbidden) }
}

/// Converts a read's answer to the value of a `let`.
pub fn as_let(read: &Read, answer: Answer) -> Option<AttributeValue> {
    let map = |stored: Stored| AttributeValue::M(stored.fields);
    let items = match answer {
        Answer::Count(count) => return Some((count as i64).into()),
        Answer::Items(items) => items,
    };
    let ReadResult::Parts(parts) = &read.result else { return None };
    match parts.as_slice() {
        [(_, Quantity::Many, _)] => Some(AttributeValue::L(items.into_iter().map(map).collect())),
        [(first, ..), ..] => items.into_iter().find(|stored| Some(stored.entity) == *first).map(map),
        [] => None,
    }
}
