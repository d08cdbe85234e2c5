//! T07: a read selects items by a TTL attribute in the past, although the store may have deleted them.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{EntityId, Expr, ExprKind, FieldId, Read, Test};
use keyform_language::span::Span;

use super::ttl_field;

pub(super) static RULE: Rule = Rule {
    code: Code("T07"),
    severity: Severity::Error,
    title: "a read looks for expired items, which may be deleted",
    page: include_str!("../../../../../docs/rules/T07.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for read in &context.model.reads {
        for id in read.result.entities() {
            let entity = context.model.entity(id);
            let Some((ttl, field)) = ttl_field(context.model, entity) else { continue };
            if let Some(place) = looks_for_past(read, (id, ttl), &field.name) {
                findings.push(
                    Diagnostic::error(
                        RULE.code,
                        place,
                        format!("`{}` looks for expired items, which the store deletes", read.name),
                    )
                    .label("an item may be deleted before it is read")
                    .also(field.name_span, "items expire by this attribute")
                    .help(format!("keep the deadline in a separate field, and let `{}` be days later", field.name)),
                );
            }
        }
    }
}

fn looks_for_past(read: &Read, ttl: (EntityId, FieldId), name: &str) -> Option<Span> {
    let by_parameter = read.parameters.iter().find(|parameter| {
        parameter.field_name == name
            && matches!(parameter.test, Test::Before | Test::Until)
            && read.with_expired.is_some()
    });
    by_parameter
        .map(|parameter| parameter.span)
        .or_else(|| read.filter.as_ref().and_then(|filter| past_condition(filter, ttl)))
}

/// Returns the span of a condition of the form `ttl < …`.
fn past_condition(filter: &Expr, (entity, ttl): (EntityId, FieldId)) -> Option<Span> {
    let mut found = None;
    filter.walk(&mut |expr| {
        let (less, more) = match &expr.kind {
            ExprKind::Binary(BinaryOp::Less | BinaryOp::LessEqual, left, right) => (left, right),
            ExprKind::Binary(BinaryOp::Greater | BinaryOp::GreaterEqual, left, right) => (right, left),
            _ => return,
        };
        if less.own_fields().contains(&ttl) && less.own_entities().contains(&entity) && more.own_fields().is_empty() {
            found = Some(expr.span);
        }
    });
    found
}
