//! Resolves guards.

use crate::document::ast;
use crate::schema::Model;
use crate::schema::pattern::Guard;

use super::expression::Scope;
use super::found::Found;
use super::mention;
use super::names::{Declared, Names};
use super::parameter::{self, Hints};
use super::types::Types;

/// Resolves the signature of a guard, which others need to call it.
pub(super) fn outline(
    names: &Names<'_>,
    types: &Types<'_>,
    declared: Declared<'_, ast::Guard>,
    found: &mut Found,
) -> Guard {
    let it = declared.value;
    let entity = names.entity(&it.item.entity, found);
    let entities: Vec<_> = entity.into_iter().collect();
    Guard {
        name: it.name.text.clone(),
        name_span: it.name.span,
        span: declared.span,
        docs: declared.docs.to_vec(),
        parameters: parameter::resolve(types, &it.parameters, &entities, &mention::in_guard(it), found),
        entity,
        keys: Vec::new(),
        equalities: Vec::new(),
        condition: None,
    }
}

/// Resolves the keys and the condition, and infers the types of parameters from their use.
pub(super) fn complete(names: &Names<'_>, model: &Model, number: usize, it: &ast::Guard, found: &mut Found) -> Guard {
    let mut guard = model.guards[number].clone();
    let entities: Vec<_> = guard.entity.into_iter().collect();
    let scope = Scope {
        parameters: &model.guards[number].parameters,
        fields_first: false,
        ..Scope::of_items(names, model, Vec::new())
    };
    (guard.keys, guard.equalities) = scope.item(&it.item, guard.entity, true, found);
    let scope = Scope { items: entities.clone(), fields_first: true, broken: entities.is_empty(), ..scope };
    guard.condition = it.condition.as_ref().map(|condition| scope.expr(condition, found));
    let mut hints = Hints::default();
    let equalities = guard.equalities.iter().map(|equality| (&equality.field, &equality.value));
    for (field, value) in guard.keys.iter().map(|(field, value)| (field, value)).chain(equalities) {
        let kind = guard.entity.map(|entity| model.entity(entity).field(*field).kind.clone());
        hints.value(value, &kind.unwrap_or(crate::schema::Type::Unknown));
        hints.within(model, value);
    }
    guard.condition.iter().for_each(|condition| hints.within(model, condition));
    hints.apply(&mut guard.parameters);
    if !entities.is_empty() {
        for (written, parameter) in it.parameters.iter().zip(&mut guard.parameters) {
            parameter::report_unknown(model, written, parameter, &entities, found);
        }
    }
    guard
}
