//! W30: `unique per` the id of the item itself compares each item only with itself.

use crate::check::{Context, Rule};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::schema::{Entity, EntityId, Field, FieldId, Model, Type};
use crate::scope::Domains;

pub(super) static RULE: Rule = Rule {
    code: Code("W30"),
    severity: Severity::Warning,
    title: "a value is unique only within its own item",
    page: include_str!("../../../../../../docs/rules/W30.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    let domains = Domains::of(model);
    for id in model.entity_ids() {
        let entity = model.entity(id);
        for field in entity.fields.iter().filter(|field| field.flags.unique.is_some()) {
            let per = field.flags.unique.as_ref().map_or(&[][..], |unique| &unique.per);
            let own = per.iter().find(|of| identifies(model, &domains, id, **of, field));
            let whole = || per.last().filter(|_| has_whole_key(entity, per));
            findings.extend(own.or_else(whole).map(|of| finding(entity, field, *of)));
        }
    }
}

/// Returns whether the fields within which a value is unique are the whole key, so that one item has them.
fn has_whole_key(entity: &Entity, per: &[FieldId]) -> bool {
    let keys = entity.key_fields();
    !keys.is_empty() && keys.iter().all(|key| per.contains(key))
}

/// Returns whether one item at most has a value of `of`: the id that names the item.
///
/// A key field that is not generated may also name something with several items, such as a user who is a member of
/// several organisations. A time or a number can be unique within those; a name or an address is not.
fn identifies(model: &Model, domains: &Domains<'_>, id: EntityId, of: FieldId, unique: &Field) -> bool {
    let entity = model.entity(id);
    let is_unique = entity.field(of).flags.unique.as_ref().is_some_and(|unique| unique.per.is_empty());
    if is_unique || domains.is_own_id(id, of) || entity.field(of).flags.id.is_some() {
        return true;
    }
    let is_last = entity.id_field() == Some(of) && !is_link(entity.field(of)) && !is_named_elsewhere(model, id, of);
    is_last && (is_target(model, id) || unique.kind.is_text() && !unique.kind.is_time())
}

fn is_link(field: &Field) -> bool {
    matches!(field.kind, Type::Ref { .. } | Type::Copy { .. })
}

/// Returns whether another entity is known by an id of this name.
fn is_named_elsewhere(model: &Model, id: EntityId, of: FieldId) -> bool {
    let name = &model.entity(id).field(of).name;
    model.entity_ids().filter(|other| *other != id).any(|other| {
        let entity = model.entity(other);
        entity.id_field().is_some_and(|own| entity.field(own).name == *name && !is_link(entity.field(own)))
    })
}

/// Returns whether a `ref` names the entity.
fn is_target(model: &Model, id: EntityId) -> bool {
    let mut fields = model.entity_ids().flat_map(|other| &model.entity(other).fields);
    fields.any(|field| matches!(field.kind, Type::Ref { entity: Some(target), .. } if target == id))
}

fn finding(entity: &Entity, field: &Field, of: FieldId) -> Diagnostic {
    let own = &entity.field(of).name;
    let scope = entity.key_fields().into_iter().find(|key| *key != of).map(|key| &entity.field(key).name);
    let span = field.flags.unique.as_ref().map_or(field.name_span, |unique| unique.span);
    let help = match scope {
        Some(scope) => {
            format!("write `unique per {scope}`, or `unique` if no two items of the table may share a value")
        }
        None => "write `unique`, or remove the flag".to_owned(),
    };
    Diagnostic::warning(
        RULE.code,
        span,
        format!("every {} may have the same `{}`: `{own}` identifies the item itself", entity.name, field.name),
    )
    .label(format!("two items never share a `{own}`"))
    .also(entity.field(of).name_span, "the item's own id")
    .help(help)
}
