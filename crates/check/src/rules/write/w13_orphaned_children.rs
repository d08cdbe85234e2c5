//! W13: a delete leaves items behind that refer to the deleted item.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Entity, EntityId, Field, Type, Write};

use crate::rules::show::listed;

pub(super) static RULE: Rule = Rule {
    code: Code("W13"),
    severity: Severity::Warning,
    title: "a delete does not decide about the children",
    page: include_str!("../../../../../docs/rules/W13.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in &context.model.writes {
        for action in write.actions() {
            let Some(parent) = action.entity.filter(|_| action.verb == Verb::Delete) else { continue };
            let children = children(context, write, parent);
            if !children.is_empty() {
                findings.push(finding(context.model.entity(parent), action, &children));
            }
        }
    }
}

/// Returns the entities that refer to the parent, do not specify what happens on delete, and are not deleted by the
/// same write.
fn children<'a>(context: &Context<'a>, write: &Write, parent: EntityId) -> Vec<(&'a Entity, &'a Field)> {
    let deleted =
        |id: EntityId| write.actions().iter().any(|action| action.entity == Some(id) && action.verb == Verb::Delete);
    let entities =
        context.model.entity_ids().filter(|&id| id != parent && !deleted(id)).map(|id| context.model.entity(id));
    entities
        .filter_map(|entity| {
            entity.fields.iter().find(|field| is_silent_child(field, parent)).map(|field| (entity, field))
        })
        .collect()
}

fn is_silent_child(field: &Field, parent: EntityId) -> bool {
    let refers = matches!(field.kind, Type::Ref { entity: Some(target), .. } if target == parent);
    refers && field.flags.cascade.is_none() && field.flags.restrict.is_none() && field.flags.keep.is_none()
}

fn finding(parent: &Entity, action: &Action, children: &[(&Entity, &Field)]) -> Diagnostic {
    let names: Vec<&str> = children.iter().map(|(entity, _)| entity.name.as_str()).collect();
    let message = format!("deleting a {} leaves its {} behind", parent.name, listed(names.iter().copied()));
    let mut finding = Diagnostic::warning(RULE.code, action.entity_span, message).label("deletes only this item");
    for (entity, field) in children {
        finding = finding.also(field.name_span, format!("{} refers to it", entity.name));
    }
    finding.help(
        "choose at each `ref`: `cascade` deletes them too, `restrict` rejects the delete while there are \
        any, `keep` leaves them",
    )
}
