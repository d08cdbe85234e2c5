//! D03: a default is not a value of its field's type, or depends on itself.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::relation::{Relation, relation};
use keyform_language::schema::{Entity, Expr, ExprKind, Field, FieldId, Origin, Type, ValuePath, limit, words};

use super::d02_literal_out_of_bounds::misfit;
use super::site::{default_kind, is_default_moment, moved_default_date};

pub(super) static RULE: Rule = Rule {
    code: Code("D03"),
    severity: Severity::Error,
    title: "a default does not fit its field",
    page: include_str!("../../../../../docs/rules/D03.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for entity in &context.model.entities {
        for (number, field) in entity.fields.iter().enumerate() {
            findings.extend(cyclic(entity, FieldId(number), field).or_else(|| wrong(entity, field)));
            nested(entity, &field.kind, findings);
        }
    }
}

/// Reports the defaults of the members of a record.
fn nested(entity: &Entity, kind: &Type, findings: &mut Vec<Diagnostic>) {
    match kind {
        Type::Record(fields) => {
            for field in fields {
                findings.extend(wrong(entity, field));
                nested(entity, &field.kind, findings);
            }
        }
        Type::List(of, _) | Type::Map(of, _) => nested(entity, of, findings),
        Type::Scalar(..)
        | Type::OneOf(_)
        | Type::Set(..)
        | Type::Json
        | Type::Ref { .. }
        | Type::Copy { .. }
        | Type::Unknown => {}
    }
}

fn wrong(entity: &Entity, field: &Field) -> Option<Diagnostic> {
    let default = field.default.as_ref()?;
    if let Some(literal) = misfit(default, &field.kind) {
        return Some(finding(field, literal, format!("expected {}", words::described(&field.kind))));
    }
    if let Some(date) = moved_default_date(entity, default) {
        let label = "a date has no time of day, so that no duration can be added to it".to_owned();
        return Some(finding(field, date, label));
    }
    if let Some(absent) = absent_source(entity, default).filter(|_| field.must_have_value()) {
        return Some(finding(field, default, format!("`{}` is optional, so there may be no value", absent.name)));
    }
    let kind = default_kind(entity, default)?;
    let is_time = field.kind.is_time() && is_default_moment(entity, default);
    match relation(&kind, &field.kind) {
        Relation::Within => None,
        Relation::Wider | Relation::Disjoint if is_time => None,
        Relation::Wider | Relation::Disjoint => {
            let label = format!("{}, expected {}", words::described(&kind), words::described(&field.kind));
            Some(finding(field, default, label))
        }
    }
}

/// Returns the optional field that a default reads.
fn absent_source<'a>(entity: &'a Entity, default: &Expr) -> Option<&'a Field> {
    let mut absent = None;
    default.walk(&mut |part| {
        if let ExprKind::ValuePath(ValuePath { origin: Origin::Field(_, field), path }) = &part.kind
            && let Some(source) = entity.fields.get(field.0)
        {
            let last = limit::field_at(source, path).unwrap_or(source);
            let found = [source, last].into_iter().find(|it| it.optional && it.default.is_none());
            absent = absent.or(found);
        }
    });
    absent
}

fn finding(field: &Field, wrong: &Expr, label: String) -> Diagnostic {
    let message = format!("the default of `{}` does not fit its type", field.name);
    Diagnostic::error(RULE.code, wrong.span, message)
        .label(label)
        .also(field.type_span, "the type")
        .help("change the default, or the type")
}

/// Reports a default that needs its own value.
fn cyclic(entity: &Entity, id: FieldId, field: &Field) -> Option<Diagnostic> {
    let default = field.default.as_ref()?;
    let mut path = vec![id];
    let is_cyclic = reaches(entity, default, id, &mut path);
    let names = path.iter().map(|id| format!("`{}`", entity.field(*id).name)).collect::<Vec<_>>().join(" → ");
    is_cyclic.then(|| {
        let message = format!("the default of `{}` depends on itself", field.name);
        Diagnostic::error(RULE.code, default.span, message)
            .label(format!("{names} → `{}`", field.name))
            .help("give one of them a default that reads no field")
    })
}

/// Returns true if a default leads back to a field. The path then lists the fields on the way.
fn reaches(entity: &Entity, expr: &Expr, sought: FieldId, path: &mut Vec<FieldId>) -> bool {
    for field in expr.own_fields() {
        if field == sought {
            return true;
        }
        if path.contains(&field) {
            continue;
        }
        path.push(field);
        let default = entity.fields.get(field.0).and_then(|field| field.default.as_ref());
        if default.is_some_and(|default| reaches(entity, default, sought, path)) {
            return true;
        }
        path.pop();
    }
    false
}
