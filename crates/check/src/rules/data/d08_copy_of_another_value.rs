//! D08: a `copy` gets a value that is not the field it copies.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{
    Action, Change, ChangeKind, EntityId, Expr, ExprKind, Field, FieldId, LetSource, Origin, Type, ValuePath,
};

use super::site::{Site, sites};

pub(super) static RULE: Rule = Rule {
    code: Code("D08"),
    severity: Severity::Error,
    title: "a copy gets another value than its source",
    page: include_str!("../../../../../docs/rules/D08.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for site in sites(context) {
        for (change, _, field) in site.changes() {
            let Type::Copy { entity: Some(entity), field: Some(source), .. } = &field.kind else { continue };
            if let Some(wrong) = wrong(&site, change, (*entity, *source)) {
                findings.push(finding(&site, change, field, (*entity, *source), wrong));
            }
        }
    }
}

/// A value that is not the copied field.
enum Wrong {
    /// Any other value.
    Value,
    /// The field of another item than the one that the `ref` names.
    Item(FieldId),
}

fn wrong<'a>(site: &Site<'a>, change: &'a Change, source: (EntityId, FieldId)) -> Option<Wrong> {
    let ChangeKind::Set(value) = &change.kind else {
        return (!matches!(change.kind, ChangeKind::Remove)).then_some(Wrong::Value);
    };
    let place = match &value.kind {
        ExprKind::None | ExprKind::Unknown => return None,
        _ if is_verified(site, value, source) => return None,
        ExprKind::ValuePath(place) => place,
        _ => return Some(Wrong::Value),
    };
    match site.stored(place) {
        Some((entity, field, [])) if (entity, field) == source => {
            is_of_other_item(site, place, source.0).map(Wrong::Item)
        }
        _ => Some(Wrong::Value),
    }
}

/// Returns true if the same write requires that the source has the value, as in `if title = line.title`, or gives it to
/// the source.
fn is_verified(site: &Site<'_>, value: &Expr, (entity, source): (EntityId, FieldId)) -> bool {
    let is_source = |expr: &Expr| {
        matches!(&expr.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Field(of, field), path })
            if (*of, *field) == (entity, source) && path.is_empty())
    };
    let reference =
        reference(site, entity).and_then(|field| site.action.value_of(field).or_else(|| key_value(site, field)));
    let is_same_item =
        |action: &Action| reference.is_none_or(|reference| action.keys.iter().any(|(_, key)| key.same(reference)));
    let actions = site.write.actions();
    let mut of_source = actions.iter().filter(|action| action.entity == Some(entity) && is_same_item(action));
    of_source.any(|action| {
        let gives = action.value_of(source).is_some_and(|given| given.same(value));
        gives
            || action.conditions.iter().any(|condition| {
                conjuncts(&condition.condition)
                    .into_iter()
                    .any(|(left, right)| is_source(left) && right.same(value) || is_source(right) && left.same(value))
            })
    })
}

/// Returns the equalities that a condition requires.
fn conjuncts(expr: &Expr) -> Vec<(&Expr, &Expr)> {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => {
            [left, right].into_iter().flat_map(|side| conjuncts(side)).collect()
        }
        ExprKind::Binary(BinaryOp::Equal, left, right) => vec![(left, right)],
        _ => Vec::new(),
    }
}

/// Returns the only `ref` to an entity.
fn reference(site: &Site<'_>, target: EntityId) -> Option<FieldId> {
    let is_ref = |field: &Field| matches!(&field.kind, Type::Ref { entity: Some(entity), .. } if *entity == target);
    let mut refs = site.entity.fields.iter().enumerate().filter(|(_, field)| is_ref(field));
    match (refs.next(), refs.next()) {
        (Some((number, _)), None) => Some(FieldId(number)),
        _ => None,
    }
}

/// Returns the `ref` to the copied entity, if the step sets it to something else than the item that is copied from.
fn is_of_other_item(site: &Site<'_>, place: &ValuePath, target: EntityId) -> Option<FieldId> {
    let Origin::Let { number, .. } = &place.origin else { return None };
    let field = reference(site, target)?;
    let named = site.action.value_of(field).or_else(|| key_value(site, field))?;
    let LetSource::Read { arguments, .. } = &site.write.lets.get(*number)?.source else { return None };
    let is_from = |expr: &Expr| matches!(&expr.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Let { number: of, .. }, .. }) if of == number);
    let is_same = is_from(named) || arguments.iter().any(|argument| argument.same(named));
    (!is_same).then_some(field)
}

fn key_value<'a>(site: &Site<'a>, field: FieldId) -> Option<&'a Expr> {
    site.action.keys.iter().find(|(key, _)| *key == field).map(|(_, value)| value)
}

fn finding(
    site: &Site<'_>,
    change: &Change,
    field: &Field,
    (entity, source): (EntityId, FieldId),
    wrong: Wrong,
) -> Diagnostic {
    let entity = site.model.entity(entity);
    let source = entity.field(source);
    let copied = format!("{}.{}", entity.name, source.name);
    let message =
        format!("`{}` sets `{}` of {} to another value than `{copied}`", site.write.name, field.name, site.entity.name);
    let finding = Diagnostic::error(RULE.code, change.span, message).also(field.type_span, "a copy");
    let name = entity.name.to_lowercase();
    match wrong {
        Wrong::Value => finding.help(format!(
            "read the {} first (`let {name} = …`) and set `{} = {name}.{}`, or give the field a type of its own",
            entity.name, field.name, source.name
        )),
        Wrong::Item(reference) => finding
            .label(format!(
                "of another {} than the one that `{}` names",
                entity.name,
                site.entity.field(reference).name
            ))
            .help(format!("copy from the {} that `{}` names", entity.name, site.entity.field(reference).name)),
    }
}
