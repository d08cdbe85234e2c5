//! D02: a literal is outside the bounds of the field that takes it.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Expr, ExprKind, Field, Type, fits, words};

use super::site::{Site, sites, stored_values};

pub(super) static RULE: Rule = Rule {
    code: Code("D02"),
    severity: Severity::Error,
    title: "a literal does not fit its field",
    page: include_str!("../../../../../docs/rules/D02.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for site in sites(context) {
        for (change, _, field) in site.changes() {
            for (expr, wanted) in stored_values(field, change) {
                let expr: &Expr = expr;
                findings.extend(misfit(expr, &wanted).map(|wrong| finding(&site, field, wrong, &wanted)));
            }
        }
        if !site.makes() {
            for (id, expr) in &site.action.keys {
                let field = site.entity.field(*id);
                findings.extend(misfit(expr, &field.kind).map(|wrong| finding(&site, field, wrong, &field.kind)));
            }
        }
    }
}

/// Returns the literal that is not a value of the type. A literal of another kind is reported when names are resolved.
pub(super) fn misfit<'a>(expr: &'a Expr, wanted: &Type) -> Option<&'a Expr> {
    let is_known = match (&expr.kind, wanted.resolved()) {
        (ExprKind::Text(_), Type::Scalar(..)) => wanted.is_text(),
        (ExprKind::Number(_) | ExprKind::Duration(_), Type::Scalar(..)) => wanted.is_numeric(),
        (ExprKind::List(parts), Type::List(of, bounds) | Type::Set(of, bounds)) => {
            return match parts.iter().find_map(|part| misfit(part, of)) {
                None if !bounds.allow(parts.len()) => Some(expr),
                wrong => wrong,
            };
        }
        (ExprKind::Record(parts), Type::Map(of, bounds)) => {
            return match parts.iter().find_map(|(_, part)| misfit(part, of)) {
                None if !bounds.allow(parts.len()) => Some(expr),
                wrong => wrong,
            };
        }
        (ExprKind::Record(parts), Type::Record(fields)) => return record(expr, parts, fields),
        _ => false,
    };
    let value = expr.constant().filter(|_| is_known)?;
    (!fits(&value, wanted)).then_some(expr)
}

/// Returns a record literal that lacks a required field or has an unknown one, or the part of it that does not fit.
fn record<'a>(expr: &'a Expr, parts: &'a [(String, Expr)], fields: &[Field]) -> Option<&'a Expr> {
    let find = |name: &str| fields.iter().find(|field| field.name == name);
    let lacks = |field: &Field| !parts.iter().any(|(name, _)| *name == field.name);
    let is_incomplete = fields.iter().any(|field| field.must_have_value() && !field.has_source() && lacks(field));
    let has_unknown = parts.iter().any(|(name, _)| find(name).is_none());
    if is_incomplete || has_unknown {
        return Some(expr);
    }
    parts.iter().find_map(|(name, part)| misfit(part, &find(name)?.kind))
}

fn finding(site: &Site<'_>, field: &Field, wrong: &Expr, wanted: &Type) -> Diagnostic {
    let message = format!("`{}` of {} cannot have this value", field.name, site.entity.name);
    let expected = if matches!(wrong.kind, ExprKind::Record(_)) { "a value" } else { &words::described(wanted) };
    Diagnostic::error(RULE.code, wrong.span, message)
        .label(format!("expected {expected}"))
        .also(field.type_span, "the field's type")
        .help("change the literal, or the type of the field")
}
