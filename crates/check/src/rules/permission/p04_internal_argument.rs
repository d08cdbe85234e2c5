//! P04: callers give a value that only the system may set.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::{BinaryOp, Verb};
use keyform_language::schema::{Action, ChangeKind, Expr, ExprKind, Field, FieldId, Model, Origin, Write};
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
        for (field, span) in read.filter.iter().flat_map(|filter| compared(context.model, filter, &is_argument)) {
            findings.push(comparison(&read.name, field, span));
        }
    }
    for write in context.model.writes.iter().filter(|write| is_open(write.allow.as_ref())) {
        let is_internal = |field: &Field| field.flags.internal.is_some();
        given(context, write, is_internal, |field, span| findings.push(finding(&write.name, field, span)));
        named(context, write, is_internal, |field, span| findings.push(finding(&write.name, field, span)));
        let compared = compared_in_write(context.model, write);
        findings.extend(compared.into_iter().map(|(field, span)| comparison(&write.name, field, span)));
    }
}

/// Returns the internal fields that a `require` or a condition of a step compares with an argument.
fn compared_in_write<'a>(model: &'a Model, write: &'a Write) -> Vec<(&'a Field, Span)> {
    let requires = write.requires.iter().map(|require| &require.condition);
    let mut found: Vec<_> = requires.flat_map(|condition| compared(model, condition, &is_argument)).collect();
    for (action, given) in given::actions(write) {
        let is_given = |expr: &Expr| !is_hash(expr) && given.is_chosen(expr);
        let conditions = action.conditions.iter().map(|condition| &condition.condition);
        found.extend(conditions.flat_map(|condition| compared(model, condition, &is_given)));
    }
    found
}

/// Returns the internal fields that a condition compares with a value of the caller. A hash of an argument is a value
/// that the request computes.
fn compared<'a>(model: &'a Model, condition: &Expr, is_given: &dyn Fn(&Expr) -> bool) -> Vec<(&'a Field, Span)> {
    let mut found = Vec::new();
    condition.walk(&mut |part| {
        let operands: Vec<&Expr> = match &part.kind {
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) => return,
            ExprKind::Binary(_, left, right) => vec![left, right],
            ExprKind::Between(of, low, high) => vec![of, low, high],
            ExprKind::In(of, list) => std::iter::once(of.as_ref()).chain(list).collect(),
            ExprKind::Call { arguments, .. } if !is_hash(part) => arguments.iter().collect(),
            _ => return,
        };
        if operands.iter().any(|operand| is_given(operand)) {
            found.extend(operands.iter().filter_map(|operand| Some((internal(model, operand)?, part.span))));
        }
    });
    found
}

fn is_argument(expr: &Expr) -> bool {
    !is_hash(expr) && !expr.parameters().is_empty()
}

fn is_hash(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { function, .. } if function == "hash")
}

fn internal<'a>(model: &'a Model, expr: &Expr) -> Option<&'a Field> {
    let ExprKind::ValuePath(place) = &expr.kind else { return None };
    let (entity, field) = match &place.origin {
        Origin::Field(entity, field) => (*entity, *field),
        Origin::Let { entity: Some(entity), field: Some(field), .. } => (*entity, *field),
        Origin::Let { .. } | Origin::Parameter(_) | Origin::Caller(_) | Origin::Element(_) | Origin::Read { .. } => {
            return None;
        }
    };
    Some(model.entity(entity).field(field)).filter(|field| field.flags.internal.is_some())
}

fn comparison(pattern: &str, field: &Field, span: Span) -> Diagnostic {
    let message = format!("`{pattern}` compares `{}`, which is `internal`, with a value of its callers", field.name);
    Diagnostic::error(RULE.code, span, message)
        .also(field.name_span, "only the system knows it")
        .help("compare it in a pattern with `allow system`, or compare it with `hash(…)` of the argument")
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

/// Calls `visit` for each field that satisfies the predicate and by which a step names its item with an argument: in the
/// key, or as a further field.
fn named<'a>(
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
        for (field, value) in keys.chain(equal).filter(|(_, value)| given.is_chosen(value)) {
            let field = entity.field(field);
            if is(field) {
                visit(field, value.span);
            }
        }
    }
}
