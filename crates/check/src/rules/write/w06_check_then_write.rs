//! W06: a write depends on a value that may have changed since a `let` read it.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{
    Action, ChangeKind, EntityId, Expr, ExprKind, FieldId, Model, Origin, Type, ValuePath, Write,
};
use keyform_language::span::Span;

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
    let loose = read.into_iter().find(|value| !is_held(model, write, value))?;
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

/// Returns whether the value cannot have changed, or whether a condition of the request tests it or the version.
fn is_held(model: &Model, write: &Write, value: &ReadBefore) -> bool {
    let entity = model.entity(value.entity);
    let never_changes = entity.field(value.field).is_fixed() || entity.key_fields().contains(&value.field);
    let version = version_of(entity);
    let looks_again = |action: &&Action| {
        action.entity == Some(value.entity)
            && (action.tests(value.field) || version.is_some_and(|version| action.tests(version)))
    };
    never_changes || write.actions().iter().any(looks_again) || version.is_some() && is_written(write, value.entity)
}

/// Returns whether the write updates or deletes an item of the entity. Keyform then adds a condition on the version
/// that was read.
fn is_written(write: &Write, entity: EntityId) -> bool {
    use keyform_language::document::ast::Verb;
    write
        .actions()
        .iter()
        .any(|action| action.entity == Some(entity) && matches!(action.verb, Verb::Update | Verb::Delete))
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
