//! P04: callers give a value that only the system may set.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::{BinaryOp, Verb};
use keyform_language::schema::{Action, ChangeKind, Expr, ExprKind, Field, FieldId, Write};
use keyform_language::scope::given::{self, Given};
use keyform_language::span::Span;

use super::is_open;

pub(super) static RULE: Rule = Rule {
    code: Code("P04"),
    severity: Severity::Error,
    title: "callers give a value that only the system may set",
    page: include_str!("../../../../../docs/rules/P04.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for read in context.model.reads.iter().filter(|read| is_open(read.allow.as_ref())) {
        for parameter in &read.parameters {
            let field = parameter.field.map(|(entity, field)| context.model.entity(entity).field(field));
            if let Some(field) = field.filter(|field| field.flags.internal.is_some()) {
                findings.push(finding(&read.name, field, parameter.span));
            }
        }
    }
    for write in context.model.writes.iter().filter(|write| is_open(write.allow.as_ref())) {
        let is_internal = |field: &Field| field.flags.internal.is_some();
        given(context, write, is_internal, |field, span| findings.push(finding(&write.name, field, span)));
        compared(context, write, is_internal, |field, span| findings.push(finding(&write.name, field, span)));
    }
}

fn finding(pattern: &str, field: &Field, span: Span) -> Diagnostic {
    let message = format!("callers of `{pattern}` give `{}`, which is `internal`", field.name);
    let finding = Diagnostic::error(RULE.code, span, message).also(field.name_span, "only the system sets it");
    finding
        .help("set it in a pattern with `allow system`, which a flow calls, or from a value that the request computes")
}

/// Calls `visit` for each field that satisfies the predicate and gets its value from an argument of the write.
pub(super) fn given<'a>(
    context: &Context<'a>,
    write: &'a Write,
    is: impl Fn(&Field) -> bool,
    mut visit: impl FnMut(&'a Field, Span),
) {
    for (action, given) in given::actions(write) {
        let Some(entity) = action.entity.map(|id| context.model.entity(id)) else { continue };
        for (field, span) in values(action, &given) {
            let field = entity.field(field);
            if is(field) {
                visit(field, span);
            }
        }
    }
}

/// Returns the fields of an action whose new values come from arguments.
fn values<'a>(action: &'a Action, given: &Given<'a>) -> Vec<(FieldId, Span)> {
    let changes = action.changes.iter().filter_map(|change| match &change.kind {
        ChangeKind::Set(value)
        | ChangeKind::Increase(value)
        | ChangeKind::Decrease(value)
        | ChangeKind::Append(value)
        | ChangeKind::Add(value)
        | ChangeKind::Take(value) => {
            let span = if change.written { change.span } else { action.entity_span };
            change.field.filter(|_| given.is_chosen(value)).map(|field| (field, span))
        }
        ChangeKind::Remove => None,
    });
    changes.collect()
}

/// Calls `visit` for each field that satisfies the predicate and that a step compares with an argument: in the key of
/// its item, in a further field of the item, or in a condition.
fn compared<'a>(
    context: &Context<'a>,
    write: &'a Write,
    is: impl Fn(&Field) -> bool,
    mut visit: impl FnMut(&'a Field, Span),
) {
    for (action, given) in given::actions(write) {
        let Some(entity) = action.entity.map(|id| context.model.entity(id)) else { continue };
        let keys = action.keys.iter().filter(|_| !matches!(action.verb, Verb::Create | Verb::Put));
        let keys = keys.map(|(field, value)| (*field, value));
        let equal = action.equalities.iter().map(|it| (it.field, &it.value));
        let named =
            keys.chain(equal).filter(|(_, value)| given.is_chosen(value)).map(|(field, value)| (field, value.span));
        let mut found: Vec<(FieldId, Span)> = named.collect();
        for condition in &action.conditions {
            condition.condition.walk(&mut |part| found.extend(tested(part, &given)));
        }
        for (field, span) in found.into_iter().map(|(field, span)| (entity.field(field), span)) {
            if is(field) {
                visit(field, span);
            }
        }
    }
}

/// Returns the fields of the item that a comparison compares with an argument.
fn tested<'a>(part: &'a Expr, given: &Given<'a>) -> Vec<(FieldId, Span)> {
    let is_comparison = match &part.kind {
        ExprKind::Binary(op, ..) => !matches!(op, BinaryOp::And | BinaryOp::Or),
        ExprKind::Between(..) | ExprKind::In(..) | ExprKind::Call { .. } => true,
        _ => false,
    };
    let fields = if is_comparison && given.is_chosen(part) { part.own_fields() } else { Vec::new() };
    fields.into_iter().map(|field| (field, part.span)).collect()
}
