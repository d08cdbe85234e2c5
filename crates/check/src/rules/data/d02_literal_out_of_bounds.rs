//! D02: a literal is outside the bounds of the field that takes it.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::limit::{self, Range};
use keyform_language::schema::relation::{Relation, relation};
use keyform_language::schema::{
    Change, ChangeKind, Entity, Evolution, Expr, ExprKind, Field, FieldId, Model, Type, fits, words,
};
use keyform_language::span::Span;

use super::site::{Site, default_kind, is_default_moment, sites, stored_values};

pub(super) static RULE: Rule = Rule {
    code: Code("D02"),
    severity: Severity::Error,
    title: "a literal does not fit its field",
    page: include_str!("../../../../../docs/rules/D02.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    findings.extend(context.model.evolutions.iter().flat_map(|it| evolved(context.model, it)));
    for site in sites(context) {
        for (change, _, field) in site.changes() {
            for (expr, wanted) in stored_values(field, change) {
                let expr: &Expr = expr;
                findings.extend(misfit(expr, &wanted).map(|wrong| finding(&site, field, wrong, &wanted)));
            }
        }
        for (change, _, field) in site.changes() {
            findings.extend(too_far(&site, change, field));
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

/// Reports what an evolution sets in old items, if it is no value of the field.
fn evolved(model: &Model, evolution: &Evolution) -> Vec<Diagnostic> {
    let Some(entity) = evolution.entity.map(|id| model.entity(id)) else { return Vec::new() };
    let wrong = |(id, expr, _): &(FieldId, Expr, Span)| {
        let field = entity.fields.get(id.0)?;
        let is_computed = matches!(expr.kind, ExprKind::Call { .. });
        let apart = || {
            let kind = default_kind(entity, expr).filter(|_| is_computed)?;
            let is_time = field.kind.is_time() && is_default_moment(entity, expr);
            (!is_time && relation(&kind, &field.kind) != Relation::Within).then_some(expr)
        };
        let wrong = misfit(expr, &field.kind).or_else(apart)?;
        Some(unfit(entity, field, wrong, &field.kind))
    };
    evolution.sets.iter().filter_map(wrong).collect()
}

/// Reports `+=` and `-=` by more than the bounds are apart: no stored value can take it.
fn too_far<'a>(site: &Site<'a>, change: &'a Change, field: &'a Field) -> Option<Diagnostic> {
    let (ChangeKind::Increase(by) | ChangeKind::Decrease(by)) = &change.kind else { return None };
    let kind = limit::at(&field.kind, change.path())?;
    let Range { min: Some(min), max: Some(max) } = Range::of(kind) else { return None };
    let step = Range::of(&site.typed(by).kind?);
    let is_beyond = step.min.is_some_and(|least| least > max - min) || step.max.is_some_and(|most| most < min - max);
    // An absent value counts from zero.
    let is_optional = limit::member_at(field, change.path()).is_none_or(|it| !it.must_have_value());
    (is_beyond && !is_optional).then(|| {
        let message = format!("no value of `{}` of {} can take this change", field.name, site.entity.name);
        Diagnostic::error(RULE.code, change.span, message)
            .label(format!("leads out of the bounds: {}", words::described(kind)))
            .also(field.type_span, "the field's type")
            .help("change the number, or the bounds of the field")
    })
}

fn finding(site: &Site<'_>, field: &Field, wrong: &Expr, wanted: &Type) -> Diagnostic {
    unfit(site.entity, field, wrong, wanted)
}

fn unfit(entity: &Entity, field: &Field, wrong: &Expr, wanted: &Type) -> Diagnostic {
    let message = format!("`{}` of {} cannot have this value", field.name, entity.name);
    let expected = if matches!(wrong.kind, ExprKind::Record(_)) { "a value" } else { &words::described(wanted) };
    Diagnostic::error(RULE.code, wrong.span, message)
        .label(format!("expected {expected}"))
        .also(field.type_span, "the field's type")
        .help("change the literal, or the type of the field")
}
