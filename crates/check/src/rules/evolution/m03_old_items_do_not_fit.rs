//! M03: existing items do not conform to the new model.

use crate::check::{Context, Rule};
use keyform_language::bind::when_absent;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Bounds;
use keyform_language::schema::{Entity, Evolution, Field, FieldId, Type};

use super::{evolution, kept};

pub(super) static RULE: Rule = Rule {
    code: Code("M03"),
    severity: Severity::Error,
    title: "existing items do not fit the new form",
    page: include_str!("../../../../../docs/rules/M03.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (old, new) in kept(context) {
        let evolution = evolution(context, new);
        for (number, field) in new.fields.iter().enumerate() {
            if evolution.is_some_and(|evolution| gives(evolution, FieldId(number))) {
                continue;
            }
            let before = old.field_named(&field.name).map(|id| old.field(id));
            findings.extend(match before {
                None => required(new, field, evolution.is_some()),
                Some(before) => narrowed(new, before, field),
            });
        }
        findings.extend(tag(old, new));
    }
}

fn gives(evolution: &Evolution, field: FieldId) -> bool {
    evolution.sets.iter().any(|(set, _, _)| *set == field)
        || evolution.renames.iter().any(|(_, renamed, _)| *renamed == field)
}

/// Reports a new field that existing items lack. A constant default applies to them when they are read; a computed one
/// only when an `evolve` rewrites them.
fn required(entity: &Entity, field: &Field, evolves: bool) -> Option<Diagnostic> {
    let is_filled = evolves && field.has_source();
    let is_missing = field.must_have_value() && when_absent(field).is_none() && !is_filled;
    is_missing.then(|| {
        Diagnostic::error(
            RULE.code,
            field.name_span,
            format!("existing items of {} have no `{}`", entity.name, field.name),
        )
        .label(if field.has_source() { "its default only applies to new items" } else { "new and required" })
        .help(format!(
            "give it a constant default, make it optional, or add `evolve {} {{ set {} = … }}`",
            entity.name, field.name
        ))
    })
}

fn narrowed(entity: &Entity, before: &Field, now: &Field) -> Option<Diagnostic> {
    let what = if before.optional && now.must_have_value() && when_absent(now).is_none() {
        Some("was optional, so items may lack it".to_owned())
    } else {
        loss(before.kind.resolved(), now.kind.resolved())
    }?;
    Some(
        Diagnostic::error(
            RULE.code,
            now.type_span,
            format!("existing values of `{}` of {} may not fit its new type", now.name, entity.name),
        )
        .label(what)
        .help(format!(
            "widen the type, or convert the old values: `evolve {} {{ set {} = … }}`",
            entity.name, now.name
        )),
    )
}

/// Returns a description of the values that the old type allowed and the new one rejects.
fn loss(before: &Type, now: &Type) -> Option<String> {
    match (before, now) {
        (Type::Unknown, _) | (_, Type::Unknown | Type::Json) => None,
        (Type::OneOf(old), Type::OneOf(new)) => {
            let gone = old.iter().find(|value| !new.contains(value))?;
            Some(format!("\"{gone}\" is no longer one of the values"))
        }
        (Type::OneOf(_), now) if now.free_text().is_some() => None,
        (Type::Scalar(a, x), Type::Scalar(b, y)) if a == b || a.widened() == Some(*b) => tighter(*x, *y),
        (Type::List(a, x), Type::List(b, y))
        | (Type::Map(a, x), Type::Map(b, y))
        | (Type::Set(a, x), Type::Set(b, y)) => loss(a.resolved(), b.resolved()).or_else(|| tighter(*x, *y)),
        (before, now) => (!before.is_same_kind(now)).then(|| "the type has changed".to_owned()),
    }
}

fn tighter(before: Bounds, now: Bounds) -> Option<String> {
    let least = now.min.filter(|&now| before.min.unwrap_or(i64::MIN) < now && now > 0);
    let most = now.max.filter(|&now| before.max.unwrap_or(i64::MAX) > now);
    match (least, most) {
        (_, Some(most)) => Some(format!("now at most {most}")),
        (Some(least), None) => Some(format!("now at least {least}")),
        (None, None) => None,
    }
}

fn tag(old: &Entity, new: &Entity) -> Option<Diagnostic> {
    (old.tag != new.tag).then(|| {
        Diagnostic::error(
            RULE.code,
            new.name_span,
            format!("existing items of {} have the tag \"{}\" and are no longer recognised", new.name, old.tag),
        )
        .label(format!("now \"{}\"", new.tag))
        .help(format!("keep the tag: `tag \"{}\"`", old.tag))
    })
}
