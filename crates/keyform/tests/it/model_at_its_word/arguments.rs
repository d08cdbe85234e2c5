//! Arguments of random calls: mostly stored values, so that calls interact.

use keyform::{AttributeValue, Attributes, World as _};
use keyform_language::schema::{Field, Model, Parameter, Permission, Test, Type};
use keyform_runtime::run;
use keyform_scenario::Dice;

use super::World;
use crate::naive::Stored;
use crate::naive::draw;

/// Number of stored entities to choose the best match from.
const CANDIDATES: usize = 5;
/// Maximum attempts to draw a value within bounds.
const TRIES: usize = 500;

impl World {
    /// Returns arguments and a caller, mostly of a stored entity. A write may be called without optional arguments.
    pub(super) fn call(
        &mut self,
        parameters: &[Parameter],
        allow: Option<&Permission>,
        writes: bool,
    ) -> (Attributes, Option<Attributes>) {
        let runner = self.runner.clone();
        let model = &runner.checked().model;
        let like = self.like(model, parameters);
        let mut arguments = Attributes::new();
        for parameter in parameters {
            let field = parameter.field.map(|(entity, field)| model.entity(entity).field(field));
            if writes && field.is_some_and(|field| field.optional) && self.dice.below(3) == 0 {
                continue;
            }
            for name in &parameter.arguments {
                let argument = self.argument(model, parameter, like.as_ref());
                arguments.insert(name.clone(), argument);
            }
        }
        let like = self.acquainted(model, like);
        let is_code = matches!(allow, Some(Permission::System(_))) && self.dice.below(20) > 0;
        let claims: &[Field] = model.caller.as_ref().map_or(&[], |caller| &caller.fields);
        let claim = |claim: &Field| (claim.name.clone(), self.drawn(model, &claim.kind, &claim.name, like.as_ref()));
        let caller = (!is_code).then(|| claims.iter().map(claim).collect());
        (arguments, caller)
    }

    /// Returns a stored entity as the subject of the call: of several candidates the one with the most matching fields.
    fn like(&mut self, model: &Model, parameters: &[Parameter]) -> Option<Stored> {
        let claims = model.caller.iter().flat_map(|caller| &caller.fields).map(|claim| &claim.name);
        let names: Vec<&String> = parameters.iter().map(|parameter| &parameter.field_name).chain(claims).collect();
        let count = self.state.items.len();
        let few: Vec<usize> = (0..CANDIDATES.min(count)).map(|_| self.dice.below(count)).collect();
        let few = few.into_iter().map(|number| &self.state.items[number]);
        few.max_by_key(|stored| names.iter().filter(|name| stored.fields.contains_key(**name)).count()).cloned()
    }

    /// Returns an entity that identifies a caller and is related to the subject: they share a string, such as an id.
    fn acquainted(&mut self, model: &Model, like: Option<Stored>) -> Option<Stored> {
        let claim = &model.caller.as_ref()?.fields.first()?.name;
        let like = like.filter(|_| self.dice.below(4) > 0)?;
        let ids: Vec<&AttributeValue> = like.fields.values().filter(|it| matches!(it, AttributeValue::S(_))).collect();
        let knows = |stored: &&Stored| {
            stored.fields.contains_key(claim) && stored.fields.values().any(|value| ids.contains(&value))
        };
        let known: Vec<&Stored> = self.state.items.iter().filter(knows).collect();
        let number = self.dice.below(known.len().max(1));
        known.get(number).map(|stored| (*stored).clone()).or_else(|| Some(like.clone()))
    }

    fn argument(&mut self, model: &Model, parameter: &Parameter, like: Option<&Stored>) -> AttributeValue {
        let name = &parameter.field_name;
        match (parameter.test, parameter.kind.resolved()) {
            (Test::In, kind) => self.list(model, kind, name, like),
            (_, Type::List(of, _)) => self.list(model, of, name, like),
            (Test::Begins, kind) => match self.drawn(model, kind, name, like) {
                AttributeValue::S(text) => AttributeValue::S(text.chars().take(1).collect()),
                other => other,
            },
            (_, kind) => self.drawn(model, kind, name, like),
        }
    }

    /// Returns up to three distinct values.
    fn list(&mut self, model: &Model, kind: &Type, name: &str, like: Option<&Stored>) -> AttributeValue {
        let mut list = Vec::new();
        for _ in 0..self.dice.below(4) {
            let value = self.drawn(model, kind, name, like);
            if !list.contains(&value) {
                list.push(value);
            }
        }
        AttributeValue::L(list)
    }

    /// Draws a value of a type: from the field with that name, from another field of that type, or from a small pool.
    fn drawn(&mut self, model: &Model, kind: &Type, name: &str, like: Option<&Stored>) -> AttributeValue {
        let fits = |value: &&AttributeValue| run::fits(value, kind);
        let other = (!self.state.items.is_empty()).then(|| self.dice.below(self.state.items.len()));
        let other = other.map(|number| &self.state.items[number]);
        let alike = |stored: &Stored, dice: &mut Dice| {
            let entity = model.entity(stored.entity);
            let is_alike = |field: &&Field| field.kind.resolved().is_same_kind(kind.resolved());
            let values: Vec<_> =
                entity.fields.iter().filter(is_alike).filter_map(|it| stored.fields.get(&it.name)).collect();
            (!values.is_empty()).then(|| values[dice.below(values.len())].clone())
        };
        let roll = self.dice.below(20);
        let named = like.and_then(|stored| stored.fields.get(name)).filter(|_| roll < 14).cloned();
        let of_like = |dice: &mut Dice| like.filter(|_| roll < 16).and_then(|stored| alike(stored, dice));
        let of_other = |dice: &mut Dice| other.filter(|_| roll < 18).and_then(|stored| alike(stored, dice));
        let known = named.or_else(|| of_like(&mut self.dice)).or_else(|| of_other(&mut self.dice));
        if let Some(known) = known.as_ref().filter(fits) {
            return known.clone();
        }
        let now = self.clock.now_millis();
        let drawn =
            (0..TRIES).map(|_| draw::value(kind, name, now, &mut self.dice)).find(|value| run::fits(value, kind));
        drawn.unwrap_or_else(|| panic!("no value of {kind:?} for {name}"))
    }
}
