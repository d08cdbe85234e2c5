//! K19: the key does not tell the items of an entity apart.
//!
//! A key identifies its items by an id, by a natural name such as an e-mail address, or by a moment. A day or an hour is
//! none of these: the second item of a day has the key of the first. That is intended where one item counts for the
//! whole day. It is not if items have an id of their own that the key lacks, or refer to something the key lacks and
//! record when they were created.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Number;
use keyform_language::plan::RequestKind;
use keyform_language::scalar::Resolution;
use keyform_language::schema::{
    Entity, EntityId, Expr, ExprKind, Field, FieldId, Format, Part, Result as ReadResult, Type,
};

use super::{Keyed, keys, naming};
use crate::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("K19"),
    severity: Severity::Warning,
    title: "different items have the same key",
    page: include_str!("../../../../../docs/rules/K19.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let listed = listed(context);
    for keyed in keys(context.model).filter(|keyed| keyed.key.index.is_none() && keyed.entity.has_whole_key()) {
        if keyed.entity.fields.iter().any(|field| field.flags.id.is_some()) || names_items(keyed) {
            continue;
        }
        match period(keyed) {
            Some((field, period)) => findings.extend(
                missing_id(keyed)
                    .or_else(|| missing_ref(keyed, field))
                    .map(|missing| by_period(keyed, missing, period)),
            ),
            None if listed[keyed.id.0] => findings.extend(missing_id(keyed).map(|missing| single(keyed, missing))),
            None => {}
        }
    }
}

/// Returns for each entity whether a read returns a list of its items although the key condition matches at most one.
fn listed(context: &Context<'_>) -> Vec<bool> {
    let mut listed = vec![false; context.model.entities.len()];
    for (read, plan) in context.plans.planned(context.model) {
        let is_list = |(_, number, _): &&(Option<EntityId>, Number, _)| *number == Number::Many;
        if let ReadResult::Parts(parts) = &read.result
            && plan.unique
            && plan.index.is_none()
            && plan.request != RequestKind::BatchGet
        {
            parts.iter().filter(is_list).filter_map(|(id, _, _)| *id).for_each(|id| listed[id.0] = true);
        }
    }
    listed
}

/// Returns true if a key field names items by itself: an id of the entity, a natural name, a number, a precise moment.
fn names_items(keyed: Keyed<'_>) -> bool {
    keyed.parts().flat_map(|part| &part.template.parts).any(|part| match part {
        Part::Field { field, format, .. } => {
            let of = keyed.entity.field(*field);
            !refers(of) && !is_period(of, *format) && !is_kind(of) && !is_other_id(keyed.entity, of)
        }
        Part::Text(_) | Part::Unknown { .. } => false,
    })
}

fn refers(field: &Field) -> bool {
    matches!(field.kind, Type::Ref { .. } | Type::Copy { .. })
}

fn is_kind(field: &Field) -> bool {
    field.kind.is_bool() || matches!(field.kind.resolved(), Type::OneOf(_))
}

/// Returns true for an id that is not generated here, such as `userId: ulid` or `tenantId: slug`: it identifies an item of another entity,
/// unless it has the name of this one.
fn is_other_id(entity: &Entity, field: &Field) -> bool {
    let is_id = field.kind.scalar().is_some_and(|(scalar, _)| scalar.has_one_case()) && !field.kind.is_time();
    let is_named = || naming::words(&field.name).last().is_some_and(|word| word == "id");
    (is_id || is_named()) && !field.is_generated() && !is_own_name(entity, field)
}

/// Returns true for the name of an entity's own id: `noteId` or `id` of Note.
fn is_own_name(entity: &Entity, field: &Field) -> bool {
    let (words, own) = (naming::words(&field.name), naming::words(&entity.name));
    let is_id = words.last().is_some_and(|word| word == "id");
    let before = words.get(..words.len().saturating_sub(1)).unwrap_or_default();
    is_id && (before.is_empty() || own.ends_with(before))
}

/// Returns true if the key holds only a period of the time: many items can share it.
fn is_period(field: &Field, format: Format) -> bool {
    let is_date = field.kind.time().is_some_and(|time| time.resolution == Resolution::Days);
    is_date || matches!(format, Format::Day | Format::Hour | Format::Month)
}

fn period(keyed: Keyed<'_>) -> Option<(FieldId, &'static str)> {
    keyed.parts().flat_map(|part| &part.template.parts).find_map(|part| match part {
        Part::Field { field, format, .. } if is_period(keyed.entity.field(*field), *format) => {
            let word = match format {
                Format::Hour => "hour",
                Format::Month => "month",
                _ => "day",
            };
            Some((*field, word))
        }
        Part::Field { .. } | Part::Text(_) | Part::Unknown { .. } => None,
    })
}

/// Returns the generated id of the items that the key lacks.
fn missing_id(keyed: Keyed<'_>) -> Option<&Field> {
    let in_key = keyed.entity.key_fields();
    let fields = keyed.entity.fields.iter().enumerate();
    let mut own = fields.filter(|(id, field)| {
        field.is_generated()
            && !field.optional
            && field.flags.unique.is_none()
            && !in_key.contains(&FieldId(*id))
            && is_own_name(keyed.entity, field)
    });
    own.next().map(|(_, field)| field)
}

/// Returns a reference that the key lacks, if the time in the key is that of the item's creation.
fn missing_ref(keyed: Keyed<'_>, time: FieldId) -> Option<&Field> {
    if !is_creation(keyed.entity.field(time)) {
        return None;
    }
    let in_key = keyed.entity.key_fields();
    let mut refs = keyed.entity.fields.iter().enumerate().filter(|(id, field)| {
        matches!(field.kind, Type::Ref { .. }) && !field.optional && !in_key.contains(&FieldId(*id))
    });
    refs.next().map(|(_, field)| field)
}

/// Returns true if the field has the time at which its item is written.
fn is_creation(field: &Field) -> bool {
    let is_now = |expr: &Expr| matches!(&expr.kind, ExprKind::Call { function, .. } if matches!(function.as_str(), "now" | "today"));
    field.flags.created.is_some() || field.default.as_ref().is_some_and(is_now)
}

fn by_period(keyed: Keyed<'_>, missing: &Field, period: &str) -> Diagnostic {
    let message = format!("two items of {} from the same {period} have the same key", keyed.entity.name);
    finding(keyed, missing, message)
}

fn single(keyed: Keyed<'_>, missing: &Field) -> Diagnostic {
    let message = format!("items of {} that differ only in `{}` have the same key", keyed.entity.name, missing.name);
    finding(keyed, missing, message)
}

fn finding(keyed: Keyed<'_>, missing: &Field, message: String) -> Diagnostic {
    let last = keyed.key.sort.last().or(keyed.key.partition.last());
    let place = last.map_or(keyed.entity.name_span, |part| keyed.span_of(part));
    let text = last.map(|part| show::template(keyed.entity, &part.template)).unwrap_or_default();
    Diagnostic::warning(RULE.code, place, message)
        .label("the second one is refused or replaces the first")
        .also(missing.name_span, "distinguishes items and is not in the key")
        .help(format!("add it to the key: `{text}#{{{}}}`", missing.name))
}
