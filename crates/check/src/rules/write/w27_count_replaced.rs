//! W27: an argument replaces a number that other writes count.

use std::collections::BTreeMap;

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, ChangeKind, Entity, EntityId, ExprKind, FieldId, Origin, ValuePath, Write};
use keyform_language::span::Span;

use super::{actions, version_of};

pub(super) static RULE: Rule = Rule {
    code: Code("W27"),
    severity: Severity::Warning,
    title: "an argument replaces a number that other writes count",
    page: include_str!("../../../../../docs/rules/W27.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let counted = counted(context);
    for (write, action, entity) in actions(context) {
        let Some(id) = action.entity.filter(|_| matches!(action.verb, Verb::Update | Verb::Upsert)) else { continue };
        let is_guarded = version_of(entity).is_some_and(|version| action.tests(version) || is_given(action, version));
        for (field, span) in replaced(action).filter(|(field, _)| !is_guarded && !action.tests(*field)) {
            if let Some(counting) = counted.get(&(id, field)) {
                findings.push(finding(write, entity, (field, span), *counting));
            }
        }
    }
}

fn is_given(action: &Action, version: FieldId) -> bool {
    action.value_of(version).is_some_and(|value| !value.parameters().is_empty())
}

/// Returns the fields that a step sets to an argument.
fn replaced(action: &Action) -> impl Iterator<Item = (FieldId, Span)> + '_ {
    action.changes.iter().filter_map(|change| match &change.kind {
        ChangeKind::Set(value) if change.path().is_empty() => {
            let is_argument = matches!(value.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(_), .. }));
            change.field.filter(|_| is_argument).map(|field| (field, change.span))
        }
        _ => None,
    })
}

/// Returns the fields that a write adds to or subtracts from, each with one such write and the place where it does.
fn counted<'a>(context: &Context<'a>) -> BTreeMap<(EntityId, FieldId), (&'a Write, Span)> {
    let mut counted = BTreeMap::new();
    for (write, action, _) in actions(context) {
        for change in &action.changes {
            let counts = matches!(change.kind, ChangeKind::Increase(_) | ChangeKind::Decrease(_));
            if let Some(place) = action.entity.zip(change.field).filter(|_| counts) {
                counted.entry(place).or_insert((write, change.span));
            }
        }
    }
    counted
}

fn finding(
    write: &Write,
    entity: &Entity,
    (field, span): (FieldId, Span),
    (counting, counted): (&Write, Span),
) -> Diagnostic {
    let name = &entity.field(field).name;
    let message = format!("`{}` replaces `{name}` of {}, which `{}` counts", write.name, entity.name, counting.name);
    let finding = Diagnostic::warning(RULE.code, span, message)
        .label("a count that arrives in between is lost")
        .also(counted, "counts it");
    let parameter = write.parameters.iter().find(|parameter| parameter.field_name == *name);
    let finding = match parameter {
        Some(parameter) => finding.also(parameter.span, "has the field's name, so the step sets the field to it"),
        None => finding,
    };
    finding.help(format!(
        "change it with `+=` or `-=`, or compare the value that the caller has seen: `if {name} = seen else Changed`; if \
        the parameter means something else, rename it"
    ))
}
