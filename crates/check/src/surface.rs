//! The patterns of a model as external callers see them: audience, arguments, results and named refusals.
//!
//! The HTTP server, the OpenAPI description and the generated clients all use this module, so they agree.

use crate::Checked;
use keyform_language::bind::taken_name;
use keyform_language::document::ast::{Number, Verb};
use keyform_language::plan::{Role, WritePlan, remaining_name};
use keyform_language::schema::{
    Action, ChangeKind, Expr, ExprKind, FieldId, LetSource, Model, Origin, Parameter, Permission, Read,
    Result as ReadResult, Test, Type, ValuePath, Write, WriteStep, limit,
};

/// Outcome name of a refusal for which the model names no outcome: another writer changed the item.
pub const CONFLICT: &str = "Conflict";

/// Argument name of the page cursor; reserved beside the arguments of a paged read.
pub const CURSOR: &str = "cursor";

/// A read or a write, borrowed from the model.
#[derive(Clone, Copy, Debug)]
pub enum Pattern<'a> {
    /// A read; served with GET.
    Read(&'a Read),
    /// A write; served with POST.
    Write(&'a Write),
}

/// External callers that may reach a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Every caller (`allow public`); a token is required only if the pattern uses the caller.
    Everybody,
    /// Callers for which the `allow` condition holds, or any caller in a model without `caller` declaration.
    Callers,
    /// Rust code only (`allow system`).
    System,
    /// No external caller: the model declares a caller, but the pattern has no `allow`.
    Nobody,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub struct Argument<'a> {
    /// Name the caller uses; unique within the pattern.
    pub name: &'a str,
    /// Type of the value; a list for `in` parameters.
    pub kind: Type,
    /// True if the call fails without it.
    pub required: bool,
    /// Parameter it belongs to; a `between` parameter has two arguments.
    pub parameter: &'a Parameter,
}

impl<'a> Pattern<'a> {
    /// Returns the pattern with this name.
    #[must_use]
    pub fn find(model: &'a Model, name: &str) -> Option<Self> {
        Self::all(model).find(|pattern| pattern.name() == name)
    }

    /// Iterates over all patterns: reads, then writes, each in source order.
    pub fn all(model: &'a Model) -> impl Iterator<Item = Self> {
        model.reads.iter().map(Self::Read).chain(model.writes.iter().map(Self::Write))
    }

    /// Iterates over the patterns that external callers can reach.
    pub fn reachable(model: &'a Model) -> impl Iterator<Item = Self> {
        Self::all(model).filter(|pattern| matches!(pattern.audience(model), Audience::Everybody | Audience::Callers))
    }

    /// Returns the declared name, which is unique across reads and writes.
    #[must_use]
    pub fn name(self) -> &'a str {
        match self {
            Self::Read(read) => &read.name,
            Self::Write(write) => &write.name,
        }
    }

    /// Returns the documentation joined into one line; empty without documentation.
    #[must_use]
    pub fn docs(self) -> String {
        let docs = match self {
            Self::Read(read) => &read.docs,
            Self::Write(write) => &write.docs,
        };
        docs.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").trim().to_owned()
    }

    /// Returns the declared parameters in source order.
    #[must_use]
    pub fn parameters(self) -> &'a [Parameter] {
        match self {
            Self::Read(read) => &read.parameters,
            Self::Write(write) => &write.parameters,
        }
    }

    /// Returns the HTTP method of the pattern.
    #[must_use]
    pub fn method(self) -> &'static str {
        match self {
            Self::Read(_) => "GET",
            Self::Write(_) => "POST",
        }
    }

    fn allow(self) -> Option<&'a Permission> {
        match self {
            Self::Read(read) => read.allow.as_ref(),
            Self::Write(write) => write.allow.as_ref(),
        }
    }

    /// Returns the external callers that may reach the pattern.
    #[must_use]
    pub fn audience(self, model: &Model) -> Audience {
        match self.allow() {
            Some(Permission::Public(_)) => Audience::Everybody,
            Some(Permission::System(_)) => Audience::System,
            Some(Permission::When(_)) => Audience::Callers,
            None if model.caller.is_some() => Audience::Nobody,
            None => Audience::Callers,
        }
    }

    /// Iterates over the arguments of a call in declaration order.
    pub fn arguments(self, model: &'a Model) -> impl Iterator<Item = Argument<'a>> {
        self.parameters().iter().flat_map(move |parameter| {
            let required = self.requires(model, parameter);
            let kind = match parameter.test {
                Test::In => Type::List(Box::new(parameter.kind.clone()), Default::default()),
                _ => parameter.kind.clone(),
            };
            parameter.arguments.iter().map(move |name| Argument { name, kind: kind.clone(), required, parameter })
        })
    }

    /// Returns true if a call without the parameter fails. A write needs no value for an optional field, or for a field
    /// with a default when it creates the item.
    fn requires(self, model: &Model, parameter: &Parameter) -> bool {
        let Self::Write(write) = self else { return !parameter.optional };
        let actions = write.actions();
        let number = write.parameters.iter().position(|other| std::ptr::eq(other, parameter));
        let needs = |action: &&Action| {
            makes_of(model, action, parameter) || number.is_some_and(|number| stands_on(model, action, number))
        };
        if actions.iter().any(needs) {
            return true;
        }
        let Some((entity, field)) = parameter.field.filter(|_| !parameter.optional) else { return !parameter.optional };
        let mut verbs =
            actions.iter().filter(|action| action.entity == Some(entity)).map(|action| action.verb).peekable();
        let made = verbs.peek().is_some() && verbs.all(|verb| matches!(verb, Verb::Create | Verb::Put));
        let field = model.entity(entity).field(field);
        !(field.optional || field.null || made && field.has_source())
    }

    /// Returns true if the pattern cannot run without an identified caller.
    #[must_use]
    pub fn wants_caller(self, model: &Model) -> bool {
        match self {
            Self::Read(read) => read_wants_caller(read),
            Self::Write(write) => write_wants_caller(model, write),
        }
    }

    /// Returns the outcome names of refusals, each once: those in the model, those of changes that would leave the bounds
    /// of their type, those of taken unique values, and those of dependents that block a delete.
    #[must_use]
    pub fn outcomes(self, checked: &Checked) -> Vec<String> {
        let Self::Write(write) = self else { return Vec::new() };
        let lets = write.lets.iter().filter_map(|binding| binding.outcome.as_ref());
        let requires = write.requires.iter().filter_map(|require| require.outcome.as_ref());
        let mut names: Vec<String> = lets.chain(requires).map(|outcome| outcome.name.clone()).collect();
        for action in write.actions() {
            let conditions = action.conditions.iter().filter_map(|condition| condition.outcome.as_ref());
            names.extend(action.outcome.iter().chain(conditions).map(|outcome| outcome.name.clone()));
        }
        names.extend(write.actions().into_iter().flat_map(|action| limited(checked, write, action)));
        names.extend(taken(checked, write));
        names.extend(remaining(checked, write));
        let mut seen = Vec::new();
        for name in names {
            if name != "keep" && !seen.contains(&name) {
                seen.push(name);
            }
        }
        seen
    }

    /// Returns true if the result may be missing although nothing was refused: a read of `E?`, or a write that may have
    /// nothing to do or does not create or change the entity it returns.
    #[must_use]
    pub fn may_be_none(self) -> bool {
        match self {
            Self::Read(read) => {
                matches!(&read.result, ReadResult::Parts(parts) if matches!(parts.as_slice(), [(_, Number::Maybe, _)]))
            }
            Self::Write(write) => !always_returns(write),
        }
    }

    /// Returns true if the result is paged with cursors.
    #[must_use]
    pub fn has_pages(self) -> bool {
        let Self::Read(read) = self else { return false };
        let many =
            matches!(&read.result, ReadResult::Parts(parts) if matches!(parts.as_slice(), [(_, Number::Many, _)]));
        many && read.all.is_none() && read.parameters.iter().all(|parameter| parameter.test != Test::In)
    }
}

/// Returns true if an action creates an item that needs the parameter's value for a field without default.
fn makes_of(model: &Model, action: &Action, parameter: &Parameter) -> bool {
    let Some(entity) = action.entity.filter(|_| matches!(action.verb, Verb::Create | Verb::Put)) else { return false };
    let entity = model.entity(entity);
    let Some(id) = entity.field_named(&parameter.field_name) else { return false };
    let unwritten = action.changes.iter().any(|change| change.field == Some(id) && !change.written);
    unwritten && !entity.field(id).optional && !entity.field(id).null && !entity.field(id).has_source()
}

/// Returns true if an action writes the parameter directly into a required field, or locates its item by it.
fn stands_on(model: &Model, action: &Action, number: usize) -> bool {
    let is_it = |expr: &Expr| {
        matches!(&expr.kind, ExprKind::ValuePath(place)
            if place.path.is_empty() && matches!(place.origin, Origin::Parameter(of) if of == number))
    };
    let must = |field: FieldId| {
        action.entity.is_some_and(|entity| {
            let field = model.entity(entity).field(field);
            !field.optional && !field.null
        })
    };
    let makes = matches!(action.verb, Verb::Create | Verb::Put);
    let writes = |change: &keyform_language::schema::Change| {
        let set = matches!(&change.kind, ChangeKind::Set(expr) if is_it(expr));
        change.written && set && change.path().is_empty() && change.field.is_some_and(must)
    };
    action.changes.iter().any(writes) || !makes && action.keys.iter().any(|(_, expr)| is_it(expr))
}

/// Returns the outcome names of changes whose result would not fit the type of its field.
fn limited(checked: &Checked, write: &Write, action: &Action) -> Vec<String> {
    let entity = action.entity.map(|id| checked.model.entity(id));
    entity.map(|entity| limit::outcomes(entity, action, &write.parameters)).unwrap_or_default()
}

/// Returns the outcome names of deletes that fail because other items still refer to the deleted one.
fn remaining(checked: &Checked, write: &Write) -> Vec<String> {
    let deletes = write.actions().into_iter().filter(|action| action.verb == Verb::Delete);
    let parents = deletes.filter_map(|action| action.entity);
    let refusing = parents.flat_map(|parent| checked.plans.dependents.all_refusing(parent));
    refusing.map(|entity| remaining_name(&checked.model.entity(entity).name)).collect()
}

/// Returns the outcome names of taken unique values for which the model names no outcome.
fn taken(checked: &Checked, write: &Write) -> Vec<String> {
    let number = checked.model.writes.iter().position(|other| other.name == write.name);
    let plan: Option<&WritePlan> = number.and_then(|number| checked.plans.writes.get(number)?.as_ref());
    let claims = plan.into_iter().flat_map(|plan| &plan.actions).filter_map(|planned| {
        let Role::Claim(field) = planned.role else { return None };
        let named = find(&write.steps, &planned.step)
            .is_some_and(|action| action.verb == Verb::Create && action.outcome.is_some());
        (!named).then(|| taken_name(&checked.model.entity(planned.entity).field(field).name))
    });
    claims.collect()
}

fn find<'a>(steps: &'a [WriteStep], path: &[usize]) -> Option<&'a Action> {
    let (first, rest) = path.split_first()?;
    match steps.get(*first)? {
        WriteStep::Action(action) => Some(action),
        WriteStep::For(each) => find(&each.steps, rest),
    }
}

/// Returns true if a write that is not refused always creates or changes the item it returns. A step inside `for` does
/// not count, because the list may be empty; neither does a write with an `else keep` outcome, which succeeds without a
/// change.
fn always_returns(write: &Write) -> bool {
    let Some(entity) = write.returned_entity() else { return false };
    let keeps = |outcome: &Option<keyform_language::schema::Outcome>| {
        outcome.as_ref().is_some_and(|outcome| outcome.name == "keep")
    };
    let lets = write.lets.iter().any(|binding| keeps(&binding.outcome));
    let requires = write.requires.iter().any(|require| keeps(&require.outcome));
    let actions = write
        .actions()
        .into_iter()
        .any(|action| keeps(&action.outcome) || action.conditions.iter().any(|condition| keeps(&condition.outcome)));
    let makes = write.steps.iter().any(|step| {
        matches!(step, WriteStep::Action(action) if action.entity == Some(entity) && !matches!(action.verb, Verb::Delete | Verb::Check))
    });
    makes && write.batch.is_none() && !lets && !requires && !actions
}

fn read_wants_caller(read: &Read) -> bool {
    read.filter.as_ref().is_some_and(names_caller)
}

fn write_wants_caller(model: &Model, write: &Write) -> bool {
    let lets = write.lets.iter().any(|binding| match &binding.source {
        LetSource::Read { read, arguments } => {
            arguments.iter().any(names_caller) || read_wants_caller(model.read(*read))
        }
        LetSource::Value(value) => names_caller(value),
        LetSource::Unknown => false,
    });
    let requires = write.requires.iter().any(|require| names_caller(&require.condition));
    lets || requires || steps_want_caller(&write.steps)
}

fn steps_want_caller(steps: &[WriteStep]) -> bool {
    steps.iter().any(|step| match step {
        WriteStep::Action(action) => action_wants_caller(action),
        WriteStep::For(each) => names_caller(&each.list) || steps_want_caller(&each.steps),
    })
}

fn action_wants_caller(action: &Action) -> bool {
    let changes = action.changes.iter().any(|change| match &change.kind {
        ChangeKind::Set(value)
        | ChangeKind::Increase(value)
        | ChangeKind::Decrease(value)
        | ChangeKind::Append(value)
        | ChangeKind::Add(value)
        | ChangeKind::Take(value) => names_caller(value),
        ChangeKind::Remove => false,
    });
    changes
        || action.keys.iter().any(|(_, value)| names_caller(value))
        || action.conditions.iter().any(|condition| names_caller(&condition.condition))
}

fn names_caller(expr: &Expr) -> bool {
    let mut named = false;
    expr.walk(&mut |part| {
        named |= matches!(&part.kind, ExprKind::Guard { .. })
            || matches!(&part.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Caller(_), .. }));
    });
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = r#"model notes

caller userId: slug(1..20)

table Notes {
  key pk
}

entity Note in Notes {
  key "NOTE#{noteId}"
  noteId: slug(1..20)
  owner:  slug(1..20)
  note:   string(1..9)?
  kind:   "a" | "b" = "a"
}

read open(noteId) -> Note?  allow public
  unscoped Note "test data is for every caller"

read mine(noteId) -> Note? where owner = caller.userId  allow public

read own(owner) -> Note? key "NOTE#{owner}"  allow owner = caller.userId

read code(noteId) -> Note?  allow system

read unsaid(noteId) -> Note?

write put(noteId, note, kind) {
  allow public
  create Note { owner = caller.userId } else NoteExists
}

write change(noteId, kind) {
  allow system
  update Note(noteId) { kind = kind } else UnknownNote
}
"#;

    #[test]
    fn the_author_says_who_can_reach_a_pattern() {
        let model = Checked::read(MODEL).model;
        let check = |name: &str, audience, wants_caller| {
            let pattern = Pattern::find(&model, name).expect("a pattern");
            assert_eq!((pattern.audience(&model), pattern.wants_caller(&model)), (audience, wants_caller), "{name}");
        };
        check("open", Audience::Everybody, false);
        check("mine", Audience::Everybody, true);
        check("own", Audience::Callers, false);
        check("code", Audience::System, false);
        check("unsaid", Audience::Nobody, false);
        check("put", Audience::Everybody, true);
        let reachable: Vec<&str> = Pattern::reachable(&model).map(Pattern::name).collect();
        assert_eq!(reachable, ["open", "mine", "own", "put"]);
        let without = Checked::read(&MODEL.replace("caller userId: slug(1..20)\n", "")).model;
        let unsaid = Pattern::find(&without, "unsaid").expect("a pattern");
        assert_eq!(unsaid.audience(&without), Audience::Callers, "without a `caller` all may");
    }

    #[test]
    fn arguments_and_outcomes_are_those_of_the_text() {
        let checked = Checked::read(MODEL);
        let model = &checked.model;
        let check = |name: &str, arguments: &[(&str, bool)], outcomes: &[&str]| {
            let pattern = Pattern::find(model, name).expect("a pattern");
            let found: Vec<_> = pattern.arguments(model).map(|argument| (argument.name, argument.required)).collect();
            assert_eq!(found, arguments);
            assert_eq!(pattern.outcomes(&checked), outcomes);
        };
        check("put", &[("noteId", true), ("note", false), ("kind", false)], &["NoteExists"]);
        check("change", &[("noteId", true), ("kind", true)], &["UnknownNote"]);
        check("open", &[("noteId", true)], &[]);
    }
}
