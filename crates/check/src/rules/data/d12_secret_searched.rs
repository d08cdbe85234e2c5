//! D12: a read that callers reach searches by a `secret` field.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{
    EntityId, Expr, ExprKind, Field, FieldId, Model, Origin, Permission, Read, Test, ValuePath,
};
use keyform_language::span::Span;

pub(super) static RULE: Rule = Rule {
    code: Code("D12"),
    severity: Severity::Error,
    title: "a read lets callers search by a secret",
    page: include_str!("../../../../../docs/rules/D12.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    for read in model.reads.iter().filter(|read| !matches!(read.allow, Some(Permission::System(_)))) {
        for (field, span) in in_filter(model, read).into_iter().chain(in_ranges(model, read)) {
            findings.push(finding(read, field, span));
        }
    }
}

fn secret(model: &Model, (entity, field): (EntityId, FieldId)) -> Option<&Field> {
    model.entity(entity).fields.get(field.0).filter(|field| field.flags.secret.is_some())
}

/// Returns the secret fields that the filter compares. Whether there is a value is no secret.
fn in_filter<'a>(model: &'a Model, read: &Read) -> Vec<(&'a Field, Span)> {
    let mut found = Vec::new();
    if let Some(filter) = &read.filter {
        compared(model, filter, &mut found);
    }
    found
}

fn compared<'a>(model: &'a Model, expr: &Expr, found: &mut Vec<(&'a Field, Span)>) {
    expr.walk(&mut |part| {
        let operands: Vec<&Expr> = match &part.kind {
            ExprKind::Binary(_, left, right) => vec![left, right],
            ExprKind::Between(of, low, high) => vec![of, low, high],
            ExprKind::In(of, list) => std::iter::once(of.as_ref()).chain(list).collect(),
            ExprKind::Call { arguments, .. } => arguments.iter().collect(),
            ExprKind::Not(of) => vec![of],
            _ => Vec::new(),
        };
        for operand in operands {
            if let ExprKind::ValuePath(ValuePath { origin: Origin::Field(entity, field), .. }) = &operand.kind
                && let Some(field) = secret(model, (*entity, *field))
            {
                found.push((field, operand.span));
            }
        }
    });
}

/// Returns the secret fields that a range or a prefix tests. An equality only finds what the caller knows.
fn in_ranges<'a>(model: &'a Model, read: &Read) -> Vec<(&'a Field, Span)> {
    let ranges = read.parameters.iter().filter(|parameter| !matches!(parameter.test, Test::Equal | Test::In));
    ranges.filter_map(|parameter| Some((secret(model, parameter.field?)?, parameter.span))).collect()
}

fn finding(read: &Read, field: &Field, span: Span) -> Diagnostic {
    let message = format!("`{}` compares `{}`, which is secret, for its callers", read.name, field.name);
    Diagnostic::error(RULE.code, span, message)
        .label("repeated calls read the value out, one character at a time")
        .also(field.name_span, "`secret`")
        .help("make the read `allow system`, or key the item by `{field:hash}` and look it up by equality")
}
