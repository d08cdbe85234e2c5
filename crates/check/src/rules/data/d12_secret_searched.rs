//! D12: a pattern that callers reach searches by a `secret` field, or decides by it.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{
    EntityId, Expr, ExprKind, Field, FieldId, Model, Origin, Permission, Read, Test, ValuePath,
};
use keyform_language::span::Span;

use super::label::revealed;
use super::site::{Site, sites};

pub(super) static RULE: Rule = Rule {
    code: Code("D12"),
    severity: Severity::Error,
    title: "callers can search by a secret",
    page: include_str!("../../../../../docs/rules/D12.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    for read in model.reads.iter().filter(|read| !matches!(read.allow, Some(Permission::System(_)))) {
        for (field, span) in in_filter(model, read).into_iter().chain(in_ranges(model, read)) {
            findings.push(finding(&read.name, field, span));
        }
    }
    for site in sites(context) {
        if !matches!(site.write.allow, Some(Permission::System(_))) {
            in_conditions(&site, findings);
        }
    }
}

/// Reports the secrets that decide whether a write is refused: its outcome answers the comparison.
fn in_conditions(site: &Site<'_>, findings: &mut Vec<Diagnostic>) {
    let requires = site.write.requires.iter().filter(|_| site.is_first()).map(|require| &require.condition);
    let conditions = site.action.conditions.iter().map(|condition| &condition.condition);
    for condition in requires.chain(conditions) {
        condition.walk(&mut |part| {
            for operand in decisive(site, part) {
                if let Some(revealed) = revealed(site, operand).filter(|revealed| revealed.field.flags.secret.is_some())
                {
                    findings.push(finding(&site.write.name, revealed.field, operand.span));
                }
            }
        });
    }
}

/// Returns the operands of a comparison whose result tells something about them. An equality with a hash or with another
/// secret finds only what is known.
fn decisive<'a>(site: &Site<'a>, expr: &'a Expr) -> Vec<&'a Expr> {
    let is_secret = |side: &'a Expr| revealed(site, side).is_some_and(|it| it.field.flags.secret.is_some());
    let is_known = |side: &'a Expr| is_hash(side) || is_secret(side);
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Equal | BinaryOp::NotEqual, left, right) if is_known(left) && is_known(right) => {
            Vec::new()
        }
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) => Vec::new(),
        _ => operands(expr),
    }
}

fn is_hash(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { function, .. } if function == "hash")
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
        for operand in operands(part) {
            if let ExprKind::ValuePath(ValuePath { origin: Origin::Field(entity, field), .. }) = &operand.kind
                && let Some(field) = secret(model, (*entity, *field))
            {
                found.push((field, operand.span));
            }
        }
    });
}

fn operands(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Binary(_, left, right) => vec![left, right],
        ExprKind::Between(of, low, high) => vec![of, low, high],
        ExprKind::In(of, list) => std::iter::once(of.as_ref()).chain(list).collect(),
        ExprKind::Call { function, arguments } if function != "hash" => arguments.iter().collect(),
        ExprKind::Not(of) => vec![of],
        _ => Vec::new(),
    }
}

/// Returns the secret fields that a range or a prefix tests. An equality only finds what the caller knows.
fn in_ranges<'a>(model: &'a Model, read: &Read) -> Vec<(&'a Field, Span)> {
    let ranges = read.parameters.iter().filter(|parameter| !matches!(parameter.test, Test::Equal | Test::In));
    ranges.filter_map(|parameter| Some((secret(model, parameter.field?)?, parameter.span))).collect()
}

fn finding(pattern: &str, field: &Field, span: Span) -> Diagnostic {
    let message = format!("`{pattern}` compares `{}`, which is secret, for its callers", field.name);
    Diagnostic::error(RULE.code, span, message)
        .label("repeated calls read the value out, one character at a time")
        .also(field.name_span, "`secret`")
        .help("make the pattern `allow system`, or key the item by `{field:hash}` and look it up by equality")
}
