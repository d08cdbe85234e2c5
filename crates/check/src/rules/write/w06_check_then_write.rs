//! W06: a write depends on a value that may have changed since a `let` read it.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{
    Action, ChangeKind, EntityId, Expr, ExprKind, FieldId, Model, Origin, Type, ValuePath, Write,
};
use keyform_language::span::Span;

use super::origin::{Item, compare};
use super::version_of;

pub(super) static RULE: Rule = Rule {
    code: Code("W06"),
    severity: Severity::Warning,
    title: "a checked value can change before the write",
    page: include_str!("../../../../../docs/rules/W06.md"),
    find,
};

/// A field of an item that a `let` has read, where an expression uses it.
struct ReadBefore {
    entity: EntityId,
    field: FieldId,
    number: usize,
    span: Span,
}

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in &context.model.writes {
        for require in &write.requires {
            let loose = values_read(&require.condition).into_iter().find(|value| !is_held(context.model, write, value));
            findings.extend(loose.map(|value| {
                finding(context.model, write, &value, "this decides, but the request does not repeat the test")
            }));
        }
        for action in write.actions() {
            findings.extend(read_modify_write(context.model, write, action));
            findings.extend(amount(context.model, write, action));
        }
    }
}

/// Reports a field that is set to a value computed from an earlier read of the same entity.
fn read_modify_write(model: &Model, write: &Write, action: &Action) -> Option<Diagnostic> {
    let entity = action.entity?;
    let sets = action.changes.iter().filter(|change| change.written);
    let values = sets.filter_map(|change| match &change.kind {
        ChangeKind::Set(value) if change.field.is_some_and(|field| !is_copy(model, entity, field)) => Some(value),
        _ => None,
    });
    let read = values.flat_map(values_read).filter(|value| value.entity == entity);
    // A value that goes into another item is lost only if the write changes or removes the item that was read.
    let changes = |value: &ReadBefore| {
        write.actions().iter().any(|action| action.verb != Verb::Check && is_same_item(model, write, action, value))
    };
    let loose = read.into_iter().find(|value| changes(value) && !is_held(model, write, value))?;
    Some(finding(model, write, &loose, "a concurrent write in between is lost"))
}

fn is_copy(model: &Model, entity: EntityId, field: FieldId) -> bool {
    matches!(model.entity(entity).field(field).kind, Type::Copy { .. })
}

fn values_read(expr: &Expr) -> Vec<ReadBefore> {
    let mut values = Vec::new();
    expr.walk(&mut |part| {
        if let ExprKind::ValuePath(ValuePath {
            origin: Origin::Let { number, entity: Some(entity), field: Some(field) },
            ..
        }) = part.kind
        {
            values.push(ReadBefore { entity, field, number, span: part.span });
        }
    });
    values
}

/// Returns whether the value cannot have changed, or whether a condition of the request tests it or the version. The
/// resolver adds the condition on the version where a step writes the item that was read.
fn is_held(model: &Model, write: &Write, value: &ReadBefore) -> bool {
    let entity = model.entity(value.entity);
    let never_changes = entity.field(value.field).is_fixed() || entity.key_fields().contains(&value.field);
    let version = version_of(entity);
    let looks_again = |action: &&Action| {
        is_same_item(model, write, action, value)
            && (action.tests(value.field)
                || action.equalities.iter().any(|equality| equality.field == value.field)
                || version.is_some_and(|version| action.tests(version)))
    };
    never_changes || write.actions().iter().any(looks_again)
}

fn is_same_item(model: &Model, write: &Write, action: &Action, value: &ReadBefore) -> bool {
    compare(model, write, action, value.entity, value.number) == Item::Same
}

/// Reports an amount of another item that is stored or counted, although the request has that item and could test it.
fn amount(model: &Model, write: &Write, action: &Action) -> Option<Diagnostic> {
    let entity = model.entity(action.entity?);
    let changes = action.changes.iter().filter(|change| change.written);
    let values = changes.filter_map(|change| {
        let kind = &entity.field(change.field?).kind;
        match &change.kind {
            ChangeKind::Increase(value) | ChangeKind::Decrease(value) => Some(value),
            ChangeKind::Set(value) if kind.scalar().is_some_and(|(scalar, _)| scalar.is_money()) => Some(value),
            _ => None,
        }
    });
    let is_loose = |value: &ReadBefore| {
        let has_item = write.actions().iter().any(|action| is_same_item(model, write, action, value));
        let is_number = model.entity(value.entity).field(value.field).kind.is_numeric();
        is_number && has_item && action.entity != Some(value.entity) && !is_held(model, write, value)
    };
    let loose = values.flat_map(values_read).find(is_loose)?;
    Some(finding(
        model,
        write,
        &loose,
        "this amount is recorded, but the request does not test that it is still the same",
    ))
}

fn finding(model: &Model, write: &Write, value: &ReadBefore, label: &str) -> Diagnostic {
    let entity = model.entity(value.entity);
    let field = &entity.field(value.field).name;
    let read = &write.lets[value.number];
    Diagnostic::warning(RULE.code, value.span, format!("`{field}` can change between the read and the write of `{}`", write.name))
        .label(label)
        .also(read.name_span, "read here")
        .help(format!(
            "repeat it in the request: `update {0}(…) {{ … }} if {field} …`, or `check {0}(…) if {field} …` where the item is not changed",
            entity.name
        ))
}
