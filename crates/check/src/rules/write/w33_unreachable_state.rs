//! W33: a condition waits for a value of an enumeration that no write sets.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::{BinaryOp, Verb};
use keyform_language::schema::{
    Action, ChangeKind, Entity, EntityId, Expr, ExprKind, FieldId, Origin, Type, ValuePath, Write,
};

use super::actions_by_entity;

pub(super) static RULE: Rule = Rule {
    code: Code("W33"),
    severity: Severity::Warning,
    title: "a condition waits for a state that no write sets",
    page: include_str!("../../../../../docs/rules/W33.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (id, steps) in actions_by_entity(context.model) {
        let mut states = BTreeMap::new();
        for condition in steps.iter().flat_map(|(_, action)| &action.conditions) {
            for part in condition.condition.conjuncts() {
                let Some((field, words)) = tested(id, part) else { continue };
                let entity = context.model.entity(id);
                let set = states.entry(field).or_insert_with(|| settable(entity, &steps, field));
                findings.extend(set.as_ref().and_then(|set| judge(entity, field, &words, set, part)));
            }
        }
    }
}

/// Reports a test that an enumeration has one of certain values, if no item gets one of them.
fn judge(entity: &Entity, field: FieldId, words: &[&str], set: &BTreeSet<&str>, part: &Expr) -> Option<Diagnostic> {
    if words.iter().any(|word| set.contains(*word)) {
        return None;
    }
    let (name, word) = (&entity.field(field).name, words.first()?);
    Some(
        Diagnostic::warning(
            RULE.code,
            part.span,
            format!("no write sets `{name}` of {} to \"{word}\", so this never holds", entity.name),
        )
        .label("never true")
        .also(entity.field(field).name_span, "the state")
        .help(format!("set `{name} = \"{word}\"` where the item enters that state, or test another value")),
    )
}

/// Returns the enumeration that a condition tests, and the values it accepts.
fn tested(id: EntityId, part: &Expr) -> Option<(FieldId, Vec<&str>)> {
    let of_item = |expr: &Expr| match &expr.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Field(entity, field), path })
            if *entity == id && path.is_empty() =>
        {
            Some(*field)
        }
        _ => None,
    };
    match &part.kind {
        ExprKind::Binary(BinaryOp::Equal, left, right) => {
            let field = of_item(left).or_else(|| of_item(right))?;
            let word = word(right).or_else(|| word(left))?;
            Some((field, vec![word]))
        }
        ExprKind::In(of, list) => Some((of_item(of)?, list.iter().map(word).collect::<Option<_>>()?)),
        _ => None,
    }
}

fn word(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Text(text) => Some(text),
        _ => None,
    }
}

/// Returns the values that writes give a state; `None` if a value is not a literal, or if the model does not move items
/// from state to state.
fn settable<'a>(entity: &'a Entity, steps: &[(&Write, &'a Action)], field: FieldId) -> Option<BTreeSet<&'a str>> {
    if !matches!(entity.field(field).kind.resolved(), Type::OneOf(_)) {
        return None;
    }
    let mut set = BTreeSet::new();
    let (mut is_made, mut is_moved) = (false, false);
    for (_, action) in steps {
        is_made |= makes(action);
        set.extend(default_of(entity, action, field));
        for change in action.changes.iter().filter(|change| change.field == Some(field)) {
            match &change.kind {
                ChangeKind::Set(value) => set.insert(word(value)?),
                ChangeKind::Remove => continue,
                _ => return None,
            };
            is_moved |= action.verb == Verb::Update;
        }
    }
    (is_made && is_moved).then_some(set)
}

fn makes(action: &Action) -> bool {
    matches!(action.verb, Verb::Create | Verb::Put | Verb::Upsert)
}

fn default_of<'a>(entity: &'a Entity, action: &Action, field: FieldId) -> Option<&'a str> {
    entity.field(field).default.as_ref().filter(|_| makes(action)).and_then(word)
}
