//! D01: a value has another type than the field that takes it, or a wider one.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::limit;
use keyform_language::schema::relation::{Relation, relation};
use keyform_language::schema::{Change, ChangeKind, Expr, ExprKind, Field, Origin, Type, ValuePath, words};

use super::site::{Site, Source, sites, stored_values};

pub(super) static RULE: Rule = Rule {
    code: Code("D01"),
    severity: Severity::Error,
    title: "a value may not fit the type of its field",
    page: include_str!("../../../../../docs/rules/D01.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for site in sites(context) {
        for (change, _, field) in site.changes().filter(|(change, _, field)| !is_default(change, field)) {
            for (expr, wanted) in stored_values(field, change) {
                findings.extend(misfit(&site, (change, field), expr, &wanted));
            }
        }
        if site.action.verb == Verb::Upsert {
            for (id, expr) in &site.action.keys {
                findings.extend(wrong_key(&site, site.entity.field(*id), expr));
            }
        }
    }
}

/// Returns true for a change that only applies the field's default, which D03 reports.
fn is_default(change: &Change, field: &Field) -> bool {
    let ChangeKind::Set(value) = &change.kind else { return false };
    !change.written && field.default.as_ref().is_some_and(|default| default.span == value.span)
}

/// Reports a value whose type is not within the wanted one. An argument is checked when the write is called, so it may
/// have a wider type.
fn misfit<'a>(
    site: &Site<'a>,
    (change, field): (&'a Change, &Field),
    expr: &'a Expr,
    wanted: &Type,
) -> Option<Diagnostic> {
    if let Some(date) = site.moved_date(expr) {
        return Some(never(site, field, date));
    }
    if wanted.is_time() && site.is_moment(expr) {
        return None;
    }
    let typed = site.typed(expr);
    let kind = typed.kind?;
    // The request tests the bounds of a sum with a stored value.
    let is_tested = matches!(&change.kind, ChangeKind::Set(sum) if sum.has_own_fields() && limit::is_sum(sum));
    let target = if is_tested { limit::operand(wanted) } else { wanted.clone() };
    // `append` and `add` take one element, or a list or set of them.
    let is_many = matches!(change.kind, ChangeKind::Append(_) | ChangeKind::Add(_));
    let kind = match kind.resolved() {
        Type::List(of, _) | Type::Set(of, _) if is_many && !matches!(target.resolved(), Type::List(..)) => of.as_ref(),
        other => other,
    };
    match (relation(kind, &target), typed.source) {
        (Relation::Wider, Source::Argument) if is_named_otherwise(site, expr, kind, &target) => {
            Some(disjoint(site, field, expr, kind, &target))
        }
        (Relation::Within, _) | (Relation::Wider, Source::Argument) => None,
        (Relation::Disjoint, _) => Some(disjoint(site, field, expr, kind, &target)),
        (Relation::Wider, Source::Model) => Some(wider(site, field, expr, kind, &target)),
    }
}

/// Returns true for an argument whose type is another one on purpose: a parameter that is named after a field of free
/// text, or is declared as a `slug` or an address, is no id and no time.
fn is_named_otherwise<'a>(site: &Site<'a>, expr: &'a Expr, kind: &Type, target: &Type) -> bool {
    let ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), path }) = &expr.kind else { return false };
    let is_declared = site.write.parameters.get(*number).is_none_or(|parameter| parameter.declared);
    let has_form = |kind: &Type| kind.is_text() && kind.characters().is_none() && kind.scalar().is_some();
    path.is_empty()
        && has_form(target)
        && !has_form(kind)
        && kind.is_text()
        && (!is_declared || kind.free_text().is_none())
}

/// Reports a key of an `upsert`, which stores it, whose type is not within that of its field.
fn wrong_key<'a>(site: &Site<'a>, field: &Field, expr: &'a Expr) -> Option<Diagnostic> {
    let typed = site.typed(expr);
    let kind = typed.kind?;
    match (relation(&kind, &field.kind), typed.source) {
        (Relation::Within, _) | (Relation::Wider, Source::Argument) => None,
        (Relation::Disjoint, _) => Some(disjoint(site, field, expr, &kind, &field.kind)),
        (Relation::Wider, Source::Model) => Some(wider(site, field, expr, &kind, &field.kind)),
    }
}

/// Reports a sum that cannot be computed.
fn never(site: &Site<'_>, field: &Field, sum: &Expr) -> Diagnostic {
    let message = format!("`{}` of {} cannot have this value", field.name, site.entity.name);
    Diagnostic::error(RULE.code, sum.span, message)
        .label("a date has no time of day, so that no duration can be added to it")
        .also(field.type_span, "the field's type")
        .help("add the duration to `now()` or to a `timestamp`")
}

fn disjoint(site: &Site<'_>, field: &Field, expr: &Expr, kind: &Type, wanted: &Type) -> Diagnostic {
    let message = format!("`{}` of {} cannot have this value", field.name, site.entity.name);
    Diagnostic::error(RULE.code, expr.span, message)
        .label(format!("{}, expected {}", words::described(kind), words::described(wanted)))
        .also(field.type_span, "the field's type")
        .help("set a value of the field's type, or change the type")
}

fn wider(site: &Site<'_>, field: &Field, expr: &Expr, kind: &Type, wanted: &Type) -> Diagnostic {
    let message = format!("not every such value fits `{}` of {}", field.name, site.entity.name);
    Diagnostic::error(RULE.code, expr.span, message)
        .label(format!("{}, expected {}", words::described(kind), words::described(wanted)))
        .also(field.type_span, "the field's type")
        .help(format!("give both the same type: `{}`", words::type_name(site.model, kind)))
}
