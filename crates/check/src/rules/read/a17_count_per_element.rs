//! A17: a read counts items of a parent, and another read lists such parents.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Number;
use keyform_language::plan::{self, ReadPlan, RequestKind};
use keyform_language::schema::{Action, ChangeKind, Entity, EntityId, Model, Read, Result as ReadResult, Test, Type};

pub(super) static RULE: Rule = Rule {
    code: Code("A17"),
    severity: Severity::Warning,
    title: "a read counts once for each element of a list",
    page: include_str!("../../../../../docs/rules/A17.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, plan) in context.plans.planned(context.model) {
        if !plan.count || plan.request != RequestKind::Query || is_part_of_them(read) {
            continue;
        }
        let counted = context.model.entity(plan.returns[0]);
        let Some(parent) = parent(counted, plan) else { continue };
        let Some(list) = list_of(context, parent) else { continue };
        if !has_counter(context.model, parent, plan.returns[0]) {
            findings.push(finding(context.model, read, counted, parent, list));
        }
    }
}

/// Returns whether a range or a filter restricts the count. A stored counter could not replace it.
fn is_part_of_them(read: &Read) -> bool {
    read.filter.is_some() || read.key.is_some() || read.parameters.iter().any(|parameter| parameter.test != Test::Equal)
}

/// Returns the parent of the counted items: the target of the last `ref` that the read specifies.
fn parent(counted: &Entity, plan: &ReadPlan) -> Option<EntityId> {
    let fixed = plan::fixed_fields(counted, plan);
    fixed.into_iter().rev().find_map(|field| match counted.field(field).kind {
        Type::Ref { entity, .. } => entity,
        _ => None,
    })
}

/// Returns a read that lists such parents, or items that refer to different ones. A screen would show a count next to
/// each.
fn list_of<'a>(context: &Context<'a>, parent: EntityId) -> Option<&'a Read> {
    let model = context.model;
    context.plans.planned(model).find_map(|(read, plan)| {
        let ReadResult::Parts(parts) = &read.result else { return None };
        let many = |entity: EntityId| {
            let refers =
                |field: &keyform_language::schema::Field| matches!(field.kind, Type::Ref { entity, .. } if entity == Some(parent));
            entity == parent || plans_vary(model.entity(entity), plan, &refers)
        };
        parts.iter().any(|(entity, number, _)| *number == Number::Many && entity.is_some_and(many)).then_some(read)
    })
}

/// Returns whether listed items can refer to different parents: the `ref` is part of the key, and the read does not
/// specify it.
fn plans_vary(entity: &Entity, plan: &ReadPlan, refers: &dyn Fn(&keyform_language::schema::Field) -> bool) -> bool {
    let fixed = plan::fixed_fields(entity, plan);
    let key = entity.key_fields();
    key.iter().any(|field| !fixed.contains(field) && refers(entity.field(*field)))
}

/// Returns whether a write with an action on the counted entity also increments or decrements a field of its parent.
fn has_counter(model: &Model, parent: EntityId, counted: EntityId) -> bool {
    model.writes.iter().any(|write| {
        let actions = write.actions();
        let about = |entity: EntityId| actions.iter().any(|action| action.entity == Some(entity));
        let counts = actions.iter().any(|action| action.entity == Some(parent) && changes_number(action));
        about(counted) && counts
    })
}

fn changes_number(action: &Action) -> bool {
    action.changes.iter().any(|change| matches!(change.kind, ChangeKind::Increase(_) | ChangeKind::Decrease(_)))
}

fn finding(model: &Model, read: &Read, counted: &Entity, parent: EntityId, list: &Read) -> Diagnostic {
    let parent = model.entity(parent);
    let span = match &read.result {
        ReadResult::Count(_, span) => *span,
        ReadResult::Parts(_) => read.name_span,
    };
    Diagnostic::warning(
        RULE.code,
        span,
        format!("`{}` reads every {} of a {} to count them", read.name, counted.name, parent.name),
    )
    .label("one Query for each number shown")
    .also(list.name_span, format!("a page of this would need one for each {}", parent.name))
    .help(format!(
        "keep the count in {}: `{}s: int = 0`, updated by the transactions that create and delete what it counts",
        parent.name,
        counted.name.to_lowercase()
    ))
}
