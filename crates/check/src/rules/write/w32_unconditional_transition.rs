//! W32: a write sets the state of an item whatever state it is in.
//!
//! An enumeration or a boolean is a state if another write tests it before setting it, if another write demands the value that is
//! set here, or if the write counts something along with it, which a repetition counts twice.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::{BinaryOp, Verb};
use keyform_language::schema::{
    Action, Change, ChangeKind, Entity, EntityId, Expr, ExprKind, FieldId, Model, Type, Write,
};
use keyform_language::span::Span;

use super::{actions_by_entity, version_of};

pub(super) static RULE: Rule = Rule {
    code: Code("W32"),
    severity: Severity::Warning,
    title: "a write sets a state whatever the state is",
    page: include_str!("../../../../../docs/rules/W32.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    for (id, steps) in actions_by_entity(model) {
        for (write, action) in steps.iter().copied().filter(|(_, action)| action.verb == Verb::Update) {
            for (change, field) in transitions(model.entity(id), action) {
                if is_role(model, id, field) || is_tested(model.entity(id), write, action, field) {
                    continue;
                }
                let step = Transition { model, id, steps: &steps, write, action, change, field };
                findings.extend(step.evidence().map(|(span, text)| finding(&step, span, text)));
            }
        }
    }
}

/// A step that sets a state without a test.
struct Transition<'a> {
    model: &'a Model,
    id: EntityId,
    /// All steps on items of the entity.
    steps: &'a [(&'a Write, &'a Action)],
    write: &'a Write,
    action: &'a Action,
    change: &'a Change,
    field: FieldId,
}

/// Returns the changes that set an enumeration or a boolean to a literal.
fn transitions<'a>(entity: &'a Entity, action: &'a Action) -> impl Iterator<Item = (&'a Change, FieldId)> {
    action.changes.iter().filter(|change| change.written).filter_map(|change| {
        let field = change.field.filter(|_| change.path().is_empty())?;
        let kind = &entity.field(field).kind;
        let is_state = matches!(kind.resolved(), Type::OneOf(_)) || kind.is_bool();
        (is_state && literal(change).is_some()).then_some((change, field))
    })
}

/// Returns the literal that a change sets, as it is written.
fn literal(change: &Change) -> Option<String> {
    match &change.kind {
        ChangeKind::Set(Expr { kind: ExprKind::Text(text), .. }) => Some(format!("\"{text}\"")),
        ChangeKind::Set(Expr { kind: ExprKind::Bool(value), .. }) => Some(value.to_string()),
        _ => None,
    }
}

/// Returns whether a guard decides by the field: a role or a level, which its administrators set as they like.
fn is_role(model: &Model, id: EntityId, field: FieldId) -> bool {
    let mut conditions =
        model.guards.iter().filter(|guard| guard.entity == Some(id)).filter_map(|guard| guard.condition.as_ref());
    conditions.any(|condition| condition.own_fields().contains(&field))
}

/// Returns whether the request depends on the state: by a condition, an equality, or the version.
fn is_tested(entity: &Entity, write: &Write, action: &Action, field: FieldId) -> bool {
    let is_equal = action.equalities.iter().any(|equality| equality.field == field);
    let has_version = version_of(entity).is_some_and(|version| expects(action, version));
    action.tests(field) || is_equal || has_version || has_marker(action) || is_decided(write, action, field)
}

/// Returns whether the caller passes the version: it has seen the state. A version that the write itself has read only
/// excludes changes in between.
fn expects(action: &Action, version: FieldId) -> bool {
    let mut conditions = action.conditions.iter().flat_map(|condition| condition.condition.conjuncts());
    conditions.any(|part| part.own_fields().contains(&version) && !part.parameters().is_empty())
}

/// Returns whether a condition tests a field that the step sets, such as the time of the last change: a repeated or late
/// call is then refused.
fn has_marker(action: &Action) -> bool {
    let mut fields = action.changes.iter().filter(|change| change.written).filter_map(|change| change.field);
    fields.any(|field| action.tests(field))
}

/// Returns whether a `require` decides by the state that a `let` has read. Rule W06 reports that.
fn is_decided(write: &Write, action: &Action, field: FieldId) -> bool {
    use keyform_language::schema::{Origin, ValuePath};
    write.requires.iter().any(|require| {
        let mut found = false;
        require.condition.walk(&mut |part| {
            found |= matches!(&part.kind, ExprKind::ValuePath(ValuePath {
                origin: Origin::Let { entity, field: Some(of), .. }, ..
            }) if *entity == action.entity && *of == field);
        });
        found
    })
}

impl Transition<'_> {
    /// Returns what shows that the field is a state and that its test matters.
    fn evidence(&self) -> Option<(Span, String)> {
        let name = &self.model.entity(self.id).field(self.field).name;
        let guarded = || {
            let (write, span) = self.guarded().filter(|_| self.has_effect())?;
            Some((span, format!("`{write}` tests `{name}` before it sets it")))
        };
        let demanded = || {
            let (write, span) = self.demanded().filter(|_| self.has_many_states())?;
            Some((span, format!("`{write}` demands this state")))
        };
        let counted = || self.counted().map(|span| (span, "counted again by a repetition".to_owned()));
        guarded().or_else(demanded).or_else(counted)
    }

    /// Returns whether the field has more than two values.
    fn has_many_states(&self) -> bool {
        let kind = &self.model.entity(self.id).field(self.field).kind;
        matches!(kind.resolved(), Type::OneOf(words) if words.len() > 2)
    }

    fn others(&self) -> impl Iterator<Item = &Action> {
        self.write.actions().into_iter().filter(|other| other.span != self.action.span)
    }

    /// Returns whether the transition can do harm. With two states a repeated one changes nothing by itself, so it counts
    /// only if the write has other effects.
    fn has_effect(&self) -> bool {
        let makes_more = self.others().any(|other| other.verb != Verb::Check);
        let counts = self.action.changes.iter().any(|change| change.written && change.is_cumulative());
        self.has_many_states() || makes_more || counts
    }

    /// Returns the steps of other writes on items of the entity.
    fn elsewhere(&self) -> impl Iterator<Item = (&Write, &Action)> {
        self.steps.iter().copied().filter(|(write, _)| write.name != self.write.name)
    }

    /// Returns a change of the same field that another write makes only in certain states.
    fn guarded(&self) -> Option<(&str, Span)> {
        let entity = self.model.entity(self.id);
        self.elsewhere().filter(|(_, action)| action.tests(self.field)).find_map(|(write, action)| {
            let other = transitions(entity, action).find(|(_, of)| *of == self.field);
            other.map(|(other, _)| (write.name.as_str(), other.span))
        })
    }

    /// Returns a condition of another write that only items in the new state meet.
    fn demanded(&self) -> Option<(&str, Span)> {
        let value = self.change.value()?;
        self.elsewhere().find_map(|(write, action)| {
            let mut tests = action.conditions.iter().flat_map(|it| it.condition.conjuncts());
            let test = tests.find(|test| test.own_fields() == [self.field] && accepts(test, value))?;
            Some((write.name.as_str(), test.span))
        })
    }

    /// Returns a counter that the write changes beside the state, unless another step refuses a repetition.
    fn counted(&self) -> Option<Span> {
        let refuses = |other: &Action| match other.verb {
            Verb::Create | Verb::Delete => true,
            Verb::Update | Verb::Upsert | Verb::Put | Verb::Check => !transitions_tested(self.model, other).is_empty(),
        };
        if self.others().any(refuses) || !self.action.conditions.iter().all(|it| is_verification(&it.condition)) {
            return None;
        }
        let counts = |change: &&Change| matches!(change.kind, ChangeKind::Increase(_) | ChangeKind::Decrease(_));
        self.others().flat_map(|other| &other.changes).find(counts).map(|change| change.span)
    }
}

/// Returns the states that a step both tests and sets.
fn transitions_tested<'a>(model: &'a Model, action: &'a Action) -> Vec<FieldId> {
    let entity = action.entity.map(|id| model.entity(id));
    let all = entity.into_iter().flat_map(|entity| transitions(entity, action));
    all.map(|(_, field)| field).filter(|field| action.tests(*field)).collect()
}

/// Returns whether a condition only compares fields with values, which hold again at a repetition.
fn is_verification(condition: &Expr) -> bool {
    condition
        .conjuncts()
        .iter()
        .all(|part| matches!(part.kind, ExprKind::Binary(BinaryOp::Equal, ..) | ExprKind::Exists))
}

/// Returns whether a condition demands one of certain words, with this one among them.
fn accepts(test: &Expr, value: &Expr) -> bool {
    let is_value = |expr: &Expr| expr.same(value);
    match &test.kind {
        ExprKind::Binary(BinaryOp::Equal, left, right) => is_value(left) || is_value(right),
        ExprKind::In(_, list) => list.iter().any(is_value),
        _ => false,
    }
}

fn finding(step: &Transition<'_>, evidence: Span, text: String) -> Diagnostic {
    let entity = step.model.entity(step.id);
    let name = &entity.field(step.field).name;
    let value = literal(step.change).unwrap_or_default();
    Diagnostic::warning(
        RULE.code,
        step.change.span,
        format!("`{}` sets `{name}` of {} to {value} whatever it is", step.write.name, entity.name),
    )
    .label("from any state, and twice")
    .also(evidence, text)
    .help(format!(
        "name the states that it may leave: `if {name} = \"…\" else …`, or `if {name} != {value} else keep` if it \
        may leave all"
    ))
}
