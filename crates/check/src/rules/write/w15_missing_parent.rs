//! W15: a write creates an item in a parent's partition without checking that the parent exists.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{
    Action, Entity, EntityId, ExprKind, Field, FieldId, Model, Origin, Part, Template, Type, ValuePath, Write,
};

pub(super) static RULE: Rule = Rule {
    code: Code("W15"),
    severity: Severity::Warning,
    title: "a create does not check that its parent exists",
    page: include_str!("../../../../../docs/rules/W15.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    for write in &model.writes {
        for action in write.actions() {
            let Some(child) = action.entity.filter(|_| makes(action)) else { continue };
            for (field, parent) in parents(model, child) {
                if !is_held(model, write, action, field, parent) {
                    findings.push(finding(write, action, model.entity(child), field, model.entity(parent)));
                }
            }
        }
    }
}

fn makes(action: &Action) -> bool {
    matches!(action.verb, Verb::Create | Verb::Put | Verb::Upsert)
}

/// Returns the entities whose partitions contain the items of an entity, each with the `ref` to it.
pub(super) fn parents(model: &Model, child: EntityId) -> Vec<(FieldId, EntityId)> {
    let entity = model.entity(child);
    let refers = |field: FieldId| match entity.field(field) {
        Field { kind: Type::Ref { entity: Some(parent), .. }, flags, .. } if flags.keep.is_none() => {
            Some((field, *parent))
        }
        _ => None,
    };
    let fields = partition(entity).into_iter().flat_map(Template::fields);
    fields.filter_map(refers).filter(|(_, parent)| share_a_partition(entity, model.entity(*parent))).collect()
}

fn partition(entity: &Entity) -> Vec<&Template> {
    entity.key.iter().flat_map(|key| &key.partition).map(|part| &part.template).collect()
}

/// Returns whether items of both can be in one partition: their templates have the same literals around the same number
/// of fields.
fn share_a_partition(one: &Entity, other: &Entity) -> bool {
    let (left, right) = (partition(one), partition(other));
    one.table.is_some()
        && one.table == other.table
        && left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| are_of_one_form(left, right))
}

fn are_of_one_form(one: &Template, other: &Template) -> bool {
    let alike = |(one, other): (&Part, &Part)| match (one, other) {
        (Part::Text(one), Part::Text(other)) => one == other,
        (Part::Field { format: one, .. }, Part::Field { format: other, .. }) => one == other,
        _ => false,
    };
    one.parts.len() == other.parts.len() && one.parts.iter().zip(&other.parts).all(alike)
}

/// Returns whether the parent is known to exist: it is the caller, whose token proves it, or the same request creates
/// it, or updates or checks an item in its partition.
fn is_held(model: &Model, write: &Write, action: &Action, field: FieldId, parent: EntityId) -> bool {
    let proves = |other: &&Action| {
        let makes_parent = other.entity == Some(parent) && makes(other);
        let needs_item = matches!(other.verb, Verb::Update | Verb::Check);
        let near = other.entity.is_some_and(|id| share_a_partition(model.entity(id), model.entity(parent)));
        makes_parent || needs_item && near
    };
    is_callers(action, field) || write.actions().iter().any(proves)
}

fn is_callers(action: &Action, field: FieldId) -> bool {
    let value = action.keys.iter().find(|(key, _)| *key == field).map(|(_, value)| value);
    let value = value.or_else(|| action.value_of(field));
    value.is_some_and(|value| matches!(value.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Caller(_), .. })))
}

fn finding(write: &Write, action: &Action, child: &Entity, field: FieldId, parent: &Entity) -> Diagnostic {
    let (child_name, parent_name) = (&child.name, &parent.name);
    Diagnostic::warning(
        RULE.code,
        action.entity_span,
        format!("`{}` creates a {child_name} without checking that its {parent_name} exists", write.name),
    )
    .label(format!("nothing checks the {parent_name}"))
    .also(child.field(field).name_span, format!("refers to the {parent_name}"))
    .note("If the parent is deleted concurrently, the new item is orphaned: no read lists it.")
    .help(format!(
        "add `check {parent_name}(…) exists else …` to the same request, or `keep` to the `ref` if the parent may be \
        missing"
    ))
}
