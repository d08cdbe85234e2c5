//! M03: existing items do not conform to the new model.

use std::collections::HashSet;

use crate::check::{Context, Rule};
use keyform_language::bind::when_absent;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Bounds;
use keyform_language::plan::{Filter, ReadOutcome};
use keyform_language::scalar::Counted;
use keyform_language::schema::{Entity, EntityId, Evolution, Field, FieldId, Type};

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
        findings.extend(tag(context, old, new).or_else(|| untagged(context, old, new)));
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
    let what = lack(before, now).or_else(|| loss(before.kind.resolved(), now.kind.resolved()))?;
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

/// Returns why items may lack a field that must have a value now.
fn lack(before: &Field, now: &Field) -> Option<String> {
    let may_lack = now.must_have_value() && when_absent(now).is_none();
    if !may_lack {
        None
    } else if before.optional {
        Some("was optional, so items may lack it".to_owned())
    } else {
        before.null.then(|| "was nullable, so items may have no value".to_owned())
    }
}

/// Returns a description of the values that the old type allowed and the new one rejects.
fn loss(before: &Type, now: &Type) -> Option<String> {
    match (before, now) {
        (Type::Unknown, _) | (_, Type::Unknown | Type::Json) => None,
        (Type::OneOf(old), Type::OneOf(new)) => {
            let new: HashSet<&str> = new.iter().map(String::as_str).collect();
            let gone = old.iter().find(|value| !new.contains(value.as_str()))?;
            Some(format!("\"{gone}\" is no longer one of the values"))
        }
        (Type::OneOf(old), now) if now.free_text().is_some() => too_long(old, now),
        (Type::Scalar(a, x), Type::Scalar(b, y)) if a == b || a.widened() == Some(*b) => {
            let least = if a.counted() == Some(Counted::Value) { i64::MIN } else { 0 };
            tighter(*x, *y, least)
        }
        (Type::List(a, x), Type::List(b, y))
        | (Type::Map(a, x), Type::Map(b, y))
        | (Type::Set(a, x), Type::Set(b, y)) => loss(a.resolved(), b.resolved()).or_else(|| tighter(*x, *y, 0)),
        (Type::Record(old), Type::Record(new)) => new.iter().find_map(|now| inside(old, now)),
        (before, now) => (!before.is_same_kind(now)).then(|| "the type has changed".to_owned()),
    }
}

/// Returns why existing records do not fit a field of their new form.
fn inside(old: &[Field], now: &Field) -> Option<String> {
    let what = match old.iter().find(|before| before.name == now.name) {
        None => (now.must_have_value() && when_absent(now).is_none()).then(|| "is new and required".to_owned()),
        Some(before) => lack(before, now).or_else(|| loss(before.kind.resolved(), now.kind.resolved())),
    };
    what.map(|what| format!("`{}` in it: {what}", now.name))
}

/// Returns the value of an enumeration that is outside the bounds of a text.
fn too_long(old: &[String], now: &Type) -> Option<String> {
    let bounds = now.free_text()?;
    let outside = old.iter().find(|value| !bounds.allow(value.chars().count()))?;
    Some(format!("\"{outside}\" is not within {bounds}"))
}

/// Returns which bound is tighter. `least` is the lower bound that holds without one.
fn tighter(before: Bounds, now: Bounds, least: i64) -> Option<String> {
    let least = now.min.filter(|&now| before.min.unwrap_or(least) < now);
    let most = now.max.filter(|&now| before.max.unwrap_or(i64::MAX) > now);
    match (least, most) {
        (_, Some(most)) => Some(format!("now at most {most}")),
        (Some(least), None) => Some(format!("now at least {least}")),
        (None, None) => None,
    }
}

/// Reports an entity whose items have another value in the tag attribute: every read takes them for other items.
fn tag(context: &Context<'_>, old: &Entity, new: &Entity) -> Option<Diagnostic> {
    let (then, now) = tags(context, old, new)?;
    (then == Some(now) && old.tag != new.tag).then(|| {
        let renamed = if old.name == new.name { String::new() } else { format!(", from {},", old.name) };
        Diagnostic::error(
            RULE.code,
            new.name_span,
            format!(
                "existing items of {}{renamed} have the tag \"{}\" and are no longer recognised",
                new.name, old.tag
            ),
        )
        .label(format!("now \"{}\"", new.tag))
        .help(format!("keep the tag: `tag \"{}\"`", old.tag))
    })
}

/// Reports an entity whose items lack the tag attribute that a read filters by.
fn untagged(context: &Context<'_>, old: &Entity, new: &Entity) -> Option<Diagnostic> {
    let (then, now) = tags(context, old, new)?;
    if then == Some(now) || evolution(context, new).is_some() || !is_filtered(context, new) {
        return None;
    }
    let message = format!("existing items of {} have no tag in `{now}`, and a read filters by it", new.name);
    let label = then.map_or("had no tag".to_owned(), |then| format!("had its tag in `{then}`"));
    let help =
        format!("keep the attribute of the tag, or add `evolve {} {{ }}`: the migration writes the tag", new.name);
    Some(Diagnostic::error(RULE.code, new.name_span, message).label(label).help(help))
}

/// Returns the tag attributes of the tables of an entity, before and now; `None` without a tag now.
fn tags<'a>(context: &Context<'a>, old: &Entity, new: &Entity) -> Option<(Option<&'a str>, &'a str)> {
    let (before, now) = (context.before?.table(old.table?), context.model.table(new.table?));
    Some((before.tag.as_ref().map(|tag| tag.value.as_str()), now.tag.as_ref()?.value.as_str()))
}

/// Returns whether a read finds the items of an entity only by their tag.
fn is_filtered(context: &Context<'_>, entity: &Entity) -> bool {
    let is_it = |id: &EntityId| context.model.entity(*id).name == entity.name;
    context.plans.reads.iter().any(|outcome| match outcome {
        ReadOutcome::Planned(plan) => {
            let mut filters = plan.filters.iter();
            filters.any(|filter| matches!(filter, Filter::Tag(entities) if entities.iter().any(is_it)))
        }
        ReadOutcome::Blocked(_) | ReadOutcome::Broken => false,
    })
}
