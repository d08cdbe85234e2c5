//! Writes as sequential steps.

use keyform::{AttributeValue, Attributes};
use keyform_language::document::ast::{Number as Quantity, Presence, Verb};
use keyform_language::schema::{
    Action, EntityId, Let, LetSource, Outcome, Result as ReadResult, Type, Unique, Write, WriteStep,
};

use super::value::Scope;
use super::{Call, Refusal, State, Stored, change, dependents, is_over, key_names, read};

/// State after a write, and the write's result.
pub type Written = (State, Option<Stored>);

/// Returns whether the interpreter covers the write: all its reads are covered, and no `for` generates an id per
/// element.
pub fn is_interpreted(model: &keyform_language::schema::Model, write: &Write) -> bool {
    let makes = |step: &WriteStep| matches!(step, WriteStep::Action(action) if matches!(action.verb, Verb::Create));
    let repeats = write.steps.iter().any(|step| matches!(step, WriteStep::For(each) if each.steps.iter().any(makes)));
    !repeats && write.lets.iter().filter_map(Let::read).all(|id| read::is_interpreted(model.read(id)))
}

/// Runs a write.
pub fn run(state: &State, call: &Call<'_>, write: &Write) -> Result<Written, Refusal> {
    let mut scope = Scope::new(call, state, &write.parameters);
    for binding in &write.lets {
        let value = let_value(&scope, binding)?;
        scope.lets.push(value);
    }
    read::permit(&scope, write.allow.as_ref())?;
    let mut pass = Pass {
        scope,
        write,
        state: state.clone(),
        touched: Vec::new(),
        deleted: Vec::new(),
        before: None,
        after: None,
    };
    match pass.all() {
        Ok(()) if write.batch.is_some() => Ok((pass.state, None)),
        Ok(()) => Ok((pass.state, pass.after.or(pass.before.flatten()))),
        Err(Refusal::Named(name)) if name == "keep" => Ok((state.clone(), None)),
        Err(refusal) => Err(refusal),
    }
}

fn let_value(scope: &Scope<'_>, binding: &Let) -> Result<Option<AttributeValue>, Refusal> {
    match &binding.source {
        LetSource::Value(expr) => Ok(scope.value(expr, &Type::Unknown)),
        LetSource::Unknown => Ok(None),
        LetSource::Read { read, arguments } => {
            let read = scope.call.model.read(*read);
            let value = scope.read(read, arguments).ok().and_then(|answer| read::as_let(read, answer));
            let must_be =
                matches!(&read.result, ReadResult::Parts(parts) if matches!(parts.as_slice(), [(_, Quantity::One, _)]));
            if value.is_none() && must_be && binding.outcome.is_none() { Err(Refusal::NotFound) } else { Ok(value) }
        }
    }
}

/// Write in progress.
struct Pass<'a> {
    scope: Scope<'a>,
    write: &'a Write,
    /// Copy of the state, discarded on refusal.
    state: State,
    /// Entities that the write has touched so far.
    touched: Vec<(EntityId, Attributes)>,
    /// Entities that it deletes, or what is known of them.
    deleted: Vec<Stored>,
    /// Result of the write: the first of its entity that is created or changed, otherwise the first that is deleted, if
    /// it existed.
    before: Option<Option<Stored>>,
    after: Option<Stored>,
}

impl Pass<'_> {
    fn all(&mut self) -> Result<(), Refusal> {
        for (number, binding) in self.write.lets.iter().enumerate() {
            if binding.read().is_some() && binding.outcome.is_some() && self.scope.lets[number].is_none() {
                return Err(refusal(binding.outcome.as_ref()));
            }
        }
        for require in &self.write.requires {
            demand(self.scope.holds_of(&require.condition, None), require.outcome.as_ref())?;
        }
        self.steps(&self.write.steps, &mut Self::touch)?;
        self.steps(&self.write.steps, &mut Self::action)?;
        dependents::follow(&mut self.state, self.scope.call, &self.deleted)
    }

    fn steps(
        &mut self,
        steps: &[WriteStep],
        each_action: &mut dyn FnMut(&mut Self, &Action) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        for step in steps {
            match step {
                WriteStep::Action(action) => each_action(self, action)?,
                WriteStep::For(each) => {
                    let list = match self.scope.value(&each.list, &Type::Unknown) {
                        Some(AttributeValue::L(list)) => list,
                        Some(AttributeValue::Ss(set)) => set.into_iter().map(AttributeValue::S).collect(),
                        _ => Vec::new(),
                    };
                    let most = each.max.map_or(usize::MAX, |max| max as usize);
                    assert!(list.len() <= most, "a list longer than its `max` is refused before");
                    for element in list {
                        self.scope.elements.push(element);
                        self.steps(&each.steps, each_action)?;
                        self.scope.elements.pop();
                    }
                }
            }
        }
        Ok(())
    }

    /// Records the entity of an action. A write may touch an entity only once and must know its whole key.
    fn touch(&mut self, action: &Action) -> Result<(), Refusal> {
        let id = action.entity.expect("the entity is known");
        let entity = self.scope.call.model.entity(id);
        let key = match action.verb {
            Verb::Create | Verb::Put => {
                let made = change::new_item(&self.scope, entity, action);
                change::check_types(entity, &made)?;
                made
            }
            Verb::Update | Verb::Upsert => {
                change::check_values(&self.scope, entity, action)?;
                self.scope.fields(id, &action.keys)
            }
            Verb::Delete | Verb::Check => self.scope.fields(id, &action.keys),
        };
        let names = key_names(entity);
        let key: Attributes = key.into_iter().filter(|(name, _)| names.contains(&name.as_str())).collect();
        let touched = (id, key);
        if touched.1.len() < names.len() || self.touched.contains(&touched) {
            return Err(Refusal::Impossible);
        }
        self.touched.push(touched);
        Ok(())
    }

    fn action(&mut self, action: &Action) -> Result<(), Refusal> {
        let call = self.scope.call;
        let id = action.entity.expect("the entity is known");
        let entity = call.model.entity(id);
        let made = match action.verb {
            Verb::Create | Verb::Put => change::new_item(&self.scope, entity, action),
            _ => self.scope.fields(id, &action.keys),
        };
        let before = self.state.living(call, id, &made).map(|stored| stored.fields.clone());
        if before.as_ref().is_some_and(|before| self.differs(action, before)) {
            // An item that differs is absent for this write, and no write of it may take its place.
            if matches!(action.verb, Verb::Put | Verb::Upsert) || !self.scope.elements.is_empty() {
                return Err(refusal(action.outcome.as_ref()));
            }
            return self.demands(action, None);
        }
        self.demands(action, before.as_ref())?;
        let after = match action.verb {
            Verb::Create | Verb::Put => {
                let replaced = before.as_ref().filter(|_| action.verb == Verb::Put && self.write.batch.is_none());
                Some(change::replacing(entity, action, &made, replaced)?)
            }
            Verb::Update | Verb::Upsert => {
                let after = change::changed(&self.scope, entity, action, &made, before.as_ref())?;
                change::keeps_immutable(entity, action, before.as_ref(), &after)?;
                Some(after)
            }
            Verb::Delete => None,
            Verb::Check => return Ok(()),
        };
        if let Some(place) = self.state.at(call.model, id, &made) {
            self.state.items.remove(place);
        }
        if action.verb == Verb::Delete {
            let mut fields = before.clone().unwrap_or_default();
            fields.extend(made.clone());
            self.deleted.push(Stored { entity: id, fields });
        }
        let is_returned = self.write.returned_entity() == Some(id);
        match after.map(|fields| Stored { entity: id, fields }) {
            Some(stored) => {
                self.keep_unique(action, &stored)?;
                if is_returned && self.after.is_none() {
                    self.after = Some(stored.clone());
                }
                self.state.items.push(stored);
            }
            None if is_returned && self.before.is_none() => {
                self.before = Some(before.map(|fields| Stored { entity: id, fields }));
            }
            None => {}
        }
        Ok(())
    }

    /// Returns whether a stored item lacks a value that the step names besides its key.
    fn differs(&self, action: &Action, before: &Attributes) -> bool {
        let entity = self.scope.call.model.entity(action.entity.expect("the entity is known"));
        action.equalities.iter().any(|equality| {
            let field = entity.field(equality.field);
            let wanted = self.scope.value(&equality.value, &field.kind);
            wanted.is_none() || wanted.as_ref() != before.get(&field.name)
        })
    }

    fn demands(&self, action: &Action, before: Option<&Attributes>) -> Result<(), Refusal> {
        let presence = match action.verb {
            Verb::Create => Some(Presence::Absent),
            Verb::Update => Some(Presence::Exists),
            _ => action.presence,
        };
        if let Some(presence) = presence {
            demand(before.is_some() == (presence == Presence::Exists), action.outcome.as_ref())?;
        }
        for condition in &action.conditions {
            demand(self.scope.holds_of(&condition.condition, before), condition.outcome.as_ref())?;
        }
        Ok(())
    }

    /// Refuses if another entity has the same unique value.
    fn keep_unique(&self, action: &Action, made: &Stored) -> Result<(), Refusal> {
        let call = self.scope.call;
        let entity = call.model.entity(made.entity);
        let unique = entity.fields.iter().filter_map(|field| Some((field, field.flags.unique.as_ref()?)));
        for (field, Unique { per, .. }) in unique {
            let mut names = vec![&field.name];
            names.extend(per.iter().map(|part| &entity.field(*part).name));
            let same = |other: &Stored| {
                other.entity == made.entity
                    && !is_over(call, other)
                    && names.iter().all(|name| {
                        made.fields.contains_key(*name) && other.fields.get(*name) == made.fields.get(*name)
                    })
            };
            if self.state.items.iter().any(same) {
                return Err(match (action.verb, &action.outcome) {
                    (Verb::Create, Some(outcome)) => Refusal::Named(outcome.name.clone()),
                    _ => Refusal::Named(taken(&field.name)),
                });
            }
        }
        Ok(())
    }
}

/// Returns the outcome name for a unique field: `EmailTaken` for `email`.
fn taken(field: &str) -> String {
    let (first, rest) = field.split_at(1);
    format!("{}{rest}Taken", first.to_uppercase())
}

fn demand(holds: bool, outcome: Option<&Outcome>) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(refusal(outcome)) }
}

fn refusal(outcome: Option<&Outcome>) -> Refusal {
    outcome.map_or(Refusal::Conflict, |outcome| Refusal::Named(outcome.name.clone()))
}
